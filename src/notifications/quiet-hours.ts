import { DAY_MS, wallClockMs } from '../lib/time.ts'

/** Milliseconds until quiet hours like `22:00-07:00` end; 0 outside them, or if there are none. */
export function quietForMs(quiet: string | null, timezone: string, nowMs: number): number {
  const [from, to] = (quiet ?? '').split('-').map((time) => Date.parse(`1970-01-01T${time}Z`))
  if (from === undefined || to === undefined) return 0
  const clockMs = wallClockMs(nowMs, timezone) % DAY_MS
  const isQuiet = from < to ? clockMs >= from && clockMs < to : clockMs >= from || clockMs < to
  return isQuiet ? (to - clockMs + DAY_MS) % DAY_MS : 0
}
