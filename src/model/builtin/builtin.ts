import { createHash } from 'node:crypto'
import { knownZone } from '../../clock/date-format.ts'
import type {
  InputItem,
  ModelId,
  ModelService,
  TextEvent,
  TextModel,
  TextRequest,
  ToolSpec,
} from '../port.ts'
import { estimateItemTokens, estimateTokens } from '../tokens.ts'
import { carryOut, type Step, type TakeDone } from './carry-out.ts'
import type { Call, Present } from './plan.ts'
import { type Done, readSituation, type Situation } from './situation.ts'
import { understand } from './understand/understand.ts'
import { GUEST } from './wording.ts'

const BUILTIN_MODEL: ModelId = { provider: 'builtin', model: 'builtin-1' }

/**
 * The embedded default: answers by fixed rules, with no key and no network, through the same port and by the same tool
 * calls as a language model. Deterministic: the same request gives the same events. It offers text only; the rest is
 * for its callers to do by rules.
 */
export function createBuiltinService(): ModelService {
  return {
    text: createBuiltinModel(),
    utility: null,
    structured: null,
    compaction: null,
    embedding: null,
    speech: null,
    realtime: null,
    async check(signal) {
      signal.throwIfAborted()
      const detail =
        'The built-in model answers: fixed rules, no language model. Set OPENAI_API_KEY or OPENAI_BASE_URL for one.'
      return { ok: true, steps: [{ name: 'builtin', ok: true, detail }] }
    },
  }
}

/** More than this is not said in one go, so that the reply is seen to come. */
const DELTA_CHARS = 48

export function createBuiltinModel(): TextModel {
  return {
    id: BUILTIN_MODEL,
    async *respond(request, signal): AsyncGenerator<TextEvent> {
      signal.throwIfAborted()
      const answer = answerTo(request)
      for (const text of toDeltas(answer.text)) {
        yield { type: 'text.delta', text }
        signal.throwIfAborted()
      }
      const toolCalls = answer.calls.map((call, index) => toToolCall(call, index, request))
      const said = estimateTokens(answer.text + JSON.stringify(toolCalls))
      yield {
        type: 'completed',
        text: answer.text,
        toolCalls,
        usage: { inputTokens: inputTokens(request), outputTokens: said, cachedTokens: 0 },
        responseId: null,
        blob: null,
      }
    },
  }
}

type Answer = { readonly text: string; readonly calls: readonly Call[] }

function answerTo(request: TextRequest): Answer {
  const situation = readSituation(request.input)
  // Nobody asked for anything: signals are told of where the owner wants to know, and cause nothing else.
  if (situation.kind === 'woken') return { text: situation.signals.map(reminderText).join('\n'), calls: [] }
  if (situation.by === 'guest') return { text: GUEST, calls: [] }
  const present: Present = { now: new Date(request.now), timezone: knownZone(request.timezone) }
  const tools = new Set(request.tools.map(({ name }) => name))
  const takeDone = createTaker(situation)
  const steps = understand(situation.text, present).map((plan): Step => {
    return carryOut(plan, { present, known: situation.known, can: (tool) => tools.has(tool) }, takeDone)
  })
  const calls = steps.flatMap((step) => ('calls' in step ? step.calls : []))
  if (calls.length > 0) return { text: '', calls: calls.map((call) => shapeArgs(call, request.tools)) }
  return { text: steps.map((step) => ('text' in step ? step.text : '')).join('\n\n'), calls: [] }
}

/**
 * Each result belongs to one call of the plan: that with the same arguments, else the first of its name, for what was
 * planned relative to the present has moved on with it.
 */
function createTaker(situation: Extract<Situation, { kind: 'spoken' }>): TakeDone {
  const left: Done[] = [...situation.done]
  return (call) => {
    const same = left.findIndex((done) => done.name === call.name && isSame(call.args, done.args))
    const index = same === -1 ? left.findIndex((done) => done.name === call.name) : same
    return index === -1 ? null : (left.splice(index, 1)[0] ?? null)
  }
}

function isSame(planned: Call['args'], made: unknown): boolean {
  if (typeof made !== 'object' || made === null) return false
  const given = new Map(Object.entries(made))
  return Object.entries(planned).every(([key, value]) => !given.has(key) || given.get(key) === value)
}

/** The arguments as the tool declares them: what it does not know is left out, what it wants besides is null. */
function shapeArgs({ name, args }: Call, tools: readonly ToolSpec[]): Call {
  const shape = tools.find((tool) => tool.name === name)?.parameters.shape ?? {}
  return { name, args: Object.fromEntries(Object.keys(shape).map((key) => [key, args[key] ?? null])) }
}

/** Unique over all turns, as call ids must be, and yet the same for the same request. */
function toToolCall({ name, args }: Call, index: number, { now, input }: TextRequest) {
  const seed = JSON.stringify([now, input.length, input.at(-1), index, name, args])
  const callId = `call_${createHash('sha256').update(seed).digest('hex').slice(0, 32)}`
  return { callId, name, arguments: JSON.stringify(args) }
}

/** A signal's text as a reminder: "The timer “X” is due." becomes "Reminder: X.". */
function reminderText(text: string): string {
  const timer = /^The timer “(.+)” is due\.\s*(.*)$/s.exec(text)
  if (!timer) return text
  const [, title = '', more = ''] = timer
  return `Reminder: ${title}.${more ? ` ${more}` : ''}`
}

function toDeltas(text: string): string[] {
  const deltas: string[] = []
  for (const word of text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text])) {
    const last = deltas.at(-1)
    if (last !== undefined && last.length + word.length <= DELTA_CHARS)
      deltas[deltas.length - 1] = last + word
    else deltas.push(word)
  }
  return deltas
}

function inputTokens({ instructions, input }: TextRequest): number {
  return (
    estimateTokens(instructions) + input.reduce((sum, item: InputItem) => sum + estimateItemTokens(item), 0)
  )
}
