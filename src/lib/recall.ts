import type { NewEvent } from '../../ledger/event.ts'

/** The cue of passive recall: what a turn or an activation is about. */
export type RecallCue = {
  readonly text: string
  readonly turnId: string
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly channel: 'chat' | 'voice' | 'sms' | 'inner'
  /** Only earlier facts can surface. */
  readonly beforeSeq: number
  /** Facts in the context, which recall leaves out. */
  readonly inContextSeqs: Iterable<number>
}

/** The recalled text, the facts that it repeats, and facts to record before the turn takes effect. */
export type Recalled = {
  readonly text: string | null
  readonly seqs: readonly number[]
  readonly facts: readonly NewEvent[]
}

/** Passive recall, before every turn. Never rejects: a turn works without it. */
export type Recall = (cue: RecallCue) => Promise<Recalled>
