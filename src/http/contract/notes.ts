import { z } from '@hono/zod-openapi'
import { english } from '../../language/message.ts'
import { hasAtMost, MAX_NOTE_CHARS } from '../../notes/content.ts'
import { answer, body, created, done, tagged } from './describe.ts'
import { integerParam, listQuery, nextCursor } from './list-query.ts'

const { del, get, post, put } = tagged('Notes')

const title = z.string().max(200)

const content = z
  .string()
  .min(1)
  // A character takes at most two UTF-16 units, so longer texts need no counting.
  .max(2 * MAX_NOTE_CHARS)
  .refine((text) => hasAtMost(text, MAX_NOTE_CHARS), english`must have at most ${MAX_NOTE_CHARS} characters`)
  .openapi({ maxLength: MAX_NOTE_CHARS })

const summary = {
  id: z.string(),
  title: z.string(),
  source: z.enum(['owner', 'delegate']),
  createdAt: z.string(),
  updatedAt: z.string(),
  revision: z.int(),
  excerpt: z.string(),
}

const noteSchema = z.object({ ...summary, content: z.string() }).openapi('Note')

export type Note = z.output<typeof noteSchema>
export type NoteSummary = Omit<Note, 'content'>
const params = z.object({ id: z.string() })

export const list = get('/api/notes', {
  summary: 'List notes, newest first; `q` searches title and content',
  request: {
    query: z.object({
      q: z.string().max(1000).optional(),
      /** Lists deleted notes, which can be restored, instead of current ones. */
      deleted: z.enum(['true', 'false']).default('false'),
      ...listQuery(50, 200),
    }),
  },
  responses: answer(z.object({ notes: z.array(z.object(summary)), nextCursor }), 'Notes', 400),
})

export const create = post('/api/notes', {
  summary: 'Create a note',
  request: { body: body(z.object({ title: title.optional(), content })) },
  responses: created(noteSchema, 'The note; `Location` holds its address', 400),
})

export const read = get('/api/notes/{id}', {
  summary: 'Get a note',
  request: { params },
  responses: answer(noteSchema, 'The note', 404),
})

export const update = put('/api/notes/{id}', {
  summary: 'Change a note; with `If-Match`, only if it is at that revision',
  request: {
    params,
    headers: z.object({ 'if-match': z.string().max(40).optional() }),
    body: body(z.object({ title: title.optional(), content: content.optional() })),
  },
  responses: answer(noteSchema, 'The note', 400, 404, 412),
})

export const remove = del('/api/notes/{id}', {
  summary: 'Delete a note',
  request: { params },
  responses: done('Deleted', 404),
})

export const revisions = get('/api/notes/{id}/revisions', {
  summary: 'List the revisions of a note, newest first',
  request: { params },
  responses: answer(
    z.object({
      revisions: z.array(
        z.object({ revision: z.int(), at: z.string(), source: z.enum(['owner', 'delegate']) }),
      ),
    }),
    'Revisions',
    404,
  ),
})

export const readRevision = get('/api/notes/{id}/revisions/{revision}', {
  summary: 'Get a revision of a note, even of a deleted one',
  request: { params: params.extend({ revision: integerParam(1, 1_000_000_000) }) },
  responses: answer(noteSchema, 'The note as it was', 400, 404),
})

export const restore = post('/api/notes/{id}/restore', {
  summary: 'Restore an older revision of a note',
  request: { params, body: body(z.object({ revision: z.int().min(1) })) },
  responses: answer(noteSchema, 'The note', 400, 404, 409),
})
