import { createCallQueries } from '../../projections/calls.ts'
import { createOperationQueries } from '../../projections/operations.ts'
import { createTextQueries } from '../../projections/texts.ts'
import { DAY_MS } from '../lib/time.ts'
import { isWithheld } from '../settings/party.ts'
import type { Storage } from '../storage/storage.ts'
import { rollingCount } from './rolling.ts'

/** Limits for any 24 hours, across all parties; null means no limit. */
export type DailyLimits = {
  /** Input and output tokens of turns, learning and compaction, as the model service counts them. */
  readonly tokens: number | null
  /** Sent texts. */
  readonly texts: number | null
  /** Accepted calls. */
  readonly calls: number | null
}

/** The share of the guests' total for one number, so that one guest cannot block all others. */
const SHARE_OF_A_NUMBER = 1 / 4
/** The minimum for one number: enough for a short exchange. */
const LEAST_OF_A_NUMBER = 3

/** Wrong PINs in all calls of 24 hours. Guessing one of four digits would take years. */
const WRONG_PINS = 10

/**
 * Whether a daily budget is exhausted. It bounds the bill of a forged caller, a stolen session or a loop.
 * Counted from the ledger, so a restart does not reset it.
 */
export function createBudgets(options: {
  readonly storage: Pick<Storage, 'views' | 'ledger'>
  readonly limits: DailyLimits
  /** GUEST_DAILY_MESSAGES. */
  readonly guestTotal: () => number
  readonly nowMs: () => number
}) {
  const { limits } = options
  const { views, ledger } = options.storage
  const operations = createOperationQueries(views)
  const texts = createTextQueries(views)
  const calls = createCallQueries(views)

  const lastDay = (countFrom: (at: string, afterSeq: number) => number) =>
    rollingCount({ ledger, nowMs: options.nowMs }, DAY_MS, countFrom)

  const guestsInLastDay = (isCounted: (number: string | null) => boolean) =>
    lastDay((at, afterSeq) => {
      const numbers = [...calls.guestNumbersSince(at, afterSeq), ...texts.guestNumbersSince(at, afterSeq)]
      return numbers.filter(isCounted).length
    })

  return {
    tokensAreSpent: () => limits.tokens !== null && lastDay(operations.tokensFrom) >= limits.tokens,
    textsAreSpent: () => limits.texts !== null && lastDay(texts.sentSince) >= limits.texts,
    /** Whether so many wrong PINs were entered that none is accepted now, not even the right one. */
    pinsAreSpent: () => lastDay(calls.refusedPinsSince) >= WRONG_PINS,
    callsAreSpent: () => limits.calls !== null && lastDay(calls.takenSince) >= limits.calls,
    /**
     * Whether guests' texts and calls exhaust this number's share or the total. All callers with a withheld
     * number share one budget.
     */
    guestIsSpent(number: string): boolean {
      const total = options.guestTotal()
      const share = Math.max(LEAST_OF_A_NUMBER, Math.ceil(total * SHARE_OF_A_NUMBER))
      const isSame = (other: string | null) =>
        other === number || (other !== null && isWithheld(other) && isWithheld(number))
      return guestsInLastDay(isSame) >= share || guestsInLastDay(() => true) >= total
    },
  }
}
