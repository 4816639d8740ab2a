import { Cron } from 'croner'
import type { TimerRow } from '../../projections/timers.ts'

/** A recurrence that croner cannot parse, or that never occurs. */
export class InvalidRecurrence extends Error {
  override readonly name = 'InvalidRecurrence'
}

const cronOf = (recurrence: string, timezone: string) => new Cron(recurrence, { timezone, paused: true })

/** Rejects recurrences below a minute: croner reads a sixth field as seconds. Throws InvalidRecurrence. */
export function checkPace(recurrence: string): void {
  const [seconds = '', ...others] = recurrence.trim().split(/\s+/)
  if (others.length >= 5 && !/^\d{1,2}$/.test(seconds))
    throw new InvalidRecurrence(`“${recurrence}” repeats more often than once a minute.`)
}

/**
 * The first occurrence of a cron expression strictly after `after`; null if there is none. With one time per
 * day, daylight saving never drops or doubles an occurrence: a skipped local time moves to the next existing
 * one. With several times per day, skipped ones do not occur and repeated ones occur twice. Throws
 * InvalidRecurrence.
 */
export function nextOccurrence(recurrence: string, timezone: string, after: Date): Date | null {
  try {
    return cronOf(recurrence, timezone).nextRun(after)
  } catch (cause) {
    throw new InvalidRecurrence(
      `“${recurrence}” is not a recurrence: ${cause instanceof Error ? cause.message : ''}`,
      { cause },
    )
  }
}

/** Occurrences are counted up to this limit, for timers that are years late. */
const MAX_COUNTED = 1000

/** How many occurrences passed from `dueAt` to `now`, the last of them, and the next one. */
export function missedSince(
  { dueAt, recurrence, timezone }: Pick<TimerRow, 'dueAt' | 'recurrence' | 'timezone'>,
  now: Date,
): { readonly passed: number; readonly last: string; readonly nextAt: string | null } {
  if (recurrence === null) return { passed: 1, last: dueAt, nextAt: null }
  const cron = cronOf(recurrence, timezone)
  let passed = 1
  let last = new Date(dueAt)
  for (const at of cron.enumerate(last)) {
    if (at > now || passed === MAX_COUNTED) break
    passed += 1
    last = at
  }
  // An occurrence at `now` itself counts.
  if (passed === MAX_COUNTED) last = cron.previousRuns(1, new Date(now.getTime() + 1))[0] ?? last
  return { passed, last: last.toISOString(), nextAt: cron.nextRun(now)?.toISOString() ?? null }
}

/** At most `limit` occurrences of a timer up to a moment; the next one in any case. */
export function occurrencesUntil(
  { dueAt, recurrence, timezone }: Pick<TimerRow, 'dueAt' | 'recurrence' | 'timezone'>,
  until: Date,
  limit: number,
): readonly string[] {
  const found = [dueAt]
  if (recurrence === null) return found
  for (const at of cronOf(recurrence, timezone).enumerate(new Date(dueAt))) {
    if (at > until || found.length === limit) break
    found.push(at.toISOString())
  }
  return found
}
