import { Cron } from 'croner'

/** A recurrence that croner cannot read, or that never comes. */
export class InvalidRecurrence extends Error {
  override readonly name = 'InvalidRecurrence'
}

/** Refuses what comes more than once a minute: a sixth field, which croner reads as seconds, may name one of them. */
export function checkPace(recurrence: string): void {
  const [seconds = '', ...others] = recurrence.trim().split(/\s+/)
  if (others.length >= 5 && !/^\d{1,2}$/.test(seconds))
    throw new InvalidRecurrence(`“${recurrence}” comes more than once a minute, which is the least.`)
}

/**
 * The first occurrence of a cron expression strictly after `after`, in the owner's time zone; null when there is
 * none any more. Where the expression names one time of the day, daylight saving changes nothing about how often it
 * comes: a local time that is skipped falls on the next one that exists, and one that is repeated occurs once. Of
 * several (a list, a range, a step, every hour), those that are skipped do not occur, and those that are repeated occur
 * each time. Throws InvalidRecurrence.
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

/** Occurrences counted at most: after a year away, "many" is all that anybody needs to know. */
const MAX_COUNTED = 1000
const FIRST_STEP_BACK_MS = 60_000

/** What a late timer owes: how many occurrences passed after `dueAt` up to `now`, and which comes next. */
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

/** The last occurrence up to `now`, of which `known` is one: looked for from `now` backwards, in ever longer steps. */
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

/** The first occurrence between two moments that is not passed over; null when there is none among so many. */
export function firstOccurrence(
  timer: { readonly recurrence: string; readonly timezone: string },
  between: { readonly after: Date; readonly before: Date },
  isPassedOver: (at: string) => boolean,
): Date | null {
  let last = between.after
  for (let tried = 0; tried < MAX_COUNTED; tried += 1) {
    const next = nextOccurrence(timer.recurrence, timer.timezone, last)
    if (!next || next >= between.before) return null
    if (!isPassedOver(next.toISOString())) return next
    last = next
  }
  return null
}
