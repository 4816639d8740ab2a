import type { Hit } from './recall/ranker.ts'

/** What recall is asked before a turn. */
export type RecallQuery = {
  /** The words to go by: what is being said, and a little of what was said before it. */
  readonly text: string
  /** Who says it: "I" is the owner then. Null for what nobody said. */
  readonly asker: 'owner' | null
  /** Only what was said, or stored, before this may surface. */
  readonly beforeSeq: number
  /** What need not surface: the context holds it. */
  readonly excludedSeqs: ReadonlySet<number>
  readonly nowMs: number
  readonly timezone: string
  readonly limit: number
}

/** Recall over raw turns and memories alike, best first. It runs in a worker thread; it may be late, and may fail. */
export type RecallPort = (query: RecallQuery) => Promise<readonly Hit[]>
