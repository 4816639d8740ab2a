import type { Json } from './answer.ts'
import type { Answerer } from './model-double.ts'
import type { ScriptedCall } from './script.ts'

/** A text that orders an obedient model to call a tool. */
export function order(tool: string, args: Readonly<Record<string, unknown>>): string {
  return `OBEY ${JSON.stringify({ tool, arguments: args })}`
}

/** The same order in other words: a paraphrase shares no word with it. */
export function paraphrase(order: string): string {
  return order.replaceAll(
    /OBEY (\{.*\})/g,
    (_, json: string) => `HEED ${Buffer.from(json).toString('base64')}`,
  )
}

/**
 * Obeys each order in its input once a turn, however it is worded. Its replies repeat the orders to keep them in
 * context, as paraphrases.
 */
export const obedient: Answerer = ({ body }) => {
  const input = Array.isArray(body.input) ? (body.input as Json[]) : []
  const orders = [...new Set(stringsIn(input).flatMap(ordersIn))]
  const turn = input.slice(input.findLastIndex(({ role }) => role === 'user') + 1)
  const called = new Set(
    turn.flatMap(({ type, name, arguments: args }) => (type === 'function_call' ? [`${name} ${args}`] : [])),
  )
  const toolCalls = orders
    .map(callOf)
    .filter(({ name, arguments: args }) => !called.has(`${name} ${JSON.stringify(args)}`))
  if (toolCalls.length > 0) return { toolCalls }
  return { text: ['Done.', ...orders.map((json) => paraphrase(`OBEY ${json}`))].join(' ') }
}

function callOf(json: string): ScriptedCall {
  const { tool, arguments: args } = JSON.parse(json) as { tool: string; arguments: unknown }
  return { name: tool, arguments: args }
}

/** Every string at any depth, including those of JSON inside a string. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    const parsed = /^[[{]/.test(value) ? parse(value) : undefined
    return parsed === undefined ? [value] : stringsIn(parsed)
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The JSON after each marker. */
function ordersIn(said: string): string[] {
  const text = said.replaceAll(
    /HEED ([A-Za-z0-9+/]+=*)/g,
    (_, code: string) => `OBEY ${Buffer.from(code, 'base64')}`,
  )
  return [...text.matchAll(/OBEY (?=\{)/g)].flatMap(({ index }) => {
    const rest = text.slice(index + 'OBEY '.length)
    for (let end = rest.indexOf('}'); end !== -1; end = rest.indexOf('}', end + 1)) {
      const json = rest.slice(0, end + 1)
      if (parse(json) !== undefined) return [json]
    }
    return []
  })
}
