import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../ledger/reader.ts'
import { createStandingQuery } from '../../projections/checkpoints.ts'
import { ENTRY_TYPES, recallProjection } from '../../projections/recall-index.ts'
import type { SeqList } from './recall-port.ts'

/** Facts not yet indexed that are looked at one by one; with more, the index is worth catching up anyway. */
const MAX_LOOKED_AT = 100

/**
 * Waits until the index of recall has all that may surface before an event. The index lags, and a conversation that
 * goes on without a pause always has its last turns still to be indexed; but those the model is given anyway, and to
 * wait for them would cost each of its turns a trip to the storage thread.
 */
export function createIndexing(options: {
  readonly views: Database
  readonly ledger: LedgerReader
  readonly catchUp: () => Promise<void>
}): (beforeSeq: number, inContextSeqs: SeqList) => Promise<void> {
  const { views, ledger, catchUp } = options
  const indexedSeq = createStandingQuery(views, recallProjection.name)

  function isMissed(beforeSeq: number, inContextSeqs: SeqList): boolean {
    const firstSeq = indexedSeq() + 1
    const lastSeq = Math.min(beforeSeq - 1, ledger.head().seq)
    if (lastSeq < firstSeq) return false
    if (lastSeq - firstSeq >= MAX_LOOKED_AT) return true
    const missing = ledger.seqsOf(ENTRY_TYPES, { firstSeq, lastSeq })
    // What is said last comes last in the context.
    return missing.some((seq) => inContextSeqs.lastIndexOf(seq) < 0)
  }

  return async (beforeSeq, inContextSeqs) => {
    if (isMissed(beforeSeq, inContextSeqs)) await catchUp()
  }
}
