import type { CallFact, EndReason, FinishedResponse } from './call-state.ts'

/** The caller's end of a call: an accepted media stream of the provider. Audio is base64 mu-law. */
export type CallLine = {
  readonly callSid: string
  readonly streamSid: string
  sendMedia(payload: string): void
  sendMark(name: string): void
  sendClear(): void
  /** Closes the stream; the provider goes on with the markup behind it. */
  close(): void
  /** What was sent and has not left this machine. */
  readonly bufferedBytes: number
  /**
   * `timestampMs`: since the stream's start, by the provider's count. `ended` may come more than once,
   * `stopped` when the provider said so, `closed` when the socket went.
   */
  listen(handlers: {
    media(payload: string, timestampMs: number): void
    mark(name: string): void
    ended(how: 'stopped' | 'closed'): void
  }): void
}

/** The model's end: one socket of the realtime service. */
export type ModelSocket = {
  /** Does nothing unless the socket is open. */
  send(text: string): void
  close(): void
  readonly bufferedBytes: number
}

/**
 * Opens a socket to the realtime service. The handlers are called later, never before this returns; `closed`
 * exactly once, also when it never opened.
 */
export type ConnectModel = (handlers: {
  opened(): void
  message(text: string): void
  closed(detail: string): void
}) => ModelSocket

/** A tool as the realtime service is told of it; `parameters` is a JSON schema. */
export type VoiceTool = {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Everything that a model session starts with. It has no memory of its own: each one gets all of it. */
export type SessionPlan = {
  readonly instructions: string
  /** What went before, oldest first: text, because audio cannot be seeded. `inner` is nobody's words. */
  readonly history: readonly { readonly role: 'caller' | 'delegate' | 'inner'; readonly text: string }[]
  readonly tools: readonly VoiceTool[]
  readonly voice: string
  readonly transcriptionModel: string
  /** ISO 639-1, where known: it makes the transcription better. */
  readonly language?: string | undefined
}

/** The agent, as far as a call needs it. Nothing here is awaited on the way of the audio. */
export type CallMind = {
  /**
   * Capsule, recent turns, tools and persona for a new session. Called at the start, after a loss and at each
   * rotation, so it must include what this very call said so far.
   */
  plan(signal: AbortSignal): Promise<SessionPlan>
  /**
   * Looks for memories while the caller speaks (`text` null) and once the words are known. Delimited text for
   * the model, or null. The signal aborts at the time budget; what comes later is not used.
   */
  recall(cue: { readonly text: string | null }, signal: AbortSignal): Promise<string | null>
  /** Runs a tool; a failure is told in the output, and a rejection becomes one. */
  runTool(
    call: { readonly callId: string; readonly name: string; readonly arguments: string },
    signal: AbortSignal,
  ): Promise<string>
  /** A response ended: for the turn's facts and the budgets. */
  responded(response: FinishedResponse): void
}

/**
 * Takes facts to be appended, in this order. Must return at once and never throw for a slow or broken disk: it
 * is called between two frames of audio.
 */
export type RecordFacts = (facts: readonly CallFact[]) => void

export type CallClock = {
  /** Monotonic: the wall clock may jump, a call must not. */
  nowMs(): number
  /** Wall time, to read the service's expiry. */
  epochMs(): number
  /** Runs `fn` regularly until the returned function is called. */
  every(intervalMs: number, fn: () => void): () => void
}

/** Ends a call at the provider. Settles within seconds, whatever the provider does. */
export type HangUp = (callSid: string, reason: EndReason) => Promise<void>

export type CallLog = (message: string, detail: string) => void
