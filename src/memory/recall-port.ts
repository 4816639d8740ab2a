import type { SuppressionReason } from './recall/injection.ts'
import type { Hit } from './recall/ranker.ts'
import type { Recollection } from './recall/recollections.ts'
import type { Near } from './recall/vectors.ts'

/** A hit that came too late for its turn. */
export type LateHit = Hit & {
  /** What was being said, where it was found by its meaning alone: its own words do not tell what it fits. */
  readonly foundFor?: string
}

/** Seqs as numbers side by side: a long list is handed to a thread, or compared, as so many bytes. */
export type SeqList = Float64Array<ArrayBuffer>

/** What recall is asked before a turn. */
export type RecallQuestion = {
  /** What is being said. */
  readonly text: string
  /** Who says it: "I" is the owner then. Null for what nobody said. */
  readonly asker: 'owner' | null
  readonly conversationId: string | null
  /** Only what was said, or stored, before this may surface. */
  readonly beforeSeq: number
  /** So many of the owner's messages before it belong to what is looked for. */
  readonly contextTurns: number
  /** What need not surface: the model has it before it. */
  readonly inContextSeqs: SeqList
  /** What came too late for the turns before: looked at again with what is found now. */
  readonly staged: readonly LateHit[]
  /** What is near by its meaning, where that is known by now. */
  readonly near?: readonly Near[]
  readonly nowMs: number
  readonly timezone: string
  /** What may be shown; see `MemoryConfig`. */
  readonly limits: {
    readonly maxTokens: number
    readonly maxMemories: number
    readonly threshold: number
    readonly duplicateThreshold: number
  }
  /** With the words of what fits well enough, for somebody to judge. */
  readonly withWords: boolean
}

/** A hit, and whether it had come too late for the turn that it was found for. */
export type Shown = Pick<Hit, 'seq' | 'kind'> & { readonly isLate: boolean }

/** What was found, and what of it is worth being shown: read, chosen and written down at one moment. */
export type RecallAnswer = {
  /** What was found now, the best first. */
  readonly hits: readonly Hit[]
  /** Lines for the model; empty to abstain. */
  readonly text: string
  readonly tokens: number
  /** The words of those that had been late. */
  readonly lateTokens: number
  /** The best first. */
  readonly shown: readonly Shown[]
  readonly left: readonly (Shown & { readonly reason: SuppressionReason })[]
  /** What of `hits` fits well enough to be shown, if words were asked for. */
  readonly judged: readonly Recollection[]
  /** The memories among the hits and what was staged, by seq. */
  readonly memoryIds: ReadonlyMap<number, string>
}

/** Recall over raw turns and memories alike. It runs in a worker thread; it may be late, and may fail. */
export type RecallPort = {
  /**
   * Resolves when the index has all that may surface before an event and is not in the context; `recall` itself does
   * not wait for it. Left out where there is nothing to wait for.
   */
  readonly indexed?: (beforeSeq: number, inContextSeqs: SeqList) => Promise<void>
  recall(question: RecallQuestion): Promise<RecallAnswer>
  /** Chooses again, from some hits and what was staged. */
  choose(question: RecallQuestion & { readonly hits: readonly Hit[] }): Promise<RecallAnswer>
}
