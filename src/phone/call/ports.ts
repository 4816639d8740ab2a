import type { CallFact, FinishedResponse } from './call-state.ts'
import type { Medium } from './medium.ts'

/** The caller's side of a call: an accepted socket of the provider. Media is base64, as the line's medium says. */
export type CallLine = {
  readonly callSid: string
  /** The provider's id of this line. */
  readonly streamSid: string
  readonly medium: Medium
  sendMedia(payload: string): void
  sendMark(name: string): void
  sendClear(): void
  /** Closes the line. The provider continues with the markup after it, which is for a call that was cut short. */
  close(call?: { readonly isOver: boolean }): void
  /** Bytes sent that have not left this machine. */
  readonly bufferedBytes: number
  /**
   * `timestampMs` counts from the start of the stream, by the provider's clock. `ended` can be called more
   * than once: with `stopped` when the provider ends the stream, with `closed` when the socket closes.
   */
  listen(handlers: {
    media(payload: string, timestampMs: number): void
    mark(name: string): void
    /** The caller pressed a key: 0 to 9, *, # or A to D. */
    key(key: string): void
    /** The line had broken and is back. */
    resumed?(): void
    ended(how: 'stopped' | 'closed'): void
  }): void
}

/** One socket to the realtime service. */
export type ModelSocket = {
  /** Does nothing unless the socket is open. */
  send(text: string): void
  close(): void
  readonly bufferedBytes: number
}

/**
 * Opens a socket to the realtime service. No handler is called before this returns. `closed` is called
 * exactly once, even if the socket never opened.
 */
export type ConnectModel = (handlers: {
  opened(): void
  message(text: string): void
  closed(detail: string): void
}) => ModelSocket

/** A tool as declared to the realtime service; `parameters` is a JSON schema. */
export type VoiceTool = {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** The full context of a new model session, which has no memory of earlier ones. */
export type SessionPlan = {
  readonly instructions: string
  /** Earlier words, oldest first, as text because audio cannot be seeded. `inner` is delimited data. */
  readonly history: readonly { readonly role: 'caller' | 'delegate' | 'inner'; readonly text: string }[]
  readonly tools: readonly VoiceTool[]
  readonly voice: string
  readonly transcriptionModel: string
}

/** The parts of the agent that a call needs. Audio waits for none of them. */
export type CallMind = {
  /**
   * Capsule, recent turns, tools and persona for a new session. Called at the start, after a loss and at each
   * rotation, so it must include this call's own words so far.
   */
  plan(signal: AbortSignal): Promise<SessionPlan>
  /**
   * Looks for memories, first while the caller speaks (`text` null) and again once the words are known.
   * Resolves with delimited text for the model, or null. A result after the signal aborts is dropped.
   */
  recall(cue: { readonly text: string | null }, signal: AbortSignal): Promise<string | null>
  /** Runs a tool and resolves with its output. A rejection is reported to the model as a failed tool. */
  runTool(
    call: { readonly callId: string; readonly name: string; readonly arguments: string },
    signal: AbortSignal,
  ): Promise<string>
  /** A response ended. Counts towards its turn and the budgets. */
  responded(response: FinishedResponse): void
}

/**
 * Queues facts to be appended in order. It is called between two frames of audio, so it must return at once
 * and must not throw if the disk is slow or fails.
 */
export type RecordFacts = (facts: readonly CallFact[]) => void

/** Ends a call at the provider. Settles within seconds even if the provider does not respond. */
export type HangUp = (callSid: string) => Promise<void>

export type CallLog = (message: string, detail: string) => void
