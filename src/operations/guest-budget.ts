import { createCallQueries } from '../../projections/calls.ts'
import { createTextQueries } from '../../projections/texts.ts'
import { isWithheld } from '../channels/telephony/party.ts'
import type { Storage } from '../storage/storage.ts'
import { createLastDay } from './last-day.ts'

/** What one number may take of the day's total, so that one stranger cannot silence all others. */
const SHARE_OF_A_NUMBER = 1 / 4
/** However small the total is: enough to ask something and to reply. */
const LEAST_OF_A_NUMBER = 3

export type GuestBudget = {
  /**
   * Whether the texts and calls of strangers in the last 24 hours use up what this number may have, or what all
   * numbers may have together. Callers who withhold their number count as one.
   */
  isSpent(number: string): boolean
}

/** Counted from the ledger, so a restart forgives nothing. `dailyTotal` is the setting GUEST_DAILY_MESSAGES. */
export function createGuestBudget(options: {
  readonly storage: Pick<Storage, 'views' | 'ledger'>
  readonly dailyTotal: () => number
  readonly nowMs: () => number
}): GuestBudget {
  const { storage, dailyTotal, nowMs } = options
  const lastDay = createLastDay({ ledger: storage.ledger, nowMs })
  const calls = createCallQueries(storage.views)
  const texts = createTextQueries(storage.views)

  function inADay(isCounted: (number: string | null) => boolean): number {
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
      return inADay(isSame) >= share || inADay(() => true) >= total
    },
  }
}
