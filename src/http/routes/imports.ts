import type { ImportedPlace } from '../../../projections/imports.ts'
import { withoutMarks } from '../../../projections/search.ts'
import type { Selection } from '../../imports/readings.ts'
import type { Upload } from '../../imports/uploads.ts'
import { msg } from '../../language/msg.ts'
import { begin, cancel, conversation, conversations, type Import, list, piece } from '../contract/imports.ts'
import { seqOf } from '../contract/list-query.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, invalidCursor, invalidField, known, unknown } from '../server/problem.ts'

/** Uploads, imports, and the conversations that they added. */
export function importRoutes(routes: Routes, { imports }: RouteDeps): void {
  routes.openapi(list, (c) => {
    const uploads = imports.uploads.list().map(presentUpload)
    const shown = imports.list().map(presentImport)
    return c.json({ imports: [...uploads, ...shown], conversations: imports.conversationCount() }, 200)
  })
  routes.openapi(begin, async (c) => {
    const { name, bytes } = c.req.valid('json')
    const begun = await imports.uploads.begin(name, bytes)
    if (begun === 'too_many') throw conflict('too_many_uploads', msg`Too many files are being uploaded.`)
    if (begun === 'disk_full') throw diskFull()
    return c.json({ import: presentUpload(begun) }, 201)
  })
  routes.openapi(piece, async (c) => {
    const { offset } = c.req.valid('query')
    const bytes = new Uint8Array(await c.req.arrayBuffer())
    const written = await imports.uploads.write(c.req.valid('param').id, offset, bytes)
    if (written === 'unknown') throw unknown('import')
    if (written === 'disk_full') throw diskFull()
    if (written === 'wrong_offset')
      throw conflict(
        'wrong_offset',
        msg`This piece is out of order, too long, or sent while another one is being written. Continue at the receivedBytes that /api/imports shows.`,
      )
    return c.json({ receivedBytes: written.receivedBytes }, 200)
  })
  routes.openapi(cancel, async (c) => {
    if (!(await imports.cancel(c.req.valid('param').id))) throw unknown('import')
    return c.body(null, 204)
  })

  routes.openapi(conversations, async (c) => {
    const { q, limit, cursor } = c.req.valid('query')
    const query = q === undefined || q.trim() === '' ? null : q
    const found = await imports.conversations({ query, limit: limit + 1, after: placeOf(cursor) })
    const shown = found.slice(0, limit).map(({ seq: _, snippet, ...row }) => ({
      ...row,
      ...(snippet === undefined ? {} : { snippet: withoutMarks(snippet), marked: snippet }),
    }))
    const last = shown.at(-1)
    const next = found.length > limit && last ? `${last.lastAt}.${last.id}` : null
    return c.json({ conversations: shown, nextCursor: next }, 200)
  })
  routes.openapi(conversation, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const found = known(
      await imports.read(c.req.valid('param').id, seqOf(cursor) ?? 0, limit),
      'conversation',
    )
    const { next, ...page } = found
    return c.json({ ...page, nextCursor: next === null ? null : String(next) }, 200)
  })
}

const diskFull = () => conflict('disk_full', msg`There is not enough free space on the disk.`)

function presentUpload({ importId: id, ...upload }: Upload): Import {
  const times = { startedAt: null, endedAt: null }
  const counts = { conversations: 0, messages: 0, known: 0, skipped: 0 }
  return { id, ...upload, ...times, ...counts, state: 'uploading', reason: null }
}

function presentImport({
  importId: id,
  status: state,
  reason,
  ...row
}: ReturnType<RouteDeps['imports']['list']>[number]): Import {
  return { ...row, id, state, receivedBytes: row.bytes, reason: reason as Import['reason'] }
}

const PLACE = /^(\d{4}-\d{2}-\d{2}T[\d:.]{8,12}Z)\.([\w-]+)$/

function placeOf(cursor: string | undefined): ImportedPlace | null {
  if (cursor === undefined) return null
  const [, lastAt, id] = PLACE.exec(cursor) ?? []
  if (lastAt === undefined || id === undefined) throw invalidCursor('cursor')
  return { lastAt, id }
}

/** The conversations that a request selects: those of an import, else single ones. Throws a Refusal if it names neither. */
export function selectionOf({
  importId,
  ids,
}: {
  readonly importId?: string | undefined
  readonly ids?: readonly string[] | undefined
}): Selection {
  if (importId !== undefined) return { importId }
  if (ids === undefined) throw invalidField('', msg`Give importId or ids.`)
  return { ids }
}
