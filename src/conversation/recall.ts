import type { NewEvent } from '../../ledger/event.ts'

/** What a turn or an activation is about, as the cue of passive recall. */
export type RecallCue = {
  readonly text: string
  readonly turnId: string
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly channel: 'chat' | 'voice' | 'sms' | 'inner'
  /** Only what was said before this may surface. */
  readonly beforeSeq: number
  /** What the model is given anyway, so that it is not given twice; it may still be being gathered. */
  readonly inContextSeqs: Iterable<number> | Promise<Iterable<number>>
}

/** What surfaced: lines for the model, the facts they repeat, and the facts to be recorded before anything of its turn counts. */
export type Recalled = {
  readonly text: string | null
  readonly seqs: readonly number[]
  readonly facts: readonly NewEvent[]
}

/** Passive recall, before every activation. Never rejects: without it the turn goes on. */
export type Recall = (cue: RecallCue) => Promise<Recalled>
