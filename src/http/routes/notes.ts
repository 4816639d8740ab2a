import { createRoute, z } from '@hono/zod-openapi'
import { hasAtMost, MAX_NOTE_CHARS } from '../../notes/content.ts'
import { excerptOf, type Note, type NoteOutcome, type Notes } from '../../notes/notes.ts'
import { body, json, refusals } from '../contract/describe.ts'
import { integerParam, listQuery, seqOf } from '../contract/list-query.ts'
import type { RouteModule } from '../server/app.ts'
import { bodyTooLarge } from '../server/body-reader.ts'
import { createRoutes, refuseInvalid } from '../server/env.ts'
import { DEFAULT_BODY_BYTES } from '../server/json-body.ts'
import { invalidField, Refusal } from '../server/problem.ts'

/** A million characters, each up to twelve bytes when JSON escapes it as two surrogates. */
const NOTE_BODY_BYTES = 12 * MAX_NOTE_CHARS + 64 * 1024

const title = z.string().max(200)
const content = z
  .string()
  .min(1)
  // A character takes at most two UTF-16 units, so longer texts need no counting.
  .max(2 * MAX_NOTE_CHARS)
  .refine((text) => hasAtMost(text, MAX_NOTE_CHARS), `must have at most ${MAX_NOTE_CHARS} characters`)
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
const params = z.object({ id: z.string() })

const list = createRoute({
  method: 'get',
  path: '/api/notes',
  tags: ['Notes'],
  summary: 'List notes, newest first; `q` searches title and content',
  request: {
    query: z.object({
      q: z.string().max(1000).optional(),
      /** Lists deleted notes, which can be restored, instead of current ones. */
      deleted: z.enum(['true', 'false']).default('false'),
      ...listQuery(50, 200),
    }),
  },
  responses: {
    200: json(
      z.object({
        notes: z.array(z.object(summary)),
        nextCursor: z.string().nullable(),
      }),
      'Notes',
    ),
    ...refusals(400),
  },
})

const create = createRoute({
  method: 'post',
  path: '/api/notes',
  tags: ['Notes'],
  summary: 'Create a note',
  request: { body: body(z.object({ title: title.optional(), content })) },
  responses: { 201: json(noteSchema, 'The note; `Location` holds its address'), ...refusals(400) },
})

const read = createRoute({
  method: 'get',
  path: '/api/notes/{id}',
  tags: ['Notes'],
  summary: 'Get a note',
  request: { params },
  responses: { 200: json(noteSchema, 'The note'), ...refusals(404) },
})

const update = createRoute({
  method: 'put',
  path: '/api/notes/{id}',
  tags: ['Notes'],
  summary: 'Change a note; with `If-Match`, only if it is at that revision',
  request: {
    params,
    headers: z.object({ 'if-match': z.string().max(40).optional() }),
    body: body(z.object({ title: title.optional(), content: content.optional() })),
  },
  responses: { 200: json(noteSchema, 'The note'), ...refusals(400, 404, 412) },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/notes/{id}',
  tags: ['Notes'],
  summary: 'Delete a note',
  request: { params },
  responses: { 204: { description: 'Deleted' }, ...refusals(404) },
})

const revisions = createRoute({
  method: 'get',
  path: '/api/notes/{id}/revisions',
  tags: ['Notes'],
  summary: 'List the revisions of a note, newest first',
  request: { params },
  responses: {
    200: json(
      z.object({
        revisions: z.array(
          z.object({ revision: z.int(), at: z.string(), source: z.enum(['owner', 'delegate']) }),
        ),
      }),
      'Revisions',
    ),
    ...refusals(404),
  },
})

const readRevision = createRoute({
  method: 'get',
  path: '/api/notes/{id}/revisions/{revision}',
  tags: ['Notes'],
  summary: 'Get a revision of a note, even of a deleted one',
  request: { params: params.extend({ revision: integerParam(1, 1_000_000_000) }) },
  responses: { 200: json(noteSchema, 'The note as it was'), ...refusals(400, 404) },
})

const restore = createRoute({
  method: 'post',
  path: '/api/notes/{id}/restore',
  tags: ['Notes'],
  summary: 'Restore an older revision of a note',
  request: { params, body: body(z.object({ revision: z.int().min(1) })) },
  responses: { 200: json(noteSchema, 'The note'), ...refusals(400, 404, 409) },
})

export function noteRoutes({ notes }: { readonly notes: Notes }): RouteModule {
  const routes = createRoutes(refuseInvalidNote)
  const origin = { source: 'owner', channel: 'chat' } as const

  routes.openapi(list, async (c) => {
    const { q, limit, cursor, deleted } = c.req.valid('query')
    const { notes: found, nextSeq } = await notes.list({
      q: q ?? null,
      limit,
      beforeSeq: seqOf(cursor),
      deleted: deleted === 'true',
    })
    return c.json({ notes: found, nextCursor: nextSeq === null ? null : String(nextSeq) }, 200)
  })
  routes.openapi(create, async (c) => {
    const note = await notes.create(c.req.valid('json'), origin)
    return c.json(present(note), 201, { Location: `/api/notes/${note.id}` })
  })
  routes.openapi(read, async (c) => {
    const note = await notes.get(c.req.valid('param').id)
    if (!note) throw unknown()
    return c.json(present(note), 200)
  })
  routes.openapi(update, async (c) => {
    const change = c.req.valid('json')
    if (change.title === undefined && change.content === undefined) {
      throw invalidField('', 'Give a new title, new content or both.')
    }
    const outcome = await notes.update(
      c.req.valid('param').id,
      change,
      origin,
      revisionOf(c.req.valid('header')['if-match']),
    )
    return c.json(present(noteOf(outcome)), 200)
  })
  routes.openapi(remove, async (c) => {
    if (!(await notes.remove(c.req.valid('param').id, origin))) throw unknown()
    return c.body(null, 204)
  })
  routes.openapi(revisions, async (c) => {
    const found = await notes.revisions(c.req.valid('param').id)
    if (!found) throw unknown()
    return c.json({ revisions: found }, 200)
  })
  routes.openapi(readRevision, async (c) => {
    const { id, revision } = c.req.valid('param')
    const note = await notes.revision(id, revision)
    if (!note)
      throw new Refusal(404, 'unknown_revision', 'There is no such revision, or its words were erased.')
    return c.json(present(note), 200)
  })
  routes.openapi(restore, async (c) => {
    const outcome = await notes.restore(c.req.valid('param').id, c.req.valid('json').revision, origin)
    return c.json(present(noteOf(outcome)), 200)
  })
  return { routes, bodyBytes: (path) => (NOTE_PATH.test(path) ? NOTE_BODY_BYTES : null) }
}

const NOTE_PATH = /^\/api\/notes(?:\/[^/]+)?$/

/** Only a valid note may exceed the default body limit; any other body gets 413, as elsewhere. */
const refuseInvalidNote: typeof refuseInvalid = async (result, c) => {
  if (!result.success && !hasAtMost(await c.req.text(), DEFAULT_BODY_BYTES)) {
    throw bodyTooLarge(DEFAULT_BODY_BYTES)
  }
  return refuseInvalid(result, c)
}

/** `If-Match` as an entity tag or a bare number. */
function revisionOf(header: string | undefined): number | undefined {
  if (header === undefined || header === '*') return undefined
  const match = /^(?:W\/)?"?(\d{1,9})"?$/.exec(header.trim())
  if (!match) throw invalidField('if-match', 'must be a revision number')
  return Number(match[1])
}

function noteOf(outcome: NoteOutcome): Note {
  switch (outcome.status) {
    case 'ok':
      return outcome.note
    case 'not_found':
      throw unknown()
    case 'stale':
      throw new Refusal(
        412,
        'stale_revision',
        `The note has changed. It is now at revision ${outcome.revision}.`,
        {
          extra: { revision: outcome.revision },
        },
      )
    case 'erased':
      throw new Refusal(409, 'revision_erased', 'The words of that revision were erased.')
  }
}

function present({ seqs: _seqs, ...note }: Note) {
  return { ...note, excerpt: excerptOf(note.content) }
}

function unknown(): Refusal {
  return new Refusal(404, 'unknown_note', 'There is no such note.')
}
