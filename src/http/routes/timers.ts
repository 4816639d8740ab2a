import type { TimerPlace } from '../../../projections/timers.ts'
import { toInstant } from '../../lib/time.ts'
import { InvalidRecurrence } from '../../timers/schedule.ts'
import type { SetOutcome, Timer } from '../../timers/timers.ts'
import { cancel, list, set } from '../contract/timers.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, invalidCursor, invalidField, unknown } from '../server/problem.ts'

/** Scheduled moments that wake the delegate. */
export function timerRoutes(routes: Routes, { timers, owner: { settings } }: RouteDeps): void {
  const origin = { by: 'owner', channel: 'chat' } as const

  routes.openapi(list, (c) => {
    const { q, limit, cursor } = c.req.valid('query')
    const found = timers.list(limit + 1, cursor === undefined ? null : placeOf(cursor), q)
    const shown = found.slice(0, limit)
    const last = found.length > limit ? shown.at(-1) : undefined
    return c.json({ timers: shown.map(present), nextCursor: last ? cursorOf(last) : null }, 200)
  })

  routes.openapi(set, async (c) => {
    const { title, at, recurrence = null, missedPolicy, pasted } = c.req.valid('json')
    const dueAt = at === undefined ? null : toInstant(at, settings.get('TIMEZONE'))
    if (at !== undefined && !dueAt) throw invalidField('at', 'must be an ISO 8601 time')
    if (!dueAt && recurrence === null) throw invalidField('at', 'is required without a recurrence')
    const outcome = await timers
      .set({ title, dueAt, recurrence, missedPolicy, isPasted: pasted }, origin)
      .catch((error: unknown): SetOutcome => {
        if (error instanceof InvalidRecurrence) throw invalidField('recurrence', 'is not a cron expression')
        throw error
      })
    if (outcome.status === 'refused')
      throw invalidField('at', outcome.reason === 'past' ? 'is in the past' : 'never occurs')
    return c.json(present(outcome.timer), 201, { Location: `/api/timers/${outcome.timer.id}` })
  })

  routes.openapi(cancel, async (c) => {
    const { id } = c.req.valid('param')
    if (!timers.get(id)) throw unknown('timer')
    if (!(await timers.cancel([id], origin))) throw conflict('timer_over', 'The timer is already over.')
    return c.body(null, 204)
  })
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
