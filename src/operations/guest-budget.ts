import { createCallQueries } from '../../projections/calls.ts'
import { createTextQueries } from '../../projections/texts.ts'
import { isWithheld } from '../settings/party.ts'
import type { Storage } from '../storage/storage.ts'
import { createLastDay } from './last-day.ts'

/** The share of the daily total for one number, so that one guest cannot block all others. */
const SHARE_OF_A_NUMBER = 1 / 4
/** The minimum for one number: enough for a short exchange. */
const LEAST_OF_A_NUMBER = 3

export type GuestBudget = {
  /**
   * Whether guests' texts and calls of the last 24 hours exhaust this number's share or the total. All
   * callers with a withheld number share one budget.
   */
  isSpent(number: string): boolean
}

/** Counts from the ledger, so a restart resets nothing. `dailyTotal` is GUEST_DAILY_MESSAGES. */
export function createGuestBudget(options: {
  readonly storage: Pick<Storage, 'views' | 'ledger'>
  readonly dailyTotal: () => number
  readonly nowMs: () => number
}): GuestBudget {
  const { storage, dailyTotal, nowMs } = options
  const lastDay = createLastDay({ ledger: storage.ledger, nowMs })
  const calls = createCallQueries(storage.views)
  const texts = createTextQueries(storage.views)

  function countInLastDay(isCounted: (number: string | null) => boolean): number {
    return lastDay(
      (at, afterSeq) =>
        [...calls.guestNumbersSince(at, afterSeq), ...texts.guestNumbersSince(at, afterSeq)].filter(isCounted)
          .length,
    )
  }

  return {
    isSpent(number) {
      const total = dailyTotal()
      const share = Math.max(LEAST_OF_A_NUMBER, Math.ceil(total * SHARE_OF_A_NUMBER))
      const isSame = (other: string | null) =>
        other === number || (other !== null && isWithheld(other) && isWithheld(number))
      return countInLastDay(isSame) >= share || countInLastDay(() => true) >= total
    },
  }
}
