import { Readable } from 'node:stream'
import type { Download } from '../../backups/downloads.ts'
import { english } from '../../language/message.ts'
import { msg, translatedSentence } from '../../language/msg.ts'
import { file, list, remove, request } from '../contract/downloads.ts'
import type { RouteDeps } from '../features.ts'
import { type Routes, sessionOf } from '../server/env.ts'
import { invalidField, known, unknown } from '../server/problem.ts'

/** Backups and exports that the owner downloads. */
export function downloadRoutes(routes: Routes, { backups }: RouteDeps): void {
  const { downloads } = backups

  routes.openapi(list, (c) => {
    const own = downloads.list(sessionOf(c).id)
    return c.json({ downloads: own.map(present), hasPassphrase: backups.passphrase() !== null }, 200)
  })
  routes.openapi(request, (c) => {
    const { kind, passphrase = backups.passphrase() } = c.req.valid('json')
    const { id } = sessionOf(c)
    if (kind === 'export') return c.json(present(downloads.request({ kind }, id)), 201)
    if (passphrase === null) throw invalidField('passphrase', msg`is required, because none is set`)
    return c.json(present(downloads.request({ kind, passphrase }, id)), 201)
  })
  routes.openapi(file, (c) => {
    const { id } = c.req.valid('param')
    const { name, bytes, stream } = known(downloads.open(id, sessionOf(c).id), english`download`)
    if (c.req.method === 'HEAD') stream.destroy()
    return c.body(Readable.toWeb(stream) as ReadableStream<Uint8Array>, 200, {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Content-Length': String(bytes),
    })
  })
  routes.openapi(remove, (c) => {
    if (!downloads.remove(c.req.valid('param').id)) throw unknown(english`download`)
    return c.body(null, 204)
  })
}

function present({ reason, ...download }: Download): Download {
  return { ...download, reason: reason === null ? null : translatedSentence(reason) }
}
