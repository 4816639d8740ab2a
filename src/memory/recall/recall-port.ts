import type { MemoryConfig } from '../config.ts'
import type { SuppressionReason } from './injection.ts'
import type { Hit, RecallRequest } from './ranker.ts'
import type { Recollection } from './recollections.ts'

/** A hit that came too late for its turn. */
export type LateHit = Hit & {
  /** The cue of a hit found only by embeddings. Its own words cannot show whether it fits the next cue. */
  readonly foundFor?: string
}

export type RecallQuestion = Omit<RecallRequest, 'context' | 'excludedSeqs' | 'names'> & {
  readonly conversationId: string | null
  /** How many earlier messages of the owner to add to the cue. */
  readonly contextTurns: number
  /** Seqs to leave out because the model's context already has them. */
  readonly inContextSeqs: readonly number[]
  /** Turns that the pinned memories already tell. */
  readonly toldSeqs?: readonly number[]
  /** Late hits of earlier turns, to be reconsidered together with the new ones. */
  readonly staged: readonly LateHit[]
  readonly config: MemoryConfig
  /** Whether to fill `judged`, for an arbitrator. */
  readonly withWords: boolean
}

/** What became of a hit, and whether it was late for the turn that asked for it. */
type Ended = Pick<Hit, 'seq' | 'kind' | 'memoryId'> & { readonly isLate: boolean }

/** The hits, and the lines chosen from them, from one state of the views. */
export type RecallAnswer = {
  /** New hits, best first. */
  readonly hits: readonly Hit[]
  /** Lines for the model; empty if nothing is worth showing. */
  readonly text: string
  readonly shown: readonly (Ended & { readonly tokens: number })[]
  /** The events quoted in the lines. */
  readonly shownSeqs: readonly number[]
  readonly left: readonly (Ended & { readonly reason: SuppressionReason })[]
  /** The hits above the threshold, with their text, if `withWords` was set. */
  readonly judged: readonly Recollection[]
}

/** Recall over turns and memories. It runs in a worker thread, so it may be late or fail. */
export type RecallPort = {
  /**
   * Resolves when everything before `beforeSeq` is in the index or in the context. `recall` does not wait for
   * it.
   */
  readonly indexed?: (beforeSeq: number, inContextSeqs: readonly number[]) => Promise<void>
  recall(question: RecallQuestion): Promise<RecallAnswer>
  /** Chooses again from the given hits and the staged ones. */
  choose(question: RecallQuestion & { readonly hits: readonly Hit[] }): Promise<RecallAnswer>
}
