import { createCallQueries } from '../../projections/calls.ts'
import { createOperationQueries } from '../../projections/operations.ts'
import { createTextQueries } from '../../projections/texts.ts'
import type { Storage } from '../storage/storage.ts'
import { createLastDay } from './last-day.ts'

/** What may be spent in any 24 hours, by whomever; null where there is no limit. */
export type DailyLimits = {
  /** Tokens, in and out, as the model service counts them: of turns, of learning from them, of shortening the context. */
  readonly tokens: number | null
  /** Texts that leave. */
  readonly texts: number | null
  /** Calls that are taken. */
  readonly calls: number | null
}

/**
 * Whether the budget of a day is spent: a forged caller, a stolen session or a loop must not run up a bill without
 * end. Told from the ledger, so a restart forgives nothing.
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
