import type { Database } from 'better-sqlite3'
import { createCallQueries } from '../../projections/calls.ts'
import { createOperationQueries } from '../../projections/operations.ts'
import { createTextQueries } from '../../projections/texts.ts'

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

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

export function createBudgets(options: {
  readonly views: Database
  readonly limits: DailyLimits
  readonly nowMs: () => number
}): Budgets {
  const { views, limits, nowMs } = options
  const operations = createOperationQueries(views)
  const texts = createTextQueries(views)
  const calls = createCallQueries(views)
  const dayAgo = () => new Date(nowMs() - DAY_MS).toISOString()

  /** Counts are kept by the minute: the one that is running is among them. */
  function tokens(): number {
    const toMs = (Math.floor(nowMs() / MINUTE_MS) + 1) * MINUTE_MS
    const { inputTokens = 0, outputTokens = 0, otherTokens = 0 } = operations.counts(toMs - DAY_MS, toMs)
    return inputTokens + outputTokens + otherTokens
  }

  return {
    tokensAreSpent: () => limits.tokens !== null && tokens() >= limits.tokens,
    textsAreSpent: () => limits.texts !== null && texts.sentSince(dayAgo()) >= limits.texts,
    callsAreSpent: () => limits.calls !== null && calls.takenSince(dayAgo()) >= limits.calls,
  }
}
