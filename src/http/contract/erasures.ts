import { z } from '@hono/zod-openapi'
import { KINDS } from '../../erasing/kinds.ts'
import { answer, body, created, tagged } from './describe.ts'
import { listQuery, nextCursor } from './list-query.ts'

const { get, post } = tagged('Erasing')

export const target = z.object({
  kind: z.enum([
    'memory',
    'note',
    'adaptation',
    'message',
    'span',
    'period',
    'words',
    'messages',
    'import',
    'imported',
  ]),
  /**
   * The id of a memory, note, adaptation, span, import or imported conversation, or the seq of a message. For
   * `messages`, the id of an erasure that forgot something: the messages that it left on the timeline.
   */
  id: z.string().min(1).max(200).optional(),
  /** For `words`: what to forget, such as `memory:5f0c,message:12`. The messages stay but are no longer used. */
  chosen: z.string().max(5000).optional(),
  /** The bounds of a period; the end is exclusive. */
  from: z.iso.datetime().optional(),
  to: z.iso.datetime().optional(),
})

export type ErasureTarget = z.input<typeof target>

const kindCount = z.object({ kind: z.string(), count: z.int() })

const group = z.object({
  kind: z.enum(KINDS),
  count: z.int(),
  items: z
    .array(
      z.object({
        seq: z.int(),
        at: z.string(),
        text: z.string(),
        /** The redacted copy of a reply that keeps some of its words. */
        after: z.string().optional(),
      }),
    )
    .readonly(),
})

/** `named`: the target. `derived`: copied or learned from it. `stays`: mentions it, but is kept. */
const groupList = z.array(group).readonly()
const groups = { named: groupList, derived: groupList, stays: groupList }

const groupsSchema = z.object(groups)
export type PlanGroups = z.output<typeof groupsSchema>
export type PlanGroup = PlanGroups['named'][number]

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
    kinds: z.array(kindCount).readonly(),
  })
  .openapi('Erasure')

const params = z.object({ id: z.string().max(200) })

export const plan = get('/api/erasures.plan', {
  summary:
    'Preview an erasure: the target, what was copied or learned from it, and what mentions it but stays',
  request: { query: target },
  responses: answer(
    z.object({ count: z.int(), undoMs: z.int(), ...groups }),
    'The number of events of each kind, and the first twenty of them',
    400,
    404,
    409,
  ),
})

export const request = post('/api/erasures', {
  summary: 'Hide something at once and erase it for good after a minute, unless undone',
  request: { body: body(target) },
  responses: created(erasureSchema, 'The pending erasure', 400, 404, 409),
})

export const list = get('/api/erasures', {
  summary: 'List pending erasures and receipts, newest first',
  request: { query: z.object(listQuery(20, 100)) },
  responses: answer(z.object({ erasures: z.array(erasureSchema).readonly(), nextCursor }), 'Erasures', 400),
})

export const read = get('/api/erasures/{id}', {
  summary: 'Get an erasure: its plan while it can be undone, then its receipt',
  request: { params },
  responses: answer(
    erasureSchema.extend({ plan: groupsSchema.nullable() }),
    'The erasure; `plan` is null once it is over',
    404,
  ),
})

export const undo = post('/api/erasures/{id}/undo', {
  summary: 'Undo a pending erasure',
  request: { params },
  responses: answer(erasureSchema, 'Undone', 404, 409),
})
