import type * as z from 'zod'
import type { EventOf, NewEvent } from '../../ledger/event.ts'
import type { modelFailureKinds } from '../../ledger/events/turn.ts'
import { english } from '../language/message.ts'

/** A provider and a model name, as recorded in every turn. */
export type ModelId = { readonly provider: string; readonly model: string }

/** Whether two ids name the same model. A blob may only go back to the model that made it. */
export function isSameModel(a: ModelId, b: ModelId): boolean {
  return a.provider === b.provider && a.model === b.model
}

/** Token counts from the service; estimated by the builtin model. */
export type Usage = {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
  }
}

/**
 * One item of the input, oldest first. Only `owner` and `guest` messages were said to the delegate. `inner`
 * is delimited data (signals, memories, task results, notes) and cannot confirm anything.
 */
export type InputItem =
  | {
      readonly type: 'message'
      readonly role: 'owner' | 'guest' | 'delegate'
      readonly text: string
      readonly at?: string | undefined
    }
  | { readonly type: 'inner'; readonly label: string; readonly text: string }
  | { readonly type: 'tool_call'; readonly callId: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'tool_result'; readonly callId: string; readonly output: string }
  /**
   * The service's own items, sent back unchanged to the model that made them and to no other.
   */
  | {
      readonly type: 'opaque'
      readonly model: ModelId
      readonly blob: string
    }

/** Labels of inner data that the builtin model knows. */
export const innerLabels = {
  memories: 'memories that may matter',
  elsewhere: 'said in the browser or by text meanwhile',
  phone: 'phone',
  keypad: 'from the keypad',
} as const

/** Begins the last line of a message with attachments. The builtin model knows it. */
export const ATTACHED = '[With attachments that cannot be opened here: '

/** A tool as the model sees it. `parameters` is sent as a strict JSON schema and validates the arguments. */
export type ToolSpec = {
  readonly name: string
  readonly description: string
  /** The description where the context is small. */
  readonly brief?: string
  readonly parameters: z.ZodObject
}

/** What a request is for, and where: the facts of its cost say so. */
export type Use = Pick<NewEvent, 'channel' | 'conversationId' | 'spanId' | 'turnId'> & {
  readonly purpose: EventOf<'spend.reserved'>['facts']['purpose']
}

export type TextRequest = {
  readonly instructions: string
  readonly input: readonly InputItem[]
  readonly tools: readonly ToolSpec[]
  /** The owner's time (ISO 8601 UTC) and IANA time zone, to resolve phrases like "tomorrow at nine". */
  readonly now: string
  readonly timezone: string
  readonly maxOutputTokens?: number | undefined
  /** For a small context: sends of the tools only what a model needs to call them. */
  readonly isBrief?: boolean
  /** The delegate is halted, so tools that act are missing. The instructions say so too. */
  readonly isHalted?: boolean
  readonly use?: Use | undefined
}

/** An event of an answer. A stream that does not throw ends with exactly one `completed`. */
export type TextEvent =
  | { readonly type: 'text.delta'; readonly text: string }
  | {
      readonly type: 'completed'
      readonly text: string
      readonly toolCalls: readonly {
        readonly callId: string
        readonly name: string
        readonly arguments: string
      }[]
      readonly usage: Usage
      readonly responseId: string | null
      /** Items for the chain (reasoning, calls), if the service returns them. */
      readonly blob: string | null
      /** The answer was cut at the output limit. Incomplete calls are left out. */
      readonly truncated?: boolean
    }

export type ModelFailureKind = (typeof modelFailureKinds)[number]

/** The only error of an adapter, apart from an abort, which throws the reason of the signal. */
export class ModelError extends Error {
  readonly kind: ModelFailureKind
  readonly retryAfterMs: number | null
  constructor(
    kind: ModelFailureKind,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | null } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ModelError'
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs ?? null
  }
}

/** A timeout of our own. Not retried: the caller has waited long enough. */
export class NoAnswer extends ModelError {
  /** `message` is a complete sentence for the owner. */
  constructor(message: string) {
    super('timeout', message)
  }
}

/** The service does not have the model. The message is a complete text for the owner. */
export class UnknownModel extends ModelError {
  constructor(message: string, options: ConstructorParameters<typeof ModelError>[2]) {
    super('unavailable', message, options)
    this.name = 'UnknownModel'
  }
}

/** The allowance is used up, so the request was not sent. The message is a complete text for the owner. */
export class AllowanceSpent extends ModelError {
  constructor(message: string) {
    super('quota', message)
    this.name = 'AllowanceSpent'
  }
}

export type Capability = 'responses' | 'compaction' | 'embeddings' | 'transcription' | 'speech'

/** The service lacks this feature. Its port is null until the next probe; fall back at once. */
export class CapabilityMissing extends ModelError {
  readonly capability: Capability
  constructor(capability: Capability, message: string, options: { cause?: unknown } = {}) {
    super('unavailable', message, options)
    this.name = 'CapabilityMissing'
    this.capability = capability
  }
}

/** How much fits into a request of a model together with its answer. */
export type ContextSize = {
  /** Null if nobody has said yet. That counts as plenty. */
  readonly tokens: number | null
  /** Asks the service, if that was not done for a while. Takes two seconds at most and never rejects. */
  learn(): Promise<void>
}

/** Text turns, streamed. The adapter handles retries, deadlines and backoff. */
export type TextModel = {
  readonly id: ModelId
  /** The instructions as they are sent, including what the adapter adds. */
  readonly asSent?: (instructions: string) => string
  respond(request: TextRequest, signal: AbortSignal): AsyncIterable<TextEvent>
}

/** Of a stream. */
export const UNFINISHED = english`The answer of the model ended before it was finished.`

/** The end of an answer whose text nobody needs earlier. */
export async function answerOf(events: AsyncIterable<TextEvent>) {
  for await (const event of events) if (event.type === 'completed') return event
  throw new ModelError('malformed', UNFINISHED)
}

export type StructuredRequest<S extends z.ZodType> = {
  readonly instructions: string
  readonly input: readonly InputItem[]
  readonly name: string
  readonly schema: S
  readonly maxOutputTokens?: number | undefined
  readonly use?: Use | undefined
}

/** A single answer that matches a schema. Throws ModelError `malformed` if it does not. */
export type StructuredModel = {
  readonly id: ModelId
  /** Absent counts as plenty. */
  readonly context?: ContextSize
  answer<S extends z.ZodType>(
    request: StructuredRequest<S>,
    signal: AbortSignal,
  ): Promise<{ readonly value: z.output<S>; readonly usage: Usage }>
}

export type Compaction = { readonly blob: string; readonly usage: Usage }

export type CompactionModel = {
  readonly id: ModelId
  compact(
    request: Pick<TextRequest, 'instructions' | 'input' | 'use'>,
    signal: AbortSignal,
  ): Promise<Compaction>
}

/** Vectors for recall. All vectors of a model have the same length. */
export type EmbeddingModel = {
  readonly id: ModelId
  embed(
    texts: readonly string[],
    signal: AbortSignal,
    use?: Use,
  ): Promise<{ readonly vectors: readonly Float32Array[]; readonly usage: Usage }>
}

/** Speech to text and text to speech, one utterance at a time. */
export type SpeechModel = {
  /** The models of the two halves; null for one that is not configured. */
  readonly ids: { readonly transcription: ModelId | null; readonly speech: ModelId | null }
  /** `of` says what it is for and how long the recording is, where that is known. */
  transcribe(
    audio: Uint8Array,
    format: 'wav' | 'mp3' | 'webm' | 'ogg',
    signal: AbortSignal,
    of?: { readonly use: Use; readonly seconds: number },
  ): Promise<string>
  speak(text: string, signal: AbortSignal): Promise<{ readonly audio: Uint8Array; readonly format: 'mp3' }>
  /** Speech for a call: the bytes of a WAV file, as they are made. */
  stream(text: string, signal: AbortSignal, use?: Use): AsyncIterable<Uint8Array>
}

export type RealtimeEndpoint = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly provider: string
  readonly model: string
  /** The model of the same service that writes down what the caller says. */
  readonly transcription: string
}

/** What answers in the chat, and makes its replacements if it can. */
export type ChatModel = {
  readonly text: TextModel
  /** Of the text model; absent counts as plenty. */
  readonly context?: ContextSize
  readonly compaction: CompactionModel | null
}

/**
 * The ports in use, which may belong to several services. A missing port is null and the caller falls back:
 * compaction to a written replacement, embeddings to lexical search, realtime to speech of single sentences, or to an
 * apology.
 */
export type ModelService = ChatModel & {
  /** What may answer a message, in order: the model that the message names or the usual one, then the fallbacks. */
  chatModels(choice?: { readonly service: string; readonly model: string }): readonly ChatModel[]
  readonly utility: StructuredModel | null
  /** A port for a model of the owner's choice; null if there is no choice. */
  readonly structured: ((model: string) => StructuredModel) | null
  readonly embedding: EmbeddingModel | null
  readonly speech: SpeechModel | null
  readonly realtime: RealtimeEndpoint | null
  /** The cheapest possible request, for `/ready`, the UI and the connection test in Settings. */
  check(signal: AbortSignal): Promise<{
    readonly ok: boolean
    readonly steps: readonly { name: string; ok: boolean; detail: string }[]
  }>
}
