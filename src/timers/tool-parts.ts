import * as z from 'zod'
import { formatLocal, toInstant } from '../lib/time.ts'
import { refuse, type ToolContext, type ToolResult } from '../model/tool.ts'
import { InvalidRecurrence } from './schedule.ts'
import type { ChangeOutcome, Timer } from './timers.ts'

/** When a timer fires, as the tools ask for it. */
export const timeParameters = {
  at: z.string().max(40).nullable().describe('ISO 8601; without an offset it is local time of the owner'),
  in_minutes: z.number().nullable(),
  recurrence: z
    .string()
    .max(100)
    .nullable()
    .describe(
      'Cron. Day L: the last; weekday 1#2: the 2nd Monday, 4%2: every 2nd Thursday; then maybe a last day: until 2026-12-03',
    ),
}

/** The last moment that a fact can name. */
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** The moment that a call asks for; null if it names none. */
export function momentOf(
  { at, in_minutes }: { readonly at: string | null; readonly in_minutes: number | null },
  { timezone, nowMs }: Pick<ToolContext, 'timezone' | 'nowMs'>,
): Date | null | 'invalid' {
  if (at !== null) return toInstant(at, timezone) ?? 'invalid'
  if (in_minutes === null) return null
  const moment = new Date(nowMs + in_minutes * 60_000)
  // Also NaN.
  return moment.getTime() <= LATEST_MS ? moment : 'invalid'
}

export const invalidTime = (at: string | null) =>
  refuse('invalid_time', at === null ? 'That is not a moment.' : `“${at}” is not a moment.`)

export const REFUSALS = {
  past: 'That moment is over.',
  never: 'That moment never comes.',
  over: 'It is over by now.',
  not_due: 'It is not due yet.',
} as const

/** The result of setting or changing a timer. `repeats`: it has words that the call did not. */
export async function resultOf(
  outcome: Promise<ChangeOutcome>,
  timezone: string,
  repeats = false,
): Promise<ToolResult> {
  try {
    const set = await outcome
    if (set.status === 'refused') return refuse(set.reason, REFUSALS[set.reason])
    const derivedFrom = repeats ? [set.timer.setSeq] : []
    return { ok: true, data: { timer: present(set.timer, timezone) }, refs: [refTo(set.timer)], derivedFrom }
  } catch (error) {
    if (error instanceof InvalidRecurrence) return refuse('invalid_recurrence', error.message)
    throw error
  }
}

/** Those of the timers whose title has every word of the query, or that have it as their id. Null: all. */
export function matching(timers: readonly Timer[], query: string | null): readonly Timer[] {
  if (query === null) return timers
  const words = query
    .toLowerCase()
    .split(/[\s-]+/)
    .filter((word) => word !== '')
  return timers.filter(
    ({ id, title }) =>
      id === query || (words.length > 0 && words.every((word) => title.toLowerCase().includes(word))),
  )
}

export function notFound(query: string | null) {
  return refuse('not_found', query ? `There is no timer about “${query}”.` : 'There is no timer.')
}

export function ambiguous(found: readonly Timer[], timezone: string): ToolResult {
  return {
    ...refuse('ambiguous', `${found.length} timers match. Say which one.`),
    data: { timers: found.map((timer) => present(timer, timezone)) },
    derivedFrom: found.map(({ setSeq }) => setSeq),
  }
}

export function present({ id, title, dueAt, recurrence }: Timer, timezone: string) {
  return { id, title, dueAt, local: formatLocal(new Date(dueAt), timezone), recurrence }
}

export function refTo({ id }: Timer) {
  return { kind: 'timer' as const, id }
}
