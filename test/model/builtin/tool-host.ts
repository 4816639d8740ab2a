import * as z from 'zod'
import type { Language } from '../../../src/language/languages.ts'
import { createBuiltinModel } from '../../../src/model/builtin/builtin.ts'
import type { InputItem, ToolSpec } from '../../../src/model/port.ts'

/** What each tool answers, by the tool's name. */
export type ToolAnswers = Readonly<Record<string, (args: Record<string, unknown>) => unknown>>

const text = z.string()
const PARAMETERS: Readonly<Record<string, z.ZodObject>> = {
  remember: z.object({ text: text.min(1) }),
  recall: z.object({ query: text.nullable() }),
  forget: z.object({ query: text.min(1) }),
  undo_forget: z.object({}),
  create_note: z.object({ title: text.nullable(), content: text.min(1) }),
  list_notes: z.object({ query: text.nullable() }),
  read_note: z.object({ query: text.min(1) }),
  update_note: z.object({
    query: text.min(1),
    title: text.nullable(),
    content: text.nullable(),
    append: text.nullable(),
    remove: text.nullable(),
  }),
  delete_note: z.object({ query: text.min(1) }),
  set_timer: z.object({
    title: text.min(1),
    at: text.nullable(),
    in_minutes: z.number().nullable(),
    recurrence: text.nullable(),
    missed_policy: z.enum(['fire_once', 'skip']).nullable(),
  }),
  list_timers: z.object({}),
  change_timer: z.object({
    query: text.min(1).nullable(),
    title: text.nullable(),
    at: text.nullable(),
    by_minutes: z.number().nullable(),
    recurrence: text.nullable(),
    done: z.boolean().nullable(),
  }),
  cancel_timer: z.object({ query: text.min(1).nullable(), all: z.boolean().nullable() }),
  dispatch_task: z.object({
    title: text.min(1),
    prompt: text.min(1),
    notify: z.enum(['chat', 'sms', 'webhook']).nullable(),
  }),
  list_tasks: z.object({}),
  cancel_task: z.object({ query: text.min(1) }),
  search_timeline: z.object({
    query: text.min(1).nullable(),
    channel: z.enum(['chat', 'voice', 'sms']).nullable(),
    from: z.iso.date().nullable(),
    to: z.iso.date().nullable(),
  }),
  current_time: z.object({}),
}

export const allTools: readonly ToolSpec[] = Object.entries(PARAMETERS).map(([name, parameters]) => ({
  name,
  description: name,
  parameters,
}))

export type Turn = {
  readonly text: string
  readonly calls: readonly { name: string; args: unknown }[]
  readonly rounds: number
}

const MAX_ROUNDS = 6

/** Runs a turn of the builtin model as the service does. The clock advances between rounds. */
export async function runTurn(
  input: readonly InputItem[],
  answers: ToolAnswers = {},
  options: {
    readonly tools?: readonly ToolSpec[]
    readonly startMs?: number
    readonly timezone?: string
    readonly language?: Language
  } = {},
): Promise<Turn> {
  const { tools = allTools, startMs = Date.UTC(2026, 5, 2, 12), timezone = 'Europe/Berlin' } = options
  const model = createBuiltinModel(() => options.language ?? 'en')
  const items = [...input]
  const calls: Turn['calls'][number][] = []
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const now = new Date(startMs + round * 977).toISOString()
    const request = { instructions: '', input: items, tools, now, timezone }
    let text = ''
    for await (const event of model.respond(request, new AbortController().signal)) {
      if (event.type === 'text.delta') {
        text += event.text
        continue
      }
      if (event.text !== text) throw new Error('the deltas are not the text')
      if (event.toolCalls.length === 0) return { text, calls, rounds: round }
      for (const call of event.toolCalls) {
        const parameters = PARAMETERS[call.name]
        const args: Record<string, unknown> = parameters?.strict().parse(JSON.parse(call.arguments)) ?? {}
        calls.push({ name: call.name, args })
        items.push({ type: 'tool_call', callId: call.callId, name: call.name, arguments: call.arguments })
      }
      for (const call of event.toolCalls) {
        const answer = answers[call.name]?.(JSON.parse(call.arguments)) ?? { ok: true }
        items.push({ type: 'tool_result', callId: call.callId, output: JSON.stringify(answer) })
      }
    }
  }
  throw new Error('the model never stops calling tools')
}

export const owner = (said: string, at?: string): InputItem => ({
  type: 'message',
  role: 'owner',
  text: said,
  at,
})
export const delegate = (said: string): InputItem => ({ type: 'message', role: 'delegate', text: said })
/** Formats lines the way recall does. */
export const recalled = (...lines: string[]): InputItem => ({
  type: 'inner',
  label: 'memories that may matter',
  text: lines.join('\n'),
})
export const memories = (...texts: string[]): InputItem =>
  recalled(...texts.map((text) => `2026-05-01 memory (active): ${text}`))
