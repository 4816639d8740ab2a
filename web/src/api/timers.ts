import type { Http } from './http.ts'
import { arrayField, asObject, optionalString, stringField } from './json.ts'

export type Timer = {
  readonly id: string
  readonly title: string
  readonly status: string
  /** The next occurrence, or the last one if the timer is over. */
  readonly dueAt: string
  /** A cron expression in `timezone`; null for a one-off timer. */
  readonly recurrence: string | null
  readonly timezone: string
  readonly missedPolicy: string
  readonly by: string
  readonly createdAt: string
  readonly lastFiredAt: string | null
}

export type NewTimer = {
  readonly title: string
  /** The owner's local time without an offset, as from a `datetime-local` input. */
  readonly at?: string
  readonly recurrence?: string
  readonly missedPolicy: 'fire_once' | 'skip'
}

function parseTimer(value: unknown): Timer {
  const timer = asObject(value, 'timer')
  return {
    id: stringField(timer, 'id'),
    title: stringField(timer, 'title'),
    status: stringField(timer, 'status'),
    dueAt: stringField(timer, 'dueAt'),
    recurrence: optionalString(timer, 'recurrence'),
    timezone: stringField(timer, 'timezone'),
    missedPolicy: stringField(timer, 'missedPolicy'),
    by: stringField(timer, 'by'),
    createdAt: stringField(timer, 'createdAt'),
    lastFiredAt: optionalString(timer, 'lastFiredAt'),
  }
}

/** Active timers first, then those that are over. */
export async function fetchTimers(http: Http, signal?: AbortSignal): Promise<readonly Timer[]> {
  const options = { query: { limit: 500 }, ...(signal ? { signal } : {}) }
  const answer = asObject(await http('GET', '/api/timers', options), 'timers')
  return arrayField(answer, 'timers', parseTimer)
}

export async function setTimer(http: Http, timer: NewTimer): Promise<Timer> {
  return parseTimer(await http('POST', '/api/timers', { body: timer }))
}

export async function cancelTimer(http: Http, id: string): Promise<void> {
  await http('DELETE', `/api/timers/${encodeURIComponent(id)}`)
}
