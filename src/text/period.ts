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

function firstDay(period: NonNullable<Days['period']>, today: string): string {
  switch (period) {
    case 'today':
      return today
    case 'last_7_days':
      return addDays(today, -6)
    case 'last_30_days':
      return addDays(today, -29)
    case 'this_year':
      return `${today.slice(0, 4)}-01-01`
  }
}
