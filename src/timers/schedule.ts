import { Cron } from 'croner'
import type { TimerRow } from '../../projections/timers.ts'
import { addDays, DAY_MS, dayIn, fromWallClock, toInstant, wallClockMs } from '../lib/time.ts'

/** A recurrence that croner cannot parse, or that never occurs. */
export class InvalidRecurrence extends Error {
  override readonly name = 'InvalidRecurrence'
}

/** A step in the field for days, months or weekdays: `*%2`, `4%2`, and once it is set `4%2+1`. */
const STEP = /^(.+)%([1-9]\d?)(?:\+(\d{1,2}))?$/

/** What a step counts, since 1970, of a day that is given as a wall clock. Weeks begin on Monday. */
const COUNTS: Readonly<Record<number, (wallMs: number) => number>> = {
  2: (wallMs) => Math.floor(wallMs / DAY_MS),
  3: (wallMs) => (new Date(wallMs).getUTCFullYear() - 1970) * 12 + new Date(wallMs).getUTCMonth(),
  4: (wallMs) => Math.floor((wallMs / DAY_MS + 3) / 7),
}

/** The last day of a recurrence: `0 8 * * * until 2026-12-03`. */
const UNTIL = /\suntil (\d{4}-\d{2}-\d{2})$/

/** The fields of a recurrence, and its last day if it has one. */
function fieldsOf(recurrence: string) {
  const [ending = '', lastDay = null] = UNTIL.exec(recurrence.trim()) ?? []
  const plain = recurrence.trim()
  const fields = plain
    .slice(0, plain.length - ending.length)
    .trim()
    .split(/\s+/)
  return { fields, lastDay, ending }
}

/** So many days that do not count are skipped at most. */
const MAX_SKIPPED = 1000

/**
 * A cron expression, extended by a last day, and by steps over days, months and weeks, which cron lacks: `0 9 * * 4%2`
 * is every second Thursday. fugit's notation for weeks. Without its `+`, a step lets every day pass.
 */
function scheduleOf(recurrence: string, timezone: string) {
  const { fields, lastDay, ending } = fieldsOf(recurrence)
  if (lastDay !== null && toInstant(lastDay, timezone) === null)
    throw new RangeError(`${lastDay} is not a day`)
  const end = lastDay === null ? null : toInstant(addDays(lastDay, 1), timezone)
  const steps = fields.flatMap((field, index) => {
    const [, base = '', every, phase] = STEP.exec(field) ?? []
    const count = fields.length === 5 ? COUNTS[index] : undefined
    return count && every ? [{ index, base, count, every: Number(every), phase }] : []
  })
  const plain = steps.reduce((left, { index, base }) => left.with(index, base), fields)
  const cron = new Cron(plain.join(' '), { timezone, paused: true })

  const isOn = (at: Date) =>
    steps.every(
      ({ count, every, phase }) =>
        phase === undefined || (count(wallClockMs(at, timezone)) - Number(phase)) % every === 0,
    )

  /** The first occurrence after a moment; null if there is none. */
  function next(after: Date): Date | null {
    let at = cron.nextRun(after)
    for (let skipped = 0; at !== null && !isOn(at); skipped += 1) {
      if (skipped === MAX_SKIPPED) return null
      const midnight = (Math.floor(wallClockMs(at, timezone) / DAY_MS) + 1) * DAY_MS
      at = cron.nextRun(new Date(fromWallClock(midnight, timezone).getTime() - 1))
    }
    return at !== null && (end === null || at < end) ? at : null
  }

  return {
    next,
    *after(start: Date) {
      for (let at = next(start); at !== null; at = next(at)) yield at
    },
    /** The last occurrence before a moment, if it is not too far back. */
    before(moment: Date) {
      const last = end !== null && end < moment ? end : moment
      return cron.previousRuns(steps.length > 0 ? MAX_SKIPPED : 1, last).find(isOn)
    },
    /** The expression whose steps count from a day. Those that count from one already stay. */
    from: (day: Date): string =>
      steps
        .filter(({ phase }) => phase === undefined)
        .reduce(
          (left, { index, count, every }) =>
            left.with(index, `${left[index]}+${count(wallClockMs(day, timezone)) % every}`),
          fields,
        )
        .join(' ') + ending,
  }
}

/** Rejects recurrences below a minute: croner reads a sixth field as seconds. Throws InvalidRecurrence. */
export function checkPace(recurrence: string): void {
  const [seconds = '', ...others] = fieldsOf(recurrence).fields
  if (others.length >= 5 && !/^\d{1,2}$/.test(seconds))
    throw new InvalidRecurrence(`“${recurrence}” repeats more often than once a minute.`)
}

/**
 * The first occurrence of a recurrence strictly after `after`; null if there is none. With one time per
 * day, daylight saving never drops or doubles an occurrence: a skipped local time moves to the next existing
 * one. With several times per day, skipped ones do not occur and repeated ones occur twice. Throws
 * InvalidRecurrence.
 */
export function nextOccurrence(recurrence: string, timezone: string, after: Date): Date | null {
  try {
    return scheduleOf(recurrence, timezone).next(after)
  } catch (cause) {
    throw new InvalidRecurrence(
      `“${recurrence}” is not a recurrence: ${cause instanceof Error ? cause.message : ''}`,
      { cause },
    )
  }
}

/** Whether a moment comes after the last day of a recurrence. */
export function isBeyondEnd(at: Date, recurrence: string | null, timezone: string): boolean {
  const lastDay = recurrence === null ? null : fieldsOf(recurrence).lastDay
  return lastDay !== null && dayIn(timezone, at) > lastDay
}

/** The recurrence that is stored: “every second Thursday” counts from a first one. */
export function countedFrom(first: Date, recurrence: string, timezone: string): string {
  return scheduleOf(recurrence, timezone).from(first)
}

/** Occurrences are counted up to this limit, for timers that are years late. */
const MAX_COUNTED = 1000

/** How many occurrences passed from `dueAt` to `now`, the last of them, and the next one. */
export function missedSince(
  { dueAt, recurrence, timezone }: Pick<TimerRow, 'dueAt' | 'recurrence' | 'timezone'>,
  now: Date,
): { readonly passed: number; readonly last: string; readonly nextAt: string | null } {
  if (recurrence === null) return { passed: 1, last: dueAt, nextAt: null }
  const schedule = scheduleOf(recurrence, timezone)
  let passed = 1
  let last = new Date(dueAt)
  for (const at of schedule.after(last)) {
    if (at > now || passed === MAX_COUNTED) break
    passed += 1
    last = at
  }
  // An occurrence at `now` itself counts.
  if (passed === MAX_COUNTED) last = schedule.before(new Date(now.getTime() + 1)) ?? last
  return { passed, last: last.toISOString(), nextAt: schedule.next(now)?.toISOString() ?? null }
}

/** At most `limit` occurrences of a timer up to a moment; the next one in any case. */
export function occurrencesUntil(
  { dueAt, recurrence, timezone }: Pick<TimerRow, 'dueAt' | 'recurrence' | 'timezone'>,
  until: Date,
  limit: number,
): readonly string[] {
  const found = [dueAt]
  if (recurrence === null) return found
  for (const at of scheduleOf(recurrence, timezone).after(new Date(dueAt))) {
    if (at > until || found.length === limit) break
    found.push(at.toISOString())
  }
  return found
}
