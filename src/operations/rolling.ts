import type { LedgerReader } from '../../ledger/reader.ts'

/**
 * Counts entries of the last `windowMs`; `countFrom` counts those dated `at` or later and after `afterSeq`.
 * Entries dated in the future mean that the clock was ahead then, or is behind now. They count until a later
 * fact is older than the window. So setting the clock back does not reset a budget, and a clock that was
 * years ahead does not block it for years. `grainMs` is the width of the entries.
 */
export function rollingCount(
  clock: { readonly ledger: Pick<LedgerReader, 'lastSeqBefore'>; readonly nowMs: () => number },
  windowMs: number,
  countFrom: (at: string, afterSeq: number) => number,
  grainMs = 1,
): number {
  const nowMs = clock.nowMs()
  const from = new Date(nowMs - windowMs).toISOString()
  const later = new Date(nowMs + grainMs).toISOString()
  const all = countFrom(from, 0)
  const ahead = all === 0 ? 0 : countFrom(later, 0)
  return ahead === 0 ? all : all - ahead + countFrom(later, clock.ledger.lastSeqBefore(from))
}
