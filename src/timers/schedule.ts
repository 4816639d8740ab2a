import { Cron } from 'croner'

/** A recurrence that croner cannot parse, or that never occurs. */
export class InvalidRecurrence extends Error {
  override readonly name = 'InvalidRecurrence'
}

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
    return new Cron(recurrence, { timezone, paused: true }).nextRun(after)
  } catch (cause) {
    throw new InvalidRecurrence(
      `“${recurrence}” is not a recurrence: ${cause instanceof Error ? cause.message : ''}`,
      { cause },
    )
  }
}

/** Occurrences are counted up to this limit, for timers that are years late. */
const MAX_COUNTED = 1000
const FIRST_STEP_BACK_MS = 60_000

/** How many occurrences passed from `dueAt` to `now`, the last of them, and the next one. */
export function missedSince(
  timer: { readonly dueAt: string; readonly recurrence: string | null; readonly timezone: string },
  now: Date,
): { readonly passed: number; readonly last: string; readonly nextAt: string | null } {
  if (timer.recurrence === null) return { passed: 1, last: timer.dueAt, nextAt: null }
  let passed = 1
  let last = new Date(timer.dueAt)
  for (;;) {
    const next = nextOccurrence(timer.recurrence, timer.timezone, last)
    if (!next) return { passed, last: last.toISOString(), nextAt: null }
    if (next > now) return { passed, last: last.toISOString(), nextAt: next.toISOString() }
    passed += 1
    last = next
    if (passed >= MAX_COUNTED) {
      return {
        passed,
        last: lastUpTo(now, last, timer.recurrence, timer.timezone).toISOString(),
        nextAt: nextOccurrence(timer.recurrence, timer.timezone, now)?.toISOString() ?? null,
      }
    }
  }
}

/** The last occurrence up to `now`, at or after `known`. Searches backwards from `now` in doubling steps. */
function lastUpTo(now: Date, known: Date, recurrence: string, timezone: string): Date {
  let last = known
  for (
    let backMs = FIRST_STEP_BACK_MS;
    last === known && now.getTime() - backMs > known.getTime();
    backMs *= 2
  ) {
    const after = new Date(now.getTime() - backMs)
    for (let next = nextOccurrence(recurrence, timezone, after); next && next <= now; ) {
      last = next
      next = nextOccurrence(recurrence, timezone, last)
    }
  }
  return last
}

/** The first occurrence between two instants that is not skipped; null after MAX_COUNTED tries. */
export function firstOccurrence(
  timer: { readonly recurrence: string; readonly timezone: string },
  between: { readonly after: Date; readonly before: Date },
  isSkipped: (at: string) => boolean,
): Date | null {
  let last = between.after
  for (let tried = 0; tried < MAX_COUNTED; tried += 1) {
    const next = nextOccurrence(timer.recurrence, timer.timezone, last)
    if (!next || next >= between.before) return null
    if (!isSkipped(next.toISOString())) return next
    last = next
  }
  return null
}
