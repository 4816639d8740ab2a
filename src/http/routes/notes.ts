import { localeNow, msg } from '../../language/msg.ts'
import { hasAtMost, MAX_NOTE_CHARS } from '../../notes/content.ts'
import type { NoteOutcome } from '../../notes/notes.ts'
import { excerptOf, type Note } from '../../notes/reading.ts'
import { seqOf } from '../contract/list-query.ts'
import { create, list, read, readRevision, remove, restore, revisions, update } from '../contract/notes.ts'
import type { RouteDeps } from '../features.ts'
import { bodyTooLarge, DEFAULT_BODY_BYTES } from '../server/body-reader.ts'
import { type HttpContext, type Routes, refuseInvalid } from '../server/env.ts'
import { conflict, invalidField, known, Refusal, unknown } from '../server/problem.ts'

export function noteRoutes(routes: Routes, { notes }: RouteDeps): void {
  const origin = { source: 'owner', channel: 'chat' } as const

  routes.openapi(list, async (c) => {
    const { q, limit, cursor, deleted } = c.req.valid('query')
    const { notes: found, nextSeq } = await notes.list({
      q: q ?? null,
      limit,
      beforeSeq: seqOf(cursor),
      deleted: deleted === 'true',
    })
    const shown = found.map(({ seqs: _seqs, ...note }) => note)
    return c.json({ notes: shown, nextCursor: nextSeq === null ? null : String(nextSeq) }, 200)
  })
  routes.openapi(
    create,
    async (c) => {
      const note = await notes.create(c.req.valid('json'), origin)
      return c.json(present(note), 201, { Location: `/api/notes/${note.id}` })
    },
    (result, c) => refuseInvalidNote(result, c),
  )
  routes.openapi(read, async (c) =>
    c.json(present(known(await notes.get(c.req.valid('param').id), 'note')), 200),
  )
  routes.openapi(
    update,
    async (c) => {
      const change = c.req.valid('json')
      if (change.title === undefined && change.content === undefined) {
        throw invalidField('', msg`Give a new title, new content or both.`)
      }
      const revision = revisionOf(c.req.valid('header')['if-match'])
      return c.json(
        present(noteOf(await notes.update(c.req.valid('param').id, change, origin, revision))),
        200,
      )
    },
    (result, c) => refuseInvalidNote(result, c),
  )
  routes.openapi(remove, async (c) => {
    if (!(await notes.remove(c.req.valid('param').id, origin))) throw unknown('note')
    return c.body(null, 204)
  })
  routes.openapi(revisions, async (c) => {
    const found = known(await notes.revisions(c.req.valid('param').id), 'note')
    return c.json({ revisions: found }, 200)
  })
  routes.openapi(readRevision, async (c) => {
    const { id, revision } = c.req.valid('param')
    const note = await notes.revision(id, revision)
    if (!note) throw unknownRevision()
    return c.json(present(note), 200)
  })
  routes.openapi(restore, async (c) => {
    const outcome = await notes.restore(c.req.valid('param').id, c.req.valid('json').revision, origin)
    return c.json(present(noteOf(outcome)), 200)
  })
}

/** Only a valid note may exceed the default limit. */
async function refuseInvalidNote(result: Parameters<typeof refuseInvalid>[0], c: HttpContext) {
  if (result.success || hasAtMost(await c.req.text(), DEFAULT_BODY_BYTES)) return refuseInvalid(result, c)
  const isLong = result.error.issues.some(({ path, code }) => path[0] === 'content' && code === 'custom')
  throw isLong ? noteTooLong() : bodyTooLarge(DEFAULT_BODY_BYTES)
}

function noteTooLong(): Refusal {
  const most = MAX_NOTE_CHARS.toLocaleString(localeNow())
  return new Refusal(413, 'body_too_large', msg`A note may have at most ${most} characters.`)
}

/** `If-Match` as an entity tag or a bare number. */
function revisionOf(header: string | undefined): number | undefined {
  if (header === undefined || header === '*') return undefined
  const match = /^(?:W\/)?"?(\d{1,9})"?$/.exec(header.trim())
  if (!match) throw invalidField('if-match', msg`must be a revision number`)
  return Number(match[1])
}

const unknownRevision = () =>
  new Refusal(404, 'unknown_revision', msg`There is no such revision, or its words were erased.`)

function noteOf(outcome: NoteOutcome): Note {
  switch (outcome.status) {
    case 'ok':
      return outcome.note
    case 'not_found':
      throw unknown('note')
    case 'unknown_revision':
      throw unknownRevision()
    case 'stale':
      throw new Refusal(
        412,
        'stale_revision',
        msg`The note has changed. It is now at revision ${outcome.revision}.`,
        {
          extra: { revision: outcome.revision },
        },
      )
    case 'erased':
      throw conflict('revision_erased', msg`The words of that revision were erased.`)
  }
}

function present({ seqs: _seqs, ...note }: Note) {
  return { ...note, excerpt: excerptOf(note.content) }
}
