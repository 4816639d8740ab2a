import type { Database } from 'better-sqlite3'
import type { StoredText } from '../../ledger/codec.ts'
import type { EventHeader } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { createHiddenQuery } from '../../projections/erasures.ts'

/**
 * A reader for everything except erasing: hidden events read as erased, so no caller needs a separate check.
 * Raw rows (`rowAt`, `rowsAfter`) are unchanged.
 */
export function veilLedger(ledger: LedgerReader, views: Database): LedgerReader {
  const hiddenNow = createHiddenQuery(views)

  function veiled<E extends EventHeader>(events: E[]): E[] {
    const isHidden = events.length === 0 ? null : hiddenNow()
    if (!isHidden) return events
    return events.map((event) => {
      if (!('body' in event) || event.body === null || !isHidden(event.seq)) return event
      return { ...event, body: null, erased: true }
    })
  }

  function veiledTexts(texts: StoredText[]): StoredText[] {
    const isHidden = hiddenNow()
    return isHidden ? texts.map((text) => (isHidden(text.seq) ? { ...text, body: null } : text)) : texts
  }

  return {
    ...ledger,
    readAfter: (seq, limit) => veiled(ledger.readAfter(seq, limit)),
    readTypesAfter: (types, seq, limit) => veiled(ledger.readTypesAfter(types, seq, limit)),
    readOfTypes: (types, range) => veiled(ledger.readOfTypes(types, range)),
    readRange: (fromSeq, toSeq) => veiled(ledger.readRange(fromSeq, toSeq)),
    readSeqs: (seqs) => veiled(ledger.readSeqs(seqs)),
    textRanges: (ranges) => veiledTexts(ledger.textRanges(ranges)),
  }
}
