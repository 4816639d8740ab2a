import type { NewEventOf } from '../../ledger/event.ts'
import { emptyPlayback, type Playback } from './playback.ts'
import type { ClientEvent, ServerEvent } from './realtime-protocol.ts'
import { emptyTranscript, type Transcript } from './transcript.ts'

/** What a call leaves behind in the ledger. Conversation and span are added by whoever appends it. */
export type CallFact = { [T in CallFactType]: NewEventOf<T> }[CallFactType]

type CallFactType =
  | 'call.connected'
  | 'call.utterance.heard'
  | 'call.reply.spoken'
  | 'call.interrupted'
  | 'call.ended'

/** Why a call ended. */
export type EndReason =
  | 'caller_hung_up'
  /** The stream broke without a word; the caller may still be there, listening to the provider's markup. */
  | 'line_lost'
  | 'owner_hung_up'
  | 'owner_calling'
  | 'silence'
  | 'time_limit'
  | 'model_lost'
  /** There is none that talks. */
  | 'no_realtime_model'
  | 'wrong_format'
  | 'backpressure'
  | 'service_stopping'

export type PhraseName = 'reconnecting' | 'trouble' | 'time_up'

export type TokenUsage = {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
}

/** A response of the model came to its end; what the turn and the budgets are counted from. */
export type FinishedResponse = {
  readonly responseId: string
  readonly status: 'completed' | 'cancelled' | 'failed' | 'incomplete'
  readonly usage: TokenUsage
}

/** Everything that can happen to a call. `atMs` is monotonic time; the machine reads no clock. */
export type CallEvent = { readonly atMs: number } & (
  | { readonly type: 'model.said'; readonly session: number; readonly event: ServerEvent }
  /** The service told when it will end this session. */
  | { readonly type: 'model.expires'; readonly session: number; readonly inMs: number }
  | { readonly type: 'model.closed'; readonly session: number }
  | { readonly type: 'line.mark'; readonly name: string }
  | { readonly type: 'line.ended'; readonly reason: EndReason }
  | { readonly type: 'hangup.requested'; readonly reason: EndReason }
  | { readonly type: 'tool.returned'; readonly callId: string; readonly output: string }
  | { readonly type: 'memory.surfaced'; readonly text: string }
  | { readonly type: 'tick' }
)

/** Everything that a call may do. Data only: the bridge carries it out, in order. */
export type CallAction =
  | { readonly type: 'line.media'; readonly payload: string; readonly mark: string }
  | { readonly type: 'line.clear' }
  /** Closes the media stream: the provider goes on with the markup behind it and says that we were lost. */
  | { readonly type: 'line.close' }
  /** Ends the call itself at the provider. */
  | { readonly type: 'line.hangUp'; readonly reason: EndReason }
  | { readonly type: 'model.open'; readonly session: number }
  /** From here on the caller's audio goes to this session; what was held back for it goes first. */
  | { readonly type: 'model.adopt'; readonly session: number }
  | { readonly type: 'model.close'; readonly session: number }
  | { readonly type: 'model.send'; readonly event: ClientEvent }
  | { readonly type: 'tool.run'; readonly callId: string; readonly name: string; readonly arguments: string }
  /** A cue for recall. Null: the caller began to speak; else: the words just said. */
  | { readonly type: 'memory.cue'; readonly text: string | null }
  | { readonly type: 'response.finished'; readonly response: FinishedResponse }
  | { readonly type: 'record'; readonly facts: readonly CallFact[] }
  | { readonly type: 'log'; readonly message: string; readonly detail: string }
  /** The last one of a call. */
  | { readonly type: 'ended'; readonly reason: EndReason }

export type CallOptions = {
  readonly callSid: string
  readonly streamSid: string
  readonly party: 'owner' | 'guest'
  /** Per-response instructions: the first words, the first after a lost session, and after a long silence. */
  readonly greeting: string
  readonly resume: string
  readonly checkIn: string
  /** Wraps what is nobody's words, so that nothing in it can end the wrapping. */
  readonly delimit: (label: string, text: string) => string
  /** Our own voice for when the model has none: base64 mu-law; empty says nothing. */
  readonly phrases: Readonly<Record<PhraseName, string>>
  readonly limits: CallLimits
}

export type CallLimits = {
  /** Whether the service itself cancels generation when the caller speaks (`interrupt_response`). */
  readonly serverInterrupts: boolean
  /** Quiet on both sides, from the end of playback, until the delegate asks whether anybody is there. */
  readonly silenceMs: number
  /** How often it asks before it hangs up. */
  readonly checkIns: number
  /** The service ends a session at 60 min: from here a quiet moment is used for a fresh one … */
  readonly rotateAfterMs: number
  /** … and from here any moment in which nobody speaks. */
  readonly rotateByMs: number
  /** How long a session may take from opening to being configured. */
  readonly openMs: number
  /** How long the service may owe us an event before the session counts as lost. */
  readonly stallMs: number
  /** A session that lasted this long has earned the next one its retry. */
  readonly healthyMs: number
  /** How long the caller's words may hold up the facts behind them. */
  readonly transcriptMs: number
  /** How long a last phrase may take before the call is hung up regardless. */
  readonly farewellMs: number
  /** Null: as long as it lasts. */
  readonly maxCallMs: number | null
}

const MINUTE_MS = 60_000

export const defaultLimits: CallLimits = {
  serverInterrupts: true,
  silenceMs: 12_000,
  checkIns: 2,
  rotateAfterMs: 50 * MINUTE_MS,
  rotateByMs: 55 * MINUTE_MS,
  openMs: 5_000,
  stallMs: 10_000,
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
  /** The service's signs of life: the last one, and how many so far, in all sessions. */
  readonly signs: { readonly lastMs: number; readonly count: number }
  readonly caller: CallerState
  readonly responses: ResponseState
  readonly tools: ToolState
  readonly playback: Playback
  readonly transcript: Transcript
  /** Since when nobody speaks and nothing is under way; null while something is. */
  readonly quietSinceMs: number | null
  readonly checkInsMade: number
}

export type ModelState = {
  /** The session that the caller talks to; events of any other are none of the call's business. */
  readonly session: number
  readonly ready: boolean
  /** When it was opened; once ready, when it became so. */
  readonly sinceMs: number
  readonly rotateAtMs: number
  /** The session that is being prepared to take over. */
  readonly next: { readonly session: number; readonly sinceMs: number } | null
  readonly lastSession: number
  readonly retries: number
  /** What to say once ready. */
  readonly opening: string
}

export type CallerState = {
  readonly speaking: boolean
  /** The caller finished and the service owes the reply: since when, and after how many signs of life. */
  readonly replyOwed: { readonly sinceMs: number; readonly signs: number } | null
}

export type ResponseState = {
  readonly active: string | null
  /** Sent, and not yet answered by `response.created`. */
  readonly requested: { readonly eventId: string; readonly instructions: string | null } | null
  readonly requestedAtMs: number
  readonly requests: number
  /** Waits until nothing is active: at most one. */
  readonly queued: { readonly instructions: string | null } | null
  /** Responses that were interrupted or are done: their late deltas are nobody's. The newest last. */
  readonly closed: readonly string[]
  /** Responses that are done: each is counted once, however often the service says so. The newest last. */
  readonly done: readonly string[]
  /** Items of which nothing was heard, to be deleted once their response is done. */
  readonly unheard: readonly { readonly itemId: string; readonly responseId: string }[]
  /** Failures in a row. */
  readonly failures: number
}

export type ToolState = {
  readonly running: readonly {
    readonly callId: string
    readonly name: string
    readonly session: number
  }[]
  /** Every call id that was ever run, the newest last. */
  readonly seen: readonly string[]
  /** What returned while no session was ready: the next one is told, or it would have it all done again. */
  readonly returned: readonly { readonly name: string; readonly output: string }[]
}

/** A call that has just been connected, before its first action. */
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
      next: null,
      lastSession: 1,
      retries: 1,
      opening: options.greeting,
    },
    signs: { lastMs: atMs, count: 0 },
    caller: { speaking: false, replyOwed: null },
    responses: {
      active: null,
      requested: null,
      requestedAtMs: atMs,
      requests: 0,
      queued: null,
      closed: [],
      done: [],
      unheard: [],
      failures: 0,
    },
    tools: { running: [], seen: [], returned: [] },
    playback: emptyPlayback,
    transcript: emptyTranscript,
    quietSinceMs: null,
    checkInsMade: 0,
  }
}

/**
 * One step under construction: a copy of the state that lives inside a single call of `step`, so that the
 * machine stays a pure function while its parts are written one after the other. Only the top level is a copy;
 * everything below is replaced, never changed.
 */
export type Draft = {
  readonly state: { -readonly [K in keyof CallState]: CallState[K] }
  readonly actions: CallAction[]
  readonly atMs: number
}

/** Replaces parts of the state. */
export function set(draft: Draft, change: Partial<CallState>): void {
  Object.assign(draft.state, change)
}

export function setModel(draft: Draft, change: Partial<ModelState>): void {
  set(draft, { model: { ...draft.state.model, ...change } })
}

export function setCaller(draft: Draft, change: Partial<CallerState>): void {
  set(draft, { caller: { ...draft.state.caller, ...change } })
}

/** The service is expected to answer by itself: until then nothing else may be asked for. */
export function oweReply(draft: Draft): void {
  setCaller(draft, { replyOwed: { sinceMs: draft.atMs, signs: draft.state.signs.count } })
}

export function setResponses(draft: Draft, change: Partial<ResponseState>): void {
  set(draft, { responses: { ...draft.state.responses, ...change } })
}

export function setTools(draft: Draft, change: Partial<ToolState>): void {
  set(draft, { tools: { ...draft.state.tools, ...change } })
}
