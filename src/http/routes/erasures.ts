import { createRoute, z } from '@hono/zod-openapi'
import { type ErasureRecord, type Erasures, type Refused, UNDO_MS } from '../../forgetting/erasures.ts'
import { KINDS } from '../../forgetting/kinds.ts'
import type { PlanDescription } from '../../forgetting/plan-text.ts'
import type { ErasureTarget } from '../../forgetting/targets.ts'
import type { RouteModule } from '../app.ts'
import { body, json, refusals } from '../describe.ts'
import { createRoutes } from '../env.ts'
import { listQuery, seqOf } from '../list-query.ts'
import { invalidField, Refusal } from '../problem.ts'

const target = z.object({
  kind: z.enum(['memory', 'note', 'adaptation', 'message', 'span', 'period']),
  /** Of a memory, note, adaptation or span; a message's seq. */
  id: z.string().min(1).max(200).optional(),
  /** Of a period; the end is not in it. */
  from: z.iso.datetime().optional(),
  to: z.iso.datetime().optional(),
})

const kindCount = z.object({ kind: z.string(), count: z.int() })
const group = z.object({
  kind: z.enum(KINDS),
  count: z.int(),
  items: z.array(
    z.object({
      seq: z.int(),
      at: z.string(),
      text: z.string(),
      /** How a reply reads afterwards, where it says something else too. */
      after: z.string().optional(),
    }),
  ),
})
/** What was named, what was copied or learned from it, and what speaks of it and stays. */
const groups = { named: z.array(group), derived: z.array(group), stays: z.array(group) }
const erasureSchema = z
  .object({
    id: z.string(),
    kind: z.string(),
    targetId: z.string().nullable(),
    from: z.string().nullable(),
    to: z.string().nullable(),
    status: z.enum(['pending', 'undone', 'erasing', 'erased']),
    requestedAt: z.string(),
    eraseAt: z.string(),
    endedAt: z.string().nullable(),
    events: z.int(),
    kinds: z.array(kindCount),
  })
  .openapi('Erasure')
const params = z.object({ id: z.string().max(200) })

const plan = createRoute({
  method: 'get',
  path: '/api/erasures.plan',
  tags: ['Erasing'],
  summary:
    'What would be erased: what is named and what was copied or learned from it. What speaks of it and stays',
  request: { query: target },
  responses: {
    200: json(
      z.object({ count: z.int(), undoMs: z.int(), ...groups }),
      'Of each kind how many, and the first twenty to be recognised by',
    ),
    ...refusals(400, 404),
  },
})

const request = createRoute({
  method: 'post',
  path: '/api/erasures',
  tags: ['Erasing'],
  summary: 'Hides it at once, and erases it for good after a minute unless that is undone',
  request: { body: body(target) },
  responses: { 201: json(erasureSchema, 'What waits to be erased'), ...refusals(400, 404) },
})

const list = createRoute({
  method: 'get',
  path: '/api/erasures',
  tags: ['Erasing'],
  summary: 'What waits to be erased, and the receipts of what was; the latest first',
  request: { query: z.object(listQuery(20, 100)) },
  responses: {
    200: json(z.object({ erasures: z.array(erasureSchema), nextCursor: z.string().nullable() }), 'Erasures'),
    ...refusals(400),
  },
})

const read = createRoute({
  method: 'get',
  path: '/api/erasures/{id}',
  tags: ['Erasing'],
  summary: 'One erasure: its plan while it can be undone, its receipt afterwards',
  request: { params },
  responses: {
    200: json(
      erasureSchema.extend({ plan: z.object(groups).nullable() }),
      'The erasure; `plan` is null once it is over',
    ),
    ...refusals(404),
  },
})

const undo = createRoute({
  method: 'post',
  path: '/api/erasures/{id}/undo',
  tags: ['Erasing'],
  summary: 'Shows again what waited to be erased',
  request: { params },
  responses: { 200: json(erasureSchema, 'Undone'), ...refusals(404, 409) },
})

/** Erasing with a minute to think again. The DELETE routes of the single things erase at once. */
export function erasureRoutes({ erasures }: { readonly erasures: Erasures }): RouteModule {
  const routes = createRoutes()

  routes.openapi(plan, async (c) => {
    const found = await erasures.plan(targetOf(c.req.valid('query')))
    if ('status' in found) throw refusalOf(found)
    return c.json({ count: found.count, undoMs: UNDO_MS, ...groupsOf(found) }, 200)
  })
  routes.openapi(request, async (c) => {
    const made = await erasures.request(targetOf(c.req.valid('json')))
    if (!('erasure' in made)) throw refusalOf(made)
    return c.json(present(made.erasure), 201, { Location: `/api/erasures/${made.erasure.id}` })
  })
  routes.openapi(list, (c) => {
    const { limit, cursor } = c.req.valid('query')
    const { erasures: found, nextSeq } = erasures.list(seqOf(cursor), limit)
    return c.json(
      { erasures: found.map(present), nextCursor: nextSeq === null ? null : String(nextSeq) },
      200,
    )
  })
  routes.openapi(read, async (c) => {
    const { id } = c.req.valid('param')
    const found = erasures.get(id)
    if (!found) throw new Refusal(404, 'unknown_erasure', 'There is no such erasure.')
    const plan = await erasures.pendingPlan(id)
    return c.json({ ...present(found), plan: plan && groupsOf(plan) }, 200)
  })
  routes.openapi(undo, async (c) => {
    const outcome = await erasures.undo(c.req.valid('param').id)
    if (outcome.status === 'unknown') throw new Refusal(404, 'unknown_erasure', 'There is no such erasure.')
    if (outcome.status === 'too_late') {
      const detail =
        outcome.erasure.status === 'undone'
          ? 'That was undone already.'
          : 'It is too late: the words are erased.'
      throw new Refusal(409, 'not_pending', detail)
    }
    return c.json(present(outcome.erasure), 200)
  })
  return { routes }
}

function targetOf({ kind, id, from, to }: z.output<typeof target>): ErasureTarget {
  if (kind !== 'period') {
    if (id === undefined) throw invalidField('id', 'is missing: say which')
    return { kind, id }
  }
  if (from === undefined) throw invalidField('from', 'is missing: a period has a beginning and an end')
  if (to === undefined) throw invalidField('to', 'is missing: a period has a beginning and an end')
  // One spelling, so that moments compare as texts.
  const period = { kind, from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  if (period.from >= period.to) throw invalidField('to', 'must be later than the beginning')
  return period
}

function refusalOf(refused: Refused): Refusal {
  return refused.status === 'unknown'
    ? new Refusal(404, 'nothing_to_erase', 'There are no words to erase there.')
    : tooMuch(refused.limit)
}

/** Response to an erasure that names too many events. */
export function tooMuch(limit: number): Refusal {
  return new Refusal(400, 'too_much', `More than ${limit} entries at once. Choose a shorter stretch of time.`)
}

function present(erasure: ErasureRecord) {
  return { ...erasure, kinds: erasure.kinds.map((each) => ({ ...each })) }
}

function groupsOf({ named, derived, stays }: PlanDescription) {
  return { named: named.map(copyOf), derived: derived.map(copyOf), stays: stays.map(copyOf) }
}

function copyOf<T extends { readonly items: readonly object[] }>(group: T) {
  return { ...group, items: [...group.items] as T['items'][number][] }
}
