import * as z from 'zod'
import { english } from '../language/message.ts'
import { addDays, DAY_MS, dayIn, formatLocal, toInstant, toLocalIso } from '../lib/time.ts'
import {
  type ActingContext,
  defineTool,
  originOf,
  refuse,
  type ToolContext,
  type ToolResult,
} from '../model/tool.ts'
import type { Timer, TimerChange, Timers } from './timers.ts'
import {
  ambiguous,
  invalidTime,
  matching,
  momentOf,
  notFound,
  present,
  REFUSALS,
  refTo,
  resultOf,
} from './tool-parts.ts'

const LISTED_TIMERS = 50
/** A longer one would hide a reminder, so the owner confirms it in the browser. */
const LONGEST_SNOOZE_MS = 7 * DAY_MS
const CLOCK = /^\d{2}:\d{2}$/
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Described by the tool itself: what is sent to a model with each request must be short. */
const parameters = z.object({
  query: z.string().min(1).max(500).nullable(),
  title: z.string().min(1).max(500).nullable(),
  at: z.string().max(40).nullable(),
  by_minutes: z.number().nullable(),
  recurrence: z.string().max(100).nullable(),
  done: z.boolean().nullable(),
})

type Args = z.output<typeof parameters>

/** What a call wants of which timer. A reminder that is already due can only be snoozed or ticked off. */
type Wish = { readonly timer: Timer } & (
  | { readonly kind: 'done' }
  | { readonly kind: 'snooze'; readonly until: Date }
  | { readonly kind: 'change'; readonly change: TimerChange }
)

/** The tool that changes a timer, or snoozes or ticks off a reminder that is due. */
export function changeTimer(timers: Timers) {
  function find(
    { query, done }: Pick<Args, 'query' | 'done'>,
    timezone: string,
  ): { timer: Timer } | { refusal: ToolResult } {
    const open = timers.open(LISTED_TIMERS)
    const [latest] = open
    if (query === null && latest) return { timer: latest }
    const [due, ...others] = done === true ? matching(open, query) : []
    if (due && others.length === 0) return { timer: due }
    const coming = timers
      .list(LISTED_TIMERS)
      .filter(({ id, status }) => status === 'active' && !open.some((timer) => timer.id === id))
    const found = matching([...open, ...coming], query)
    const [timer] = found
    if (!timer) return { refusal: notFound(query) }
    return found.length === 1 ? { timer } : { refusal: ambiguous(found, timezone) }
  }

  function wishOf(
    { query, title, at: asked, by_minutes, recurrence, done }: Args,
    context: ToolContext,
  ): { readonly wish: Wish } | { readonly refusal: ToolResult } {
    const found = find({ query, done }, context.timezone)
    if ('refusal' in found) return found
    const { timer } = found
    if (done === true) return { wish: { timer, kind: 'done' } }
    const at =
      asked !== null && CLOCK.test(asked)
        ? onItsDay(timer, asked, context)
        : momentOf(
            { at: inFull(timer, asked, context), in_minutes: by_minutes },
            { ...context, nowMs: dueMs(timer, context) },
          )
    if (at === 'invalid') return { refusal: invalidTime(asked) }
    if (at === null && title === null && recurrence === null)
      return { refusal: refuse('nothing_to_change', 'Say what to change.') }
    if (timer.open !== null && at !== null && title === null && recurrence === null)
      return { wish: { timer, kind: 'snooze', until: at } }
    const change = { title: title ?? undefined, dueAt: at ?? undefined, recurrence: recurrence ?? undefined }
    return { wish: { timer, kind: 'change', change } }
  }

  async function run(args: Args, context: ActingContext): Promise<ToolResult> {
    const outcome = wishOf(args, context)
    if ('refusal' in outcome) return outcome.refusal
    const { wish } = outcome
    const { id, setSeq } = wish.timer
    const origin = { by: 'delegate', ...originOf(context) } as const
    if (wish.kind === 'done') {
      if ((await timers.done(id, origin)) === 'not_due') return refuse('not_due', REFUSALS.not_due)
      const data = { timer: present(wish.timer, context.timezone), done: true }
      return { ok: true, data, refs: [refTo(wish.timer)], derivedFrom: [setSeq] }
    }
    const acted =
      wish.kind === 'snooze' ? timers.snooze(id, wish.until, origin) : timers.change(id, wish.change, origin)
    return resultOf(acted, context.timezone, true)
  }

  return defineTool({
    name: 'change_timer',
    class: 'guarded',
    description:
      'Changes a timer, found as by cancel_timer. by_minutes: how much later. One that is due is snoozed, or ticked ' +
      'off with done; query null: the last of those. A time alone (17:00) keeps the day, a date alone the time.',
    parameters,
    // The key of the call makes a second run find what the first did.
    idempotent: true,
    readOnly: false,
    async plan(args, context) {
      const outcome = wishOf(args, context)
      if ('refusal' in outcome) return outcome
      const { wish } = outcome
      const { id, title, setSeq } = wish.timer
      const at = wish.kind === 'done' ? undefined : wish.kind === 'snooze' ? wish.until : wish.change.dueAt
      const time = at && formatLocal(at, context.timezone)
      const wordings = {
        done: [english`Tick off the reminder “${title}”`, english`Tick off`],
        snooze: [english`Snooze the reminder “${title}”`, english`Snooze reminder`],
        change: [english`Change the reminder “${title}”`, english`Change reminder`],
      } as const
      const [heading, verb] = wordings[wish.kind]
      return {
        deed: {
          subject: `timers:${id}`,
          arguments: { ...args, query: id, at: at?.toISOString() ?? null, by_minutes: null },
          title: heading,
          detail:
            wish.kind === 'done' ? '' : [args.title, time, args.recurrence].filter((part) => part).join('\n'),
          verb,
          derivedFrom: [setSeq],
          isNote:
            wish.kind === 'done' ||
            (wish.kind === 'snooze' && +wish.until - context.nowMs <= LONGEST_SNOOZE_MS),
        },
      }
    },
    run,
  })
}

/** When a timer is due; one that was due already, now. */
const dueMs = ({ open, dueAt }: Timer, { nowMs }: ToolContext) => (open === null ? Date.parse(dueAt) : nowMs)

/** A date alone, with the time of the timer. */
function inFull({ open, dueAt }: Timer, asked: string | null, { timezone }: ToolContext): string | null {
  if (asked === null || !DAY.test(asked)) return asked
  return `${asked}T${toLocalIso(new Date(open ?? dueAt), timezone).slice(11, 16)}`
}

/** The moment at which the clock shows a time on the day of a timer; for one that is due, the next such moment. */
function onItsDay({ open, dueAt }: Timer, clock: string, { timezone, nowMs }: ToolContext): Date | 'invalid' {
  const day = dayIn(timezone, open === null ? new Date(dueAt) : nowMs)
  const at = toInstant(`${day}T${clock}`, timezone) ?? 'invalid'
  if (open === null || at === 'invalid' || at.getTime() > nowMs) return at
  return toInstant(`${addDays(day, 1)}T${clock}`, timezone) ?? 'invalid'
}
