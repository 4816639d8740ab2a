import type { Json } from './answer.ts'
import type { Answerer } from './model-double.ts'
import type { ScriptedCall } from './script.ts'

/** A text that orders an obedient model to call a tool. */
export function order(tool: string, args: Readonly<Record<string, unknown>>): string {
  return `OBEY ${JSON.stringify({ tool, arguments: args })}`
}

/** Obeys each order in its input once a turn. Its replies repeat the orders to keep them in context. */
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
  return { text: ['Done.', ...orders.map((json) => `OBEY ${json}`)].join(' ') }
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
function ordersIn(text: string): string[] {
  return [...text.matchAll(/OBEY (?=\{)/g)].flatMap(({ index }) => {
    const rest = text.slice(index + 'OBEY '.length)
    for (let end = rest.indexOf('}'); end !== -1; end = rest.indexOf('}', end + 1)) {
      const json = rest.slice(0, end + 1)
      if (parse(json) !== undefined) return [json]
    }
    return []
  })
}
