import type { TimerPlace } from '../../../projections/timers.ts'
import { msg } from '../../language/msg.ts'
import { toInstant } from '../../lib/time.ts'
import { calendarOf } from '../../timers/calendar.ts'
import { InvalidRecurrence } from '../../timers/schedule.ts'
import type { ChangeOutcome, Timer } from '../../timers/timers.ts'
import {
  calendarFeed,
  calendarFile,
  cancel,
  change,
  done,
  dropFeed,
  feed,
  list,
  makeFeed,
  read,
  set,
  snooze,
} from '../contract/timers.ts'
import type { RouteDeps } from '../features.ts'
import type { HttpContext, Routes } from '../server/env.ts'
import { conflict, invalidCursor, invalidField, known, type Refusal, unknown } from '../server/problem.ts'

/** Scheduled moments that wake the delegate. */
export function timerRoutes(routes: Routes, { timers, nowMs, owner: { settings } }: RouteDeps): void {
  const origin = { by: 'owner', channel: 'chat' } as const

  /** The moment that a field names. Throws the refusal for one that is invalid. */
  function momentIn(path: string, at: string | undefined): Date | undefined {
    const moment = at === undefined ? undefined : toInstant(at, settings.get('TIMEZONE'))
    if (moment === null) throw invalidField(path, msg`must be an ISO 8601 time`)
    return moment
  }

  routes.openapi(list, (c) => {
    const { q, limit, cursor, open } = c.req.valid('query')
    if (open === 'true') return c.json({ timers: timers.open(limit).map(present), nextCursor: null }, 200)
    const found = timers.list(limit + 1, cursor === undefined ? null : placeOf(cursor), q)
    const shown = found.slice(0, limit)
    const last = found.length > limit ? shown.at(-1) : undefined
    return c.json({ timers: shown.map(present), nextCursor: last ? cursorOf(last) : null }, 200)
  })

  routes.openapi(set, async (c) => {
    const { title, at, recurrence = null, missedPolicy, pasted } = c.req.valid('json')
    const dueAt = momentIn('at', at) ?? null
    if (!dueAt && recurrence === null) throw invalidField('at', msg`is required without a recurrence`)
    const timer = await timerOf(
      timers.set({ title, dueAt, recurrence, missedPolicy, isPasted: pasted }, origin),
    )
    return c.json(timer, 201, { Location: `/api/timers/${timer.id}` })
  })

  routes.openapi(read, (c) => c.json(present(known(timers.get(c.req.valid('param').id), 'timer')), 200))

  routes.openapi(change, async (c) => {
    const { id } = c.req.valid('param')
    const { title, at, recurrence, pasted } = c.req.valid('json')
    known(timers.get(id), 'timer')
    const wanted = { title, dueAt: momentIn('at', at), recurrence, isPasted: pasted }
    return c.json(await timerOf(timers.change(id, wanted, origin)), 200)
  })

  routes.openapi(snooze, async (c) => {
    const { id } = c.req.valid('param')
    const { minutes, until, occurrence } = c.req.valid('json')
    known(timers.get(id), 'timer')
    const moment = minutes === undefined ? momentIn('until', until) : new Date(nowMs() + minutes * 60_000)
    if (!moment) throw invalidField('minutes', msg`or until is required`)
    return c.json(await timerOf(timers.snooze(id, moment, origin, occurrence), 'until'), 200)
  })

  routes.openapi(done, async (c) => {
    const { id } = c.req.valid('param')
    known(timers.get(id), 'timer')
    if ((await timers.done(id, origin, c.req.valid('json').occurrence)) === 'not_due')
      throw conflictOf('not_due')
    return c.body(null, 204)
  })

  routes.openapi(cancel, async (c) => {
    const { id } = c.req.valid('param')
    known(timers.get(id), 'timer')
    if (!(await timers.cancel([id], origin))) throw conflictOf('over')
    return c.body(null, 204)
  })

  const sendCalendar = (c: HttpContext) =>
    c.body(calendarOf(timers, nowMs()), 200, {
      'Content-Type': 'text/calendar; charset=utf-8',
      'Content-Disposition': 'attachment; filename="reminders.ics"',
    })

  routes.openapi(calendarFile, sendCalendar)
  routes.openapi(feed, (c) => c.json({ madeAt: timers.feed.madeAt() }, 200))
  routes.openapi(makeFeed, async (c) => {
    const { isHttps } = c.get('caller')
    const here = `${isHttps ? 'https' : 'http'}://${c.req.header('host')}`
    const address = new URL(`/calendar/${await timers.feed.make()}.ics`, settings.get('PUBLIC_URL') ?? here)
    return c.json({ url: address.href }, 201)
  })
  routes.openapi(dropFeed, async (c) => {
    await timers.feed.drop()
    return c.body(null, 204)
  })
  routes.openapi(calendarFeed, (c) => {
    const [, token] = /^([\w-]+)\.ics$/.exec(c.req.valid('param').file) ?? []
    if (token === undefined || !timers.feed.isToken(token)) throw unknown('calendar')
    return sendCalendar(c)
  })
}

/** The timer that an outcome is about. Throws the refusal if there is none; `path` names the field of its time. */
async function timerOf(outcome: Promise<ChangeOutcome>, path = 'at') {
  const settled = await outcome.catch((error: unknown): never => {
    if (error instanceof InvalidRecurrence) throw invalidField('recurrence', msg`is not a cron expression`)
    throw error
  })
  if (settled.status === 'set') return present(settled.timer)
  if (settled.reason === 'past') throw invalidField(path, msg`is in the past`)
  if (settled.reason === 'never') throw invalidField(path, msg`never occurs`)
  throw conflictOf(settled.reason)
}

function conflictOf(reason: 'over' | 'not_due'): Refusal {
  return reason === 'over'
    ? conflict('timer_over', msg`The timer is already over.`)
    : conflict('timer_not_due', msg`The timer has not been due yet.`)
}

function present({ setSeq: _setSeq, ...timer }: Timer) {
  return timer
}

function cursorOf({ id, status, dueAt }: Timer): string {
  return `${status === 'active' ? 0 : 1}.${Date.parse(dueAt)}.${id}`
}

/** Parses a cursor. Throws the refusal for a malformed one. */
function placeOf(cursor: string): TimerPlace {
  const [, over, dueAtMs, timerId = ''] = /^([01])\.(\d{1,15})\.([\w-]+)$/.exec(cursor) ?? []
  if (over === undefined) throw invalidCursor('cursor')
  return { over: over === '0' ? 0 : 1, dueAt: new Date(Number(dueAtMs)).toISOString(), timerId }
}
