import ical, { ICalEventTransparency } from 'ical-generator'
import { DAY_MS } from '../lib/time.ts'
import { occurrencesUntil } from './schedule.ts'
import type { Timer, Timers } from './timers.ts'

/** How far recurring timers are written out, one event for each occurrence. */
const HORIZON_MS = 90 * DAY_MS
const MAX_OCCURRENCES = 100
const MAX_OPEN = 500

/** Open and coming reminders as iCalendar (RFC 5545). Events take no time, because a reminder is a moment. */
export function calendarOf(timers: Pick<Timers, 'open' | 'active'>, nowMs: number): string {
  const calendar = ical({ name: 'Delegate', prodId: { company: 'Delegate', product: 'Reminders' } })
  const until = new Date(nowMs + HORIZON_MS)
  const add = ({ id, title }: Timer, at: string) =>
    calendar.createEvent({
      id: `${id}-${at}`,
      start: new Date(at),
      stamp: new Date(nowMs),
      summary: title || 'Reminder',
      transparency: ICalEventTransparency.TRANSPARENT,
    })
  for (const timer of timers.open(MAX_OPEN)) if (timer.open !== null) add(timer, timer.open)
  for (const timer of timers.active())
    for (const at of occurrencesUntil(timer, until, MAX_OCCURRENCES)) add(timer, at)
  return calendar.toString()
}
