import type { NewEventOf } from '../../../ledger/event.ts'
import type { Medium } from './medium.ts'
import { emptyPlayback, type Playback } from './playback.ts'
import type { ClientEvent, ServerEvent } from './realtime-protocol.ts'
import { emptyTranscript, type Transcript } from './transcript.ts'

/** The facts that a call records. The appender adds the conversation and the span. */
export type CallFact = { [T in CallFactType]: NewEventOf<T> }[CallFactType]

type CallFactType =
  | 'call.connected'
  | 'call.utterance.heard'
  | 'call.reply.spoken'
  | 'call.interrupted'
  | 'call.ended'

export type EndReason =
  | 'caller_hung_up'
  /** The stream broke. The caller may still be on the line, hearing the provider's markup. */
  | 'line_lost'
  | 'owner_hung_up'
  | 'owner_calling'
  | 'silence'
  | 'time_limit'
  /** The next minute is not affordable. */
  | 'allowance'
  | 'model_lost'
  | 'no_realtime_model'
  | 'wrong_format'
  | 'backpressure'
  | 'service_stopping'
  | 'halted'

export type PhraseName = 'reconnecting' | 'trouble' | 'time_up' | 'allowance' | 'halted'

/** What the call says by itself: the words, and the same in the line's medium. */
export type Phrase = { readonly text: string; readonly media: string }

export type TokenUsage = {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
}

export type AudioTokens = {
  readonly input: number
  readonly cachedInput: number
  readonly output: number
}

/** A finished response, as turns and budgets count it. */
export type FinishedResponse = {
  readonly responseId: string
  readonly usage: TokenUsage
  /** Those of these tokens that are audio, which costs more. */
  readonly audio: AudioTokens
  /** Why it failed, as the service names it. */
  readonly failure: string | null
  /** Another response is requested in its place. */
  readonly isRetried: boolean
}

/** Everything that can happen to a call. `atMs` is monotonic time. */
export type CallEvent = { readonly atMs: number } & (
  | { readonly type: 'model.said'; readonly session: number; readonly event: ServerEvent }
  /** The service sent an event that calls do not use. */
  | { readonly type: 'model.alive'; readonly session: number }
  /** The service announced when this session expires. */
  | { readonly type: 'model.expires'; readonly session: number; readonly inMs: number }
  | { readonly type: 'model.closed'; readonly session: number }
  | { readonly type: 'line.mark'; readonly name: string }
  /** The line broke and is back. What was sent meanwhile is lost. */
  | { readonly type: 'line.resumed' }
  | { readonly type: 'line.ended'; readonly reason: EndReason }
  | { readonly type: 'hangup.requested'; readonly reason: EndReason }
  | { readonly type: 'tool.returned'; readonly callId: string; readonly output: string }
  | { readonly type: 'memory.surfaced'; readonly text: string }
  | { readonly type: 'allowance.spent' }
  /** What the keypad did, in words. `asksReply`: the model should speak about it. */
  | { readonly type: 'keypad.told'; readonly text: string; readonly asksReply: boolean }
  | { readonly type: 'tick' }
)

/** Everything that a call can do. The bridge performs actions in order. */
export type CallAction =
  | { readonly type: 'line.media'; readonly payload: string; readonly mark: string }
  | { readonly type: 'line.clear' }
  /** Closes the line. The provider continues with the markup after it. */
  | { readonly type: 'line.close' }
  /** Ends the call itself at the provider. */
  | { readonly type: 'line.hangUp' }
  | { readonly type: 'model.open'; readonly session: number }
  /** Sends all further caller audio to this session, held audio first. */
  | { readonly type: 'model.adopt'; readonly session: number }
  | { readonly type: 'model.close'; readonly session: number }
  | { readonly type: 'model.send'; readonly event: ClientEvent }
  | { readonly type: 'tool.run'; readonly callId: string; readonly name: string; readonly arguments: string }
  /** A cue for recall: the words just said, or null when the caller begins to speak. */
  | { readonly type: 'memory.cue'; readonly text: string | null }
  | { readonly type: 'response.finished'; readonly response: FinishedResponse }
  | { readonly type: 'record'; readonly facts: readonly CallFact[] }
  | { readonly type: 'log'; readonly message: string; readonly detail: string }
  /** The last action of a call. */
  | { readonly type: 'ended' }

export type CallOptions = {
  readonly callSid: string
  readonly streamSid: string
  readonly medium: Medium
  readonly party: 'owner' | 'guest'
  /** Instructions for the first response, the first after a lost session, and one after a long silence. */
  readonly greeting: string
  readonly resume: string
  readonly checkIn: string
  /** Wraps data so that nothing in it can close the wrapper. */
  readonly delimit: (label: string, text: string) => string
  /** What to say when the model cannot speak. */
  readonly phrases: Readonly<Record<PhraseName, Phrase>>
  readonly limits: CallLimits
}

export type CallLimits = {
  /** Silence on both sides, counted from the end of playback, before the delegate checks in. */
  readonly silenceMs: number
  /** Number of check-ins before hanging up. */
  readonly checkIns: number
  /** Session age from which a quiet moment is used to replace it. The service ends a session at 60 minutes. */
  readonly rotateAfterMs: number
  /** Time limit for a session to become configured. */
  readonly openMs: number
  /** How long the service may owe an event before the session counts as lost. */
  readonly stallMs: number
  /** The same while the caller speaks. Nobody speaks this long without a pause. */
  readonly monologueMs: number
  /** A session that lasted this long restores the retry for the next one. */
  readonly healthyMs: number
  /** How long to wait for the transcription of an utterance. Later facts wait with it. */
  readonly transcriptMs: number
  /** Time limit for the last phrase, after which the call is hung up anyway. */
  readonly farewellMs: number
  /** Null: unlimited. */
  readonly maxCallMs: number | null
}

const MINUTE_MS = 60_000

export const defaultLimits: CallLimits = {
  silenceMs: 12_000,
  checkIns: 2,
  rotateAfterMs: 50 * MINUTE_MS,
  openMs: 5_000,
  stallMs: 10_000,
  monologueMs: 3 * MINUTE_MS,
  healthyMs: MINUTE_MS,
  transcriptMs: 10_000,
  farewellMs: 8_000,
  maxCallMs: null,
}

export type CallState = {
  readonly options: CallOptions
  readonly startedAtMs: number
  readonly stage:
    | { readonly name: 'live' }
    /** The last phrase is playing. */
    | { readonly name: 'leaving'; readonly reason: EndReason; readonly byMs: number }
    | { readonly name: 'ended' }
  readonly model: ModelState
  /** When the service last sent anything. */
  readonly lastSignMs: number
  readonly caller: CallerState
  readonly responses: ResponseState
  readonly tools: ToolState
  readonly playback: Playback
  readonly transcript: Transcript
  /** Since when nobody has spoken and nothing has been in progress; null otherwise. */
  readonly quietSinceMs: number | null
  readonly checkInsMade: number
}

export type ModelState = {
  /** The session that the caller talks to. */
  readonly session: number
  readonly ready: boolean
  /** When the session was opened or, once ready, became ready. */
  readonly sinceMs: number
  readonly rotateAtMs: number
  readonly retries: number
  /** Instructions for the first response once ready; null after a rotation. */
  readonly opening: string | null
}

export type CallerState = {
  readonly speaking: boolean
  /** Whether the caller has been connected, spoken, or pressed a key that asks for a reply, since the last check-in. */
  readonly hasAsked: boolean
  /** Set while the service owes a reply to the caller. It may leave noise unanswered (`isOptional`). */
  readonly replyOwed: { readonly sinceMs: number; readonly isOptional: boolean } | null
}

export type ResponseState = {
  readonly active: string | null
  /** What the active response was asked with, and whether any of its audio has come. */
  readonly activeAs: { readonly instructions: string | null; readonly hasAudio: boolean }
  /** Sent, but not yet confirmed by `response.created`. */
  readonly requested: { readonly eventId: string; readonly instructions: string | null } | null
  readonly requestedAtMs: number
  readonly requests: number
  /** The request that waits until no response is active. */
  readonly queued: { readonly instructions: string | null } | null
  /** Responses that were interrupted or are done, newest last. Their late deltas are dropped. */
  readonly closed: readonly string[]
  /** Responses that are done, newest last, so that each is counted once. */
  readonly done: readonly string[]
  /** Items that the caller did not hear at all, to be deleted once their response is done. */
  readonly unheard: readonly { readonly itemId: string; readonly responseId: string }[]
  /** Consecutive failures. */
  readonly failures: number
  /** Requests caused by results of tools since the caller last spoke, or pressed a key that asks for a reply. */
  readonly toolRounds: number
}

export type ToolState = {
  readonly running: readonly {
    readonly callId: string
    readonly name: string
    readonly session: number
  }[]
  /** Recent call ids, newest last. */
  readonly seen: readonly string[]
  /** Results that returned while no session was ready, for the next one: it would repeat the calls. */
  readonly returned: readonly { readonly name: string; readonly output: string }[]
}

export function initialState(options: CallOptions, atMs: number): CallState {
  return {
    options,
    startedAtMs: atMs,
    stage: { name: 'live' },
    model: {
      session: 1,
      ready: false,
      sinceMs: atMs,
      rotateAtMs: Number.POSITIVE_INFINITY,
      retries: 1,
      opening: options.greeting,
    },
    lastSignMs: atMs,
    caller: { speaking: false, hasAsked: true, replyOwed: null },
    responses: {
      active: null,
      activeAs: { instructions: null, hasAudio: false },
      requested: null,
      requestedAtMs: atMs,
      requests: 0,
      queued: null,
      closed: [],
      done: [],
      unheard: [],
      failures: 0,
      toolRounds: 0,
    },
    tools: { running: [], seen: [], returned: [] },
    playback: emptyPlayback(options.medium),
    transcript: emptyTranscript,
    quietSinceMs: null,
    checkInsMade: 0,
  }
}

/**
 * A mutable copy of the state within one `step`, which stays a pure function. The copy is shallow: nested
 * values are replaced, never mutated.
 */
export type Draft = {
  readonly state: { -readonly [K in keyof CallState]: CallState[K] }
  readonly actions: CallAction[]
  readonly atMs: number
}

export function set(draft: Draft, change: Partial<CallState>): void {
  Object.assign(draft.state, change)
}

export function setModel(draft: Draft, change: Partial<ModelState>): void {
  set(draft, { model: { ...draft.state.model, ...change } })
}

export function setCaller(draft: Draft, change: Partial<CallerState>): void {
  set(draft, { caller: { ...draft.state.caller, ...change } })
}

/** The service is expected to reply by itself. No other response may be requested until then. */
export function oweReply(draft: Draft, { isOptional }: { readonly isOptional: boolean }): void {
  setCaller(draft, { replyOwed: { sinceMs: draft.atMs, isOptional } })
}

export function setResponses(draft: Draft, change: Partial<ResponseState>): void {
  set(draft, { responses: { ...draft.state.responses, ...change } })
}

export function setTools(draft: Draft, change: Partial<ToolState>): void {
  set(draft, { tools: { ...draft.state.tools, ...change } })
}
