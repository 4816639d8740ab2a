import * as z from 'zod'
import { formatLocal, toInstant } from '../lib/time.ts'
import { defineTool, originOf, type Planned, refuse, type Tool, type ToolResult } from '../model/tool.ts'
import { InvalidRecurrence } from './schedule.ts'
import type { Timer, Timers } from './timers.ts'

const LISTED_TIMERS = 50

/** The timer tools of the delegate. */
export function timerTools(timers: Timers): Tool[] {
  /** Active timers whose title has every word of the query. More than one is refused unless `all` is set. */
  function find(
    query: string | null,
    all: boolean | null,
    timezone: string,
  ): { readonly found: readonly Timer[] } | { readonly refusal: ToolResult } {
    const words = (query ?? '').toLowerCase().split(/\s+/)
    const active = timers.list(LISTED_TIMERS).filter((timer) => timer.status === 'active')
    const found = active.filter(
      ({ id, title }) => id === query || words.every((word) => title.toLowerCase().includes(word)),
    )
    if (found.length === 0)
      return {
        refusal: refuse('not_found', query ? `There is no timer about “${query}”.` : 'There is no timer.'),
      }
    if (found.length === 1 || all) return { found }
    return {
      refusal: {
        ...refuse('ambiguous', `${found.length} timers match. Say which one.`),
        data: { timers: found.map((timer) => present(timer, timezone)) },
        derivedFrom: found.map(({ setSeq }) => setSeq),
      },
    }
  }

  return [
    defineTool({
      name: 'set_timer',
      everyday: true,
      class: 'free',
      description:
        'Sets a timer that wakes you: at a moment, in a number of minutes, or again and again by a cron expression in the zone of the owner.',
      brief: 'Sets a reminder or timer: at a local time (ISO 8601), in minutes, or again and again (cron).',
      parameters: z.object({
        title: z.string().min(1).max(500),
        at: z
          .string()
          .max(40)
          .nullable()
          .describe('ISO 8601; without an offset it is local time of the owner'),
        in_minutes: z.number().min(0).max(5_256_000).nullable(),
        recurrence: z
          .string()
          .max(100)
          .nullable()
          .describe('A cron expression: minute hour day month weekday'),
        missed_policy: z.enum(['fire_once', 'skip']).nullable(),
      }),
      // The key of the call makes a second run find the first timer.
      idempotent: true,
      readOnly: false,
      async run({ title, at, in_minutes, recurrence, missed_policy }, context) {
        let dueAt: Date | null = null
        if (at !== null) {
          dueAt = toInstant(at, context.timezone)
          if (!dueAt) return refuse('invalid_time', `“${at}” is not a moment.`)
        } else if (in_minutes !== null) {
          dueAt = new Date(context.nowMs + in_minutes * 60_000)
        }
        if (!dueAt && recurrence === null) return refuse('invalid_time', 'Say when.')
        try {
          const outcome = await timers.set(
            { title, dueAt, recurrence, missedPolicy: missed_policy ?? undefined },
            { by: 'delegate', ...originOf(context) },
          )
          if (outcome.status === 'refused') {
            return refuse(
              outcome.reason,
              outcome.reason === 'past' ? 'That moment is over.' : 'That moment never comes.',
            )
          }
          return {
            ok: true,
            data: { timer: present(outcome.timer, context.timezone) },
            refs: [refTo(outcome.timer)],
          }
        } catch (error) {
          if (error instanceof InvalidRecurrence) return refuse('invalid_recurrence', error.message)
          throw error
        }
      },
    }),
    defineTool({
      name: 'list_timers',
      everyday: true,
      class: 'free',
      description: 'Lists the timers that are still to come.',
      parameters: z.object({}),
      idempotent: true,
      readOnly: true,
      reads: 'your timers',
      async run(_args, { timezone }) {
        const active = timers.list(LISTED_TIMERS).filter((timer) => timer.status === 'active')
        const derivedFrom = active.map((timer) => timer.setSeq)
        return { ok: true, data: { timers: active.map((timer) => present(timer, timezone)) }, derivedFrom }
      },
    }),
    defineTool({
      name: 'cancel_timer',
      everyday: true,
      class: 'guarded',
      description:
        'Cancels a timer, or with `all` every one that matches. It finds them by itself, so there is no need to list them ' +
        'first.',
      brief: 'Cancels a reminder by words of its title, or with `all` every one that matches.',
      parameters: z.object({
        query: z
          .string()
          .min(1)
          .max(500)
          .nullable()
          .describe('Words of its title as the owner said them, or its id; null where any will do'),
        all: z.boolean().nullable(),
      }),
      idempotent: true,
      readOnly: false,
      async plan({ query, all }, { timezone }): Promise<Planned> {
        const outcome = find(query, all, timezone)
        if ('refusal' in outcome) return outcome
        const { found } = outcome
        const [only] = found
        return {
          deed: {
            subject: `timers:${found.map(({ id }) => id).join()}`,
            arguments: found.length === 1 ? { query: only?.id ?? query, all: null } : { query, all },
            title:
              found.length === 1
                ? `Cancel the reminder “${only?.title}”`
                : `Cancel ${found.length} reminders`,
            detail: found
              .map((timer) => `${timer.title}: ${formatLocal(new Date(timer.dueAt), timezone)}`)
              .join('\n'),
            verb: found.length === 1 ? 'Cancel reminder' : 'Cancel reminders',
            derivedFrom: found.map(({ setSeq }) => setSeq),
          },
        }
      },
      async run({ query, all }, context) {
        const outcome = find(query, all, context.timezone)
        if ('refusal' in outcome) return outcome.refusal
        const { found } = outcome
        const ids = found.map(({ id }) => id)
        if (!(await timers.cancel(ids, { by: 'delegate', ...originOf(context) })))
          return refuse('stale', 'One of them is over by now. Try again.')
        const cancelled = found.map((timer) => present(timer, context.timezone))
        return {
          ok: true,
          data: { timer: cancelled[0], timers: cancelled },
          refs: found.map(refTo),
          derivedFrom: found.map(({ setSeq }) => setSeq),
        }
      },
    }),
  ]
}

function present({ id, title, dueAt, recurrence }: Timer, timezone: string) {
  return { id, title, dueAt, local: formatLocal(new Date(dueAt), timezone), recurrence }
}

function refTo({ id }: Timer) {
  return { kind: 'timer' as const, id }
}
