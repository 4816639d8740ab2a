import { createCallQueries } from '../../projections/calls.ts'
import { createOperationQueries } from '../../projections/operations.ts'
import { createTextQueries } from '../../projections/texts.ts'
import type { Storage } from '../storage/storage.ts'
import { createLastDay } from './last-day.ts'

/** Limits for any 24 hours, across all parties; null means no limit. */
export type DailyLimits = {
  /** Input and output tokens of turns, learning and compaction, as the model service counts them. */
  readonly tokens: number | null
  /** Sent texts. */
  readonly texts: number | null
  /** Accepted calls. */
  readonly calls: number | null
}

/**
 * Whether a daily budget is exhausted. It bounds the bill of a forged caller, a stolen session or a loop.
 * Counted from the ledger, so a restart does not reset it.
 */
export type Budgets = {
  tokensAreSpent(): boolean
  textsAreSpent(): boolean
  callsAreSpent(): boolean
}

export function createBudgets(options: {
  readonly storage: Pick<Storage, 'views' | 'ledger'>
  readonly limits: DailyLimits
  readonly nowMs: () => number
}): Budgets {
  const { limits, nowMs } = options
  const { views, ledger } = options.storage
  const lastDay = createLastDay({ ledger, nowMs })
  const operations = createOperationQueries(views)
  const texts = createTextQueries(views)
  const calls = createCallQueries(views)

  return {
    tokensAreSpent: () => limits.tokens !== null && lastDay(operations.tokensFrom) >= limits.tokens,
    textsAreSpent: () => limits.texts !== null && lastDay(texts.sentSince) >= limits.texts,
    callsAreSpent: () => limits.calls !== null && lastDay(calls.takenSince) >= limits.calls,
  }
}
