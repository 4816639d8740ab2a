import type { LedgerReader } from '../../ledger/reader.ts'

const DAY_MS = 24 * 60 * 60_000

/** How many there are that are dated from a moment on and come after a seq. */
type CountFrom = (at: string, afterSeq: number) => number

/** How much was done in the last 24 hours, by the facts that tell of it. */
export type LastDay = (countFrom: CountFrom) => number

/**
 * What is dated later than now was done while the clock was ahead, or the clock is behind now. It counts for as long as
 * it may have been within the last 24 hours: until something that came after it is a day old. So a clock that is set
 * back forgives nothing, and one that was years ahead spends nothing for years.
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
