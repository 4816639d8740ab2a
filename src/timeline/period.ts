import { addDays, dayIn, toInstant } from '../lib/time.ts'

/** Days as `YYYY-MM-DD`, inclusive. An absent day means no bound. `period` takes precedence over `from` and `to`. */
export type Days = {
  /** All of them include today. */
  readonly period?: 'today' | 'last_7_days' | 'last_30_days' | 'this_year' | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export type Period = {
  readonly from: string | null
  readonly to: string | null
  /** Inclusive start, ISO 8601 UTC. */
  readonly fromAt: string | null
  /** Exclusive end, ISO 8601 UTC. */
  readonly untilAt: string | null
}

/** Resolves days in a time zone, where a day may have 23 or 25 hours. */
export function periodOf(days: Days, here: { readonly nowMs: number; readonly timezone: string }): Period {
  const today = dayIn(here.timezone, here.nowMs)
  const named = days.period && { from: firstDay(days.period, today), to: today }
  const { from = null, to = null } = named ?? days
  const startOf = (day: string) => toInstant(day, here.timezone)?.toISOString() ?? null
  return { from, to, fromAt: from && startOf(from), untilAt: to && startOf(addDays(to, 1)) }
}

const DAYS_BEFORE = { today: 0, last_7_days: 6, last_30_days: 29 }

function firstDay(period: NonNullable<Days['period']>, today: string): string {
  return period === 'this_year' ? `${today.slice(0, 4)}-01-01` : addDays(today, -DAYS_BEFORE[period])
}
