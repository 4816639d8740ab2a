import type * as z from 'zod'
import type { modelFailureKinds } from '../../ledger/events/turn.ts'

/** A provider and its name for the model, as recorded in every turn. */
export type ModelId = { readonly provider: string; readonly model: string }

/** Tokens as the service counted them; estimated by the builtin model. */
export type Usage = {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
}

/**
 * One item of what the model is given, oldest first. Only `owner` and `guest` messages are somebody's words to
 * the delegate; `inner` is delimited data (signals, memories, task results, notes) and can confirm nothing.
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
   * The service's own items, sent back unchanged; used only with the model that made them. `fallback` stands in
   * for them with any other model, and where the service refuses them.
   */
  | {
      readonly type: 'opaque'
      readonly model: ModelId
      readonly blob: string
      readonly fallback?: readonly InputItem[] | undefined
    }

/** A tool as the model sees it. `parameters` validates the arguments and is sent as a strict JSON schema. */
export type ToolSpec = {
  readonly name: string
  readonly description: string
  readonly parameters: z.ZodObject
}

export type TextRequest = {
  readonly instructions: string
  readonly input: readonly InputItem[]
  readonly tools: readonly ToolSpec[]
  /** The owner's present, so that "tomorrow at nine" means something; ISO 8601 UTC and an IANA zone. */
  readonly now: string
  readonly timezone: string
  readonly maxOutputTokens?: number | undefined
}

/** What a model says while it answers. Exactly one `completed` ends a stream that did not throw. */
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
      /** Items to be kept for the chain (reasoning, calls) where the service returns such; else null. */
      readonly blob: string | null
      /** True when the answer was cut off at the output limit; calls that were not complete are left out. */
      readonly truncated?: boolean
      /** True when the service refused the opaque items, and their fallbacks were sent instead. */
      readonly usedFallback?: boolean
    }

/** What went wrong with a model service, in words that the rest of the service can act on. */
export type ModelFailureKind = (typeof modelFailureKinds)[number]

/** Every adapter's only way to fail, besides an abort (which throws the signal's reason). */
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

/** Nothing, or nothing more, came within a time of our own. It is not retried: whoever waits has waited long enough. */
export class NoAnswer extends ModelError {
  /** `message` is a whole sentence for the owner. */
  constructor(message: string) {
    super('timeout', message)
  }
}

/** Something that a model service may offer or lack. */
export type Capability = 'compaction' | 'embeddings' | 'transcription' | 'speech'

/** The service turned out to lack this; its port is null from now on, until it is tried again. Fall back at once. */
export class CapabilityMissing extends ModelError {
  readonly capability: Capability
  constructor(capability: Capability, message: string, options: { cause?: unknown } = {}) {
    super('unavailable', message, options)
    this.name = 'CapabilityMissing'
    this.capability = capability
  }
}

/** Text turns: stream in, events out. Retries, deadlines and backoff are the adapter's. */
export type TextModel = {
  readonly id: ModelId
  /** A turn's instructions as they go out, with what the adapter adds; absent where it adds nothing. */
  readonly told?: (instructions: string) => string
  respond(request: TextRequest, signal: AbortSignal): AsyncIterable<TextEvent>
}

export type StructuredRequest<S extends z.ZodType> = {
  readonly instructions: string
  readonly input: readonly InputItem[]
  readonly name: string
  readonly schema: S
}

/** One answer of a given shape, for extraction, arbitration and capsules. Throws ModelError `malformed` otherwise. */
export type StructuredModel = {
  readonly id: ModelId
  answer<S extends z.ZodType>(
    request: StructuredRequest<S>,
    signal: AbortSignal,
  ): Promise<{ readonly value: z.output<S>; readonly usage: Usage }>
}

export type Compaction = { readonly blob: string; readonly usage: Usage }

/** The service's own compaction, where it has one. */
export type CompactionModel = {
  readonly id: ModelId
  compact(request: Pick<TextRequest, 'instructions' | 'input'>, signal: AbortSignal): Promise<Compaction>
}

/** Vectors for recall. `dimensions` is fixed for a model. */
export type EmbeddingModel = {
  readonly id: ModelId
  embed(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly vectors: readonly Float32Array[]; readonly usage: Usage }>
}

/** Speech to text and back, one utterance at a time (the walkie route). */
export type SpeechModel = {
  transcribe(audio: Uint8Array, format: 'wav' | 'mp3' | 'webm' | 'ogg', signal: AbortSignal): Promise<string>
  speak(text: string, signal: AbortSignal): Promise<{ readonly audio: Uint8Array; readonly format: 'mp3' }>
}

/** Where the realtime socket of the model service is; null when it has none. */
export type RealtimeEndpoint = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly model: string
}

/**
 * Everything that one model service offers. What it lacks is null, and the caller falls back: compaction to a
 * written replacement, embeddings to lexical search, realtime to a spoken apology.
 */
export type ModelService = {
  readonly text: TextModel
  readonly utility: StructuredModel | null
  /** The same with a model of the owner's choice; null where there is none to choose. */
  readonly structured: ((model: string) => StructuredModel) | null
  readonly compaction: CompactionModel | null
  readonly embedding: EmbeddingModel | null
  readonly speech: SpeechModel | null
  readonly realtime: RealtimeEndpoint | null
  /** Asks the service the least it can; for `/ready`, the UI and the settings' connection test. */
  check(signal: AbortSignal): Promise<{
    readonly ok: boolean
    readonly steps: readonly { name: string; ok: boolean; detail: string }[]
  }>
}
