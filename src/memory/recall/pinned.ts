import type { MemoryQueries, MemoryRow } from '../../../projections/memory-queries.ts'
import { oneLine } from '../../lib/shorten.ts'
import { estimateTokens } from '../../model/tokens.ts'
import { memoryLine } from './injection.ts'

/** The pinned memories that a turn is given. */
export type PinnedLines = {
  /** One dated line a memory, in the order in which they were pinned; empty without any. */
  readonly text: string
  readonly tokens: number
  readonly memoryIds: readonly string[]
  readonly seqs: readonly number[]
  /** What they were learned from, and need not be recalled beside them. */
  readonly toldSeqs: readonly number[]
}

export type Pinned = ReturnType<typeof createPinned>

/** Pinned memories are given whole, before what is recalled, and within the same limit of tokens. */
export function createPinned(options: {
  readonly queries: Pick<MemoryQueries, 'pinned' | 'sources'>
  readonly maxTokens: () => number
  readonly timezone: () => string
}) {
  const { queries, maxTokens } = options

  const lineOf = ({ createdAt, status, text }: MemoryRow) =>
    memoryLine({ atMs: Date.parse(createdAt), status, text: oneLine(text ?? '') }, options.timezone())
  const tokensOf = (rows: readonly MemoryRow[]) =>
    rows.reduce((sum, row) => sum + estimateTokens(`${lineOf(row)}\n`), 0)

  return {
    /** What is used of the limit, which recalled memories share. */
    tokens: () => ({ used: tokensOf(queries.pinned()), limit: maxTokens() }),
    /** Whether a memory with these words may be pinned, in place of the pinned ones among `replacedIds`. */
    hasRoomFor(row: MemoryRow, replacedIds: readonly string[]): boolean {
      const others = queries.pinned().filter(({ memoryId }) => !replacedIds.includes(memoryId))
      return tokensOf([...others, row]) <= maxTokens()
    },
    /** Those that fit, in case the limit was lowered since, and that the context lacks. */
    lines(inContextSeqs: Iterable<number>): PinnedLines {
      const known = new Set(inContextSeqs)
      let tokens = 0
      const shown = queries.pinned().filter((row) => {
        const cost = tokensOf([row])
        const isShown = !known.has(row.storedSeq) && tokens + cost <= maxTokens()
        if (isShown) tokens += cost
        return isShown
      })
      return {
        text: shown.map(lineOf).join('\n'),
        tokens,
        memoryIds: shown.map(({ memoryId }) => memoryId),
        seqs: shown.map(({ storedSeq }) => storedSeq),
        toldSeqs: shown.flatMap(({ memoryId }) => queries.sources(memoryId)),
      }
    },
  }
}

export const NONE_PINNED: PinnedLines = { text: '', tokens: 0, memoryIds: [], seqs: [], toldSeqs: [] }
