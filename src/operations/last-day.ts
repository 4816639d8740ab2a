import type { LedgerReader } from '../../ledger/reader.ts'
import { DAY_MS } from '../lib/time.ts'

/** Counts entries dated `at` or later and after `afterSeq`. */
type CountFrom = (at: string, afterSeq: number) => number

/** Counts entries of the last 24 hours. */
export type LastDay = (countFrom: CountFrom) => number

/**
 * Entries dated in the future mean that the clock was ahead then, or is behind now. They count until a later
 * fact is a day old. So setting the clock back does not reset a budget, and a clock that was years ahead does
 * not block it for years.
 */
export function createLastDay(options: {
  readonly ledger: Pick<LedgerReader, 'lastSeqBefore'>
  readonly nowMs: () => number
}): LastDay {
  return (countFrom) => {
    const nowMs = options.nowMs()
    const dayAgo = new Date(nowMs - DAY_MS).toISOString()
    const later = new Date(nowMs + 1).toISOString()
    const all = countFrom(dayAgo, 0)
    const ahead = all === 0 ? 0 : countFrom(later, 0)
    return ahead === 0 ? all : all - ahead + countFrom(later, options.ledger.lastSeqBefore(dayAgo))
  }
}
