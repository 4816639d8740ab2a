import * as z from 'zod'
import { summariseByRules } from '../../../src/agent/context/capsule.ts'
import { readPlainly } from '../../../src/memory/learn/patterns.ts'
import { createBuiltinModel } from '../../../src/model/builtin/builtin.ts'
import { answerOf, type InputItem, type ToolSpec } from '../../../src/model/port.ts'
import type { Answerer } from './model-double.ts'
import type { ScriptedCall } from './script.ts'

type Message = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | null
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[]
}
type FunctionTool = {
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: { readonly properties?: Readonly<Record<string, unknown>> }
  }
}

const BLOCK = /<data code="(\w+)" label="([^"]*)">\n([\s\S]*?)\n<\/data code="\1">/g

/** What a bilingual model makes of everyday words in other languages. */
const TRANSLATED: readonly (readonly [RegExp, string])[] = [
  [/^Merke dir, dass (.+)$/s, 'Remember that $1'],
  [/^Erinnere mich morgen um neun an (.+)$/s, 'Remind me tomorrow at 9 to $1'],
  [/^Rappelle-moi demain à dix heures d’(.+)$/s, 'Remind me tomorrow at 10 to $1'],
  [/^(?:Danke|Merci)\b.*$/s, 'Thanks'],
]

/**
 * Understands everyday sentences, by the rules of the builtin model, but from the request alone: its messages, and
 * the tools that it lists. It leaves out arguments that are null, and opens a tool before it calls it.
 */
export const everyday: Answerer = async ({ body }) => {
  const { input, ...present } = read(body.messages as Message[])
  const last = input.at(-1)
  if (last?.type === 'message' && last.text === 'Write the capsule now.')
    return { text: summary(input.slice(0, -1), Number(body.max_tokens)) }
  const listed = ((body.tools ?? []) as FunctionTool[]).map(({ function: tool }) => tool)
  const more = listed.find(({ name }) => name === 'more_tools')
  const closed: readonly string[] = more?.description.split(': ').at(-1)?.match(/\w+/g) ?? []
  const tools = [
    ...listed.map(({ name, parameters }) => specOf(name, Object.keys(parameters.properties ?? {}))),
    ...closed.map((name) => specOf(name, [])),
  ]
  const request = { instructions: '', input, tools, ...present }
  const { text, toolCalls } = await answerOf(
    createBuiltinModel().respond(request, AbortSignal.timeout(5_000)),
  )
  const names = toolCalls.flatMap(({ name }) => (closed.includes(name) ? [name] : []))
  if (names.length > 0) return { toolCalls: [{ name: 'more_tools', arguments: { names } }] }
  return { text, thoughts: 'The owner wants something everyday.', toolCalls: toolCalls.map(withoutNulls) }
}

/** Learns plain statements from the conversation in the request. */
export const everydayMemory: Answerer = ({ body }) => {
  const said = (body.messages as Message[]).map(({ content }) => content).join('\n')
  const blocks = [...said.matchAll(BLOCK)].map(([, , , text = '']) => JSON.parse(text))
  const { timezone, turns } = blocks.find((block) => 'turns' in block)
  const candidates = turns.flatMap(({ text, at, speaker, quotable }: Record<string, string>) =>
    speaker === 'owner' && quotable ? readPlainly(text ?? '', { at: at ?? '', timezone }) : [],
  )
  return { text: JSON.stringify({ candidates }) }
}

/** The items of the builtin model's input. */
function read(messages: readonly Message[]) {
  let present: Readonly<Record<string, string>> = {}
  const input = messages.flatMap(({ role, content, tool_calls = [], tool_call_id }): InputItem[] => {
    if (role === 'system') return []
    if (role === 'tool') return [{ type: 'tool_result', callId: tool_call_id ?? '', output: content ?? '' }]
    const calls = tool_calls.map(({ id, function: made }): InputItem => {
      return { type: 'tool_call', callId: id, ...made }
    })
    if (role === 'assistant')
      return [...(content ? [{ type: 'message', role: 'delegate', text: content } as const] : []), ...calls]
    const blocks = [...(content ?? '').matchAll(BLOCK)].flatMap(
      ([, , label = '', text = '']): InputItem[] => {
        present = /\((?<timezone>\S+); (?<now>\S+) in UTC\)/.exec(text)?.groups ?? present
        return label === 'time' ? [] : [{ type: 'inner', label, text }]
      },
    )
    const own = (content ?? '').replace(BLOCK, '').trim()
    return [
      ...blocks,
      ...(own === '' ? [] : [{ type: 'message', role: 'owner', text: inEnglish(own) } as const]),
    ]
  })
  const { now = '', timezone = 'UTC' } = present
  return { input, now, timezone }
}

function inEnglish(text: string): string {
  const [pattern, english] = TRANSLATED.find(([each]) => each.test(text)) ?? []
  return pattern && english ? text.replace(pattern, english) : text
}

const specOf = (name: string, keys: readonly string[]): ToolSpec => ({
  name,
  description: '',
  parameters: z.object(Object.fromEntries(keys.map((key) => [key, z.any()]))),
})

function withoutNulls({
  name,
  arguments: json,
}: {
  readonly name: string
  readonly arguments: string
}): ScriptedCall {
  const given = Object.entries(JSON.parse(json)).filter(([, value]) => value !== null)
  return { name, arguments: Object.fromEntries(given) }
}

/** The newest lines that fit. */
function summary(input: readonly InputItem[], maxTokens: number): string {
  const lines = summariseByRules(input).split('\n')
  const [heading, ...said] = lines.slice(0, 1).concat(lines.slice(1).slice(-Math.floor(maxTokens / 20)))
  return [heading, ...said.map((line) => line.slice(0, 60))].join('\n')
}
