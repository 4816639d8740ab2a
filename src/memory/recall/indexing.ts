import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { createStandingQuery } from '../../../projections/checkpoints.ts'
import { ENTRY_TYPES, recallProjection } from '../../../projections/recall-index.ts'

/** With more unindexed events than this, catch up without checking each one. */
const MAX_CHECKED = 100

/**
 * Waits until the recall index has everything that may surface before an event. In a busy conversation, the
 * unindexed turns are usually in the model's context anyway. Waiting for those would cost every turn a round
 * trip to the storage thread.
 */
export function createIndexing(options: {
  readonly views: Database
  readonly ledger: LedgerReader
  readonly catchUp: () => Promise<void>
}): (beforeSeq: number, inContextSeqs: readonly number[]) => Promise<void> {
  const { views, ledger, catchUp } = options
  const indexedSeq = createStandingQuery(views, recallProjection.name)

  function isMissing(beforeSeq: number, inContextSeqs: readonly number[]): boolean {
    const firstSeq = indexedSeq() + 1
    const lastSeq = Math.min(beforeSeq - 1, ledger.head().seq)
    if (lastSeq < firstSeq) return false
    if (lastSeq - firstSeq >= MAX_CHECKED) return true
    const missing = ledger.seqsOf(ENTRY_TYPES, { firstSeq, lastSeq })
    // Recent events are at the end of the context.
    return missing.some((seq) => inContextSeqs.lastIndexOf(seq) < 0)
  }

  return async (beforeSeq, inContextSeqs) => {
    if (isMissing(beforeSeq, inContextSeqs)) await catchUp()
  }
}
