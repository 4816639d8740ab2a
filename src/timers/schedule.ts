import { Cron } from 'croner'

/** A recurrence that croner cannot read, or that never comes. */
export class InvalidRecurrence extends Error {
  override readonly name = 'InvalidRecurrence'
}

/**
 * The first occurrence of a cron expression strictly after `after`, in the owner's time zone; null when there is
 * none any more. A local time that daylight saving skips falls on the next one that exists; one that it repeats
 * occurs once. Throws InvalidRecurrence.
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
        last: last.toISOString(),
        nextAt: nextOccurrence(timer.recurrence, timer.timezone, now)?.toISOString() ?? null,
      }
    }
  }
}
