import { createHmac, randomBytes } from 'node:crypto'
import type { Language } from '../../language/languages.ts'
import { msg } from '../../language/msg.ts'
import type { ModelId, ModelService, TextEvent, TextModel, TextRequest } from '../port.ts'
import { estimateItemTokens, estimateTokens } from '../tokens.ts'
import { type Done, readInput, spokenOf } from './conversation.ts'
import type { Call, Reply, World } from './intent.ts'
import { NO_OUTCOME, type Outcome } from './results.ts'
import { CANNOT_OPEN, GUEST, LISTENING, LISTENING_TO_GUEST } from './wording.ts'

const BUILTIN_MODEL: ModelId = { provider: 'builtin', model: 'builtin-1' }

/**
 * The embedded default: fixed rules, offline, deterministic, behind the port of a language model. Text only.
 */
export function createBuiltinService(language?: () => Language): ModelService {
  const chat = { text: createBuiltinModel(language), compaction: null }
  return {
    ...chat,
    chatModels: () => [chat],
    utility: null,
    structured: null,
    embedding: null,
    speech: null,
    realtime: null,
    async check(signal) {
      signal.throwIfAborted()
      const detail = msg`The builtin model answers. It needs no key and no network.`
      return { ok: true, steps: [{ name: msg`builtin`, ok: true, detail }] }
    },
  }
}

export function createBuiltinModel(language: () => Language = () => 'en'): TextModel {
  const key = randomBytes(32)
  return {
    id: BUILTIN_MODEL,
    async *respond(request, signal): AsyncGenerator<TextEvent> {
      signal.throwIfAborted()
      const { text, calls } = await answerTo(request, language())
      if (text !== '') yield { type: 'text.delta', text }
      signal.throwIfAborted()
      const toolCalls = calls.map((call, index) => toToolCall(key, call, index, request))
      const outputTokens = estimateTokens(text + JSON.stringify(toolCalls))
      yield {
        type: 'completed',
        text,
        toolCalls,
        usage: { inputTokens: inputTokens(request), outputTokens, cachedTokens: 0 },
        responseId: null,
        blob: null,
      }
    },
  }
}

type Answer = { readonly text: string; readonly calls: readonly Call[] }

async function answerTo(request: TextRequest, language: Language): Promise<Answer> {
  const isGuest = request.use?.purpose === 'guest'
  const spoken = spokenOf(request.input, isGuest ? LISTENING_TO_GUEST : LISTENING)
  if (spoken !== null) return { text: spoken, calls: [] }
  const input = readInput(request.input)
  // The owner sees reminders and outcomes anyway.
  if (input === null) return { text: '', calls: [] }
  if (input.by === 'guest') return { text: GUEST, calls: [] }
  // Takes 5 MB, most of it to read dates, and a service with another model never needs it.
  const { repliesTo } = await import('./understand.ts')
  const shapes = new Map(request.tools.map(({ name, parameters }) => [name, Object.keys(parameters.shape)]))
  const present = { now: new Date(request.now), timezone: request.timezone, language }
  const world: World = { present, conversation: input, can: (tool) => shapes.has(tool) }
  const missing = request.isHalted ? HALTED : UNAVAILABLE
  const remaining = [...input.done]
  const texts: string[] = []
  const isOnlyAttached = input.hasAttachments && input.text === ''
  for (const reply of isOnlyAttached ? [] : repliesTo(input.text, world)) {
    const step = advance(reply, world, remaining, missing)
    if (typeof step !== 'string') return { text: '', calls: step.map((call) => shapeArgs(call, shapes)) }
    texts.push(step)
  }
  if (input.hasAttachments) texts.push(CANNOT_OPEN)
  return { text: [...new Set(texts)].join('\n\n'), calls: [] }
}

/**
 * Replays a reply with the outcomes that this turn already has, so all state is in the request and a restart
 * can resume it. Returns the next calls or the text.
 */
function advance(
  reply: Reply,
  { can }: World,
  remaining: Done[],
  missing: Outcome,
): string | readonly Call[] {
  if (typeof reply === 'string') return reply
  let outcomes: readonly Outcome[] = []
  for (;;) {
    const step = reply.next(outcomes)
    if (step.done) return step.value
    const taken = step.value.map(({ name }) => (can(name) ? takeOutcome(remaining, name) : missing))
    const open = step.value.filter((_call, index) => taken[index] === null)
    if (open.length > 0) return open
    outcomes = taken.filter((outcome) => outcome !== null)
  }
}

const UNAVAILABLE: Outcome = { ...NO_OUTCOME, reason: 'unavailable', message: 'I can’t do that here.' }
const HALTED: Outcome = {
  ...UNAVAILABLE,
  message: 'I am halted, so I did not do that. You can release me in the browser.',
}

/** Removes and returns the outcome of the first call of a tool; null if there is none. */
function takeOutcome(remaining: Done[], tool: string): Outcome | null {
  const index = remaining.findIndex(({ name }) => name === tool)
  return remaining.splice(index, index === -1 ? 0 : 1)[0]?.outcome ?? null
}

/** Keeps the declared arguments; missing ones become null. */
function shapeArgs({ name, args }: Call, shapes: ReadonlyMap<string, readonly string[]>): Call {
  const keys = shapes.get(name) ?? []
  return { name, args: Object.fromEntries(keys.map((key) => [key, args[key] ?? null])) }
}

/**
 * Call ids must be unique over all turns, yet deterministic. They outlive an erasure: the key keeps
 * anybody from guessing the words behind one.
 */
function toToolCall(key: Uint8Array, { name, args }: Call, index: number, { now, input }: TextRequest) {
  const seed = JSON.stringify([now, input.length, input.at(-1), index, name, args])
  const callId = `call_${createHmac('sha256', key).update(seed).digest('hex').slice(0, 32)}`
  return { callId, name, arguments: JSON.stringify(args) }
}

const inputTokens = ({ instructions, input }: TextRequest): number =>
  input.reduce((sum, item) => sum + estimateItemTokens(item), estimateTokens(instructions))
