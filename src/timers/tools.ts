import * as z from 'zod'
import { english } from '../language/message.ts'
import { formatLocal } from '../lib/time.ts'
import { defineTool, originOf, type Planned, refuse, type Tool, type ToolResult } from '../model/tool.ts'
import { changeTimer } from './change-tool.ts'
import type { Timer, Timers } from './timers.ts'
import {
  ambiguous,
  invalidTime,
  matching,
  momentOf,
  notFound,
  present,
  refTo,
  resultOf,
  timeParameters,
} from './tool-parts.ts'

const LISTED_TIMERS = 50

/** The timer tools of the delegate. */
export function timerTools(timers: Timers): Tool[] {
  const active = () => timers.list(LISTED_TIMERS).filter((timer) => timer.status === 'active')

  /** More than one is refused unless `all` is set. */
  function find(
    query: string | null,
    all: boolean | null,
    timezone: string,
  ): { readonly found: readonly Timer[] } | { readonly refusal: ToolResult } {
    const found = matching(active(), query)
    if (found.length === 0) return { refusal: notFound(query) }
    return found.length === 1 || all ? { found } : { refusal: ambiguous(found, timezone) }
  }

  const wasDue = (timer: Timer): Timer => ({ ...timer, dueAt: timer.open ?? timer.dueAt })

  return [
    defineTool({
      name: 'set_timer',
      everyday: true,
      class: 'free',
      description: "Sets a timer that wakes you: at a moment, in minutes, or by cron in the owner's zone.",
      brief: 'Sets a reminder or timer: at a local time (ISO 8601), in minutes, or again and again (cron).',
      parameters: z.object({
        title: z.string().min(1).max(500),
        ...timeParameters,
        missed_policy: z.enum(['fire_once', 'skip']).nullable(),
      }),
      // The key of the call makes a second run find the first timer.
      idempotent: true,
      readOnly: false,
      async run({ title, recurrence, missed_policy, ...time }, context) {
        const dueAt = momentOf(time, context)
        if (dueAt === 'invalid') return invalidTime(time.at)
        if (!dueAt && recurrence === null) return refuse('invalid_time', 'Say when.')
        const wanted = { title, dueAt, recurrence, missedPolicy: missed_policy ?? undefined }
        return resultOf(timers.set(wanted, { by: 'delegate', ...originOf(context) }), context.timezone)
      },
    }),
    defineTool({
      name: 'list_timers',
      everyday: true,
      class: 'free',
      description: 'Lists the timers to come, and as `open` those that are due and not done.',
      parameters: z.object({}),
      idempotent: true,
      readOnly: true,
      reads: 'your timers',
      async run(_args, { timezone }) {
        const [coming, open] = [active(), timers.open(LISTED_TIMERS)]
        const shown = (listed: readonly Timer[]) => listed.map((timer) => present(timer, timezone))
        return {
          ok: true,
          data: { timers: shown(coming), open: shown(open.map(wasDue)) },
          derivedFrom: [...new Set([...coming, ...open].map(({ setSeq }) => setSeq))],
        }
      },
    }),
    changeTimer(timers),
    defineTool({
      name: 'cancel_timer',
      everyday: true,
      class: 'guarded',
      description: 'Cancels a timer, or with `all` every one that matches.',
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
                ? english`Cancel the reminder “${only?.title}”`
                : english`Cancel ${found.length} reminders`,
            detail: found
              .map((timer) => `${timer.title}: ${formatLocal(new Date(timer.dueAt), timezone)}`)
              .join('\n'),
            verb: found.length === 1 ? english`Cancel reminder` : english`Cancel reminders`,
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
