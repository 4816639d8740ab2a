import type { Database } from 'better-sqlite3'
import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import { createHiddenQuery } from '../../projections/erasures.ts'

/**
 * A reader for everything except erasing: hidden events read as erased, so no caller needs a separate check.
 * Raw rows (`rowAt`, `rowsAfter`) are unchanged.
 */
export function veilLedger(ledger: LedgerReader, views: Database): LedgerReader {
  const hiddenNow = createHiddenQuery(views)

  function veiled(events: AnyEvent[]): AnyEvent[] {
    const isHidden = events.length === 0 ? null : hiddenNow()
    if (!isHidden) return events
    return events.map((event) => {
      if (!('body' in event) || event.body === null || !isHidden(event.seq)) return event
      return { ...event, body: null, erased: true }
    })
  }

  return {
    ...ledger,
    readAfter: (seq, limit) => veiled(ledger.readAfter(seq, limit)),
    readOfTypes: (types, range) => veiled(ledger.readOfTypes(types, range)),
    readRange: (fromSeq, toSeq) => veiled(ledger.readRange(fromSeq, toSeq)),
    readSeqs: (seqs) => veiled(ledger.readSeqs(seqs)),
    outlinesOf(seqs) {
      const isHidden = hiddenNow()
      const events = ledger.outlinesOf(seqs)
      return isHidden
        ? events.map((event) => (isHidden(event.seq) ? { ...event, erased: true } : event))
        : events
    },
  }
}
