import { dayIn } from '../lib/day.ts'
import { toInstant } from '../lib/time.ts'

/** Days as `YYYY-MM-DD`, inclusive. An absent day means no bound. */
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
  /** Exclusive end. */
  readonly untilAt: string | null
}

/** Resolves days in a time zone, where a day may have 23 or 25 hours. */
export function periodOf(days: Days, here: { readonly nowMs: number; readonly timezone: string }): Period {
  const { from, to } = named(days, here)
  const startOf = (day: string) => toInstant(`${day}T00:00`, here.timezone)?.toISOString() ?? null
  return {
    from,
    to,
    fromAt: from === null ? null : startOf(from),
    // ISO 8601 has no later day.
    untilAt: to === null || to === LAST_DAY ? null : startOf(addDays(to, 1)),
  }
}

const LAST_DAY = '9999-12-31'

function named(
  { period, from, to }: Days,
  { nowMs, timezone }: { readonly nowMs: number; readonly timezone: string },
): { from: string | null; to: string | null } {
  if (period === undefined) return { from: from ?? null, to: to ?? null }
  const today = dayIn(timezone, nowMs)
  switch (period) {
    case 'today':
      return { from: today, to: today }
    case 'last_7_days':
      return { from: addDays(today, -6), to: today }
    case 'last_30_days':
      return { from: addDays(today, -29), to: today }
    case 'this_year':
      return { from: `${today.slice(0, 4)}-01-01`, to: today }
  }
}

function addDays(day: string, count: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + count)
  return date.toISOString().slice(0, 10)
}
