import type { LedgerReader } from '../../ledger/reader.ts'
import type { TimerRow } from '../../projections/timers.ts'

export type TimerWords = ReturnType<typeof createTimerWords>

/** Reads the words of timers. */
export function createTimerWords(ledger: LedgerReader) {
  /** The event with the title, which may be erased. */
  function wordsOf({ setSeq }: TimerRow) {
    const [event] = ledger.readSeqs([setSeq])
    return event?.type === 'timer.set' || event?.type === 'timer.changed' ? event : undefined
  }

  return {
    wordsOf,
    titleOf: (row: TimerRow): string => wordsOf(row)?.body?.title ?? '',
    /** `hidden`: the words wait to be erased, and may still be restored. */
    stateOf({ setSeq }: TimerRow): 'readable' | 'hidden' | 'erased' {
      const [set] = ledger.readSeqs([setSeq])
      if (!set?.erased) return 'readable'
      return ledger.rowAt(setSeq)?.body == null ? 'erased' : 'hidden'
    },
  }
}

/** The fact that cancels a timer. */
export function cancelled({ timerId, setSeq }: TimerRow, by: TimerRow['by']) {
  return {
    type: 'timer.cancelled',
    key: `timer-cancelled:${timerId}`,
    facts: { timerId, by, setSeq },
  } as const
}
