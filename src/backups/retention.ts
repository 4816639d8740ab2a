import { addDays, DAY_MS, dayIn, dayOf, fromWallClock, wallClockMs } from '../lib/time.ts'

/** How many days, weeks and months keep their newest backup. */
export type Keep = { readonly daily: number; readonly weekly: number; readonly monthly: number }
/** When a backup is made each day, in the owner's time zone. */
export type Schedule = { readonly hour: number; readonly timezone: string }

type Backup = { readonly name: string; readonly createdAt: string }
/** The calendar day, the first day of its week (ISO 8601) and the month. */
type Dated = { readonly name: string; readonly day: string; readonly week: string; readonly month: string }

const HOUR_MS = 60 * 60_000

function dated({ name, createdAt }: Backup, timezone: string): Dated {
  const day = dayIn(timezone, Date.parse(createdAt))
  const sinceMonday = (new Date(day).getUTCDay() + 6) % 7
  return { name, day, week: addDays(day, -sinceMonday), month: day.slice(0, 7) }
}

/** The newest backup of each of the last days, weeks and months that have one. `backups` are newest first. */
function newestOfEach<B extends Dated>(backups: readonly B[], keep: Keep): B[] {
  const kept = new Set<B>()
  for (const [period, count] of [
    ['day', keep.daily],
    ['week', keep.weekly],
    ['month', keep.monthly],
  ] as const) {
    const seen = new Set<string>()
    for (const backup of backups) {
      if (seen.size === count) break
      if (!seen.has(backup[period])) kept.add(backup)
      seen.add(backup[period])
    }
  }
  return backups.filter((backup) => kept.has(backup))
}

/** The names of the existing backups that the rule keeps. */
export function keptOf(backups: readonly Backup[], keep: Keep, timezone: string): ReadonlySet<string> {
  return new Set(newestOfEach(newestFirst(backups, timezone), keep).map(({ name }) => name))
}

function newestFirst(backups: readonly Backup[], timezone: string): Dated[] {
  return backups
    .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
    .map((backup) => dated(backup, timezone))
}

/** When the last of `names` is removed, if a backup is made every day from now on. */
export function lastExpiry(
  names: ReadonlySet<string>,
  backups: readonly Backup[],
  { keep, schedule, nowMs }: { readonly keep: Keep; readonly schedule: Schedule; readonly nowMs: number },
): string {
  let left = newestFirst(backups, schedule.timezone)
  for (let at = nextDue(nowMs, schedule); ; at = nextDue(at.getTime(), schedule)) {
    const createdAt = at.toISOString()
    left = newestOfEach([dated({ name: createdAt, createdAt }, schedule.timezone), ...left], keep)
    if (!left.some(({ name }) => names.has(name))) return createdAt
  }
}

/** The last time that a backup was due, at or before now. */
export function lastDue(nowMs: number, { hour, timezone }: Schedule): Date {
  const today = dueOn(dayOf(wallClockMs(nowMs, timezone)), hour, timezone)
  if (today.getTime() <= nowMs) return today
  return dueOn(dayOf(wallClockMs(nowMs, timezone) - DAY_MS), hour, timezone)
}

/** The first time after now that a backup is due. */
export function nextDue(nowMs: number, { hour, timezone }: Schedule): Date {
  const last = lastDue(nowMs, { hour, timezone })
  return dueOn(addDays(dayIn(timezone, last), 1), hour, timezone)
}

function dueOn(day: string, hour: number, timezone: string): Date {
  return fromWallClock(Date.parse(day) + hour * HOUR_MS, timezone)
}
