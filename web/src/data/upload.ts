import { Refused, Unreachable } from '../api/http.ts'
import type { App } from '../app/app.ts'

/** The service takes at most 1 MiB in one request. */
const pieceBytes = 1024 * 1024
const attempts = 5
const pauseMs = 2_000

/**
 * Uploads an export in pieces, so that a large file needs no long request; `onPiece` runs after each. Ends without an
 * error if the owner cancels the upload elsewhere. Throws Refused or Unreachable.
 */
export async function uploadExport(
  { http }: Pick<App, 'http'>,
  file: File,
  onPiece: () => void,
): Promise<void> {
  const { import: begun } = await http.post('/api/imports', { body: { name: file.name, bytes: file.size } })
  for (let offset = 0; offset < file.size; ) {
    const body = file.slice(offset, offset + pieceBytes)
    try {
      const { receivedBytes } = await withRetries(() =>
        http.put('/api/imports/{id}/file', { params: { id: begun.id }, query: { offset }, body }),
      )
      offset = receivedBytes
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (error.problem.status === 404) return
      const received = error.problem.code === 'wrong_offset' ? await receivedOf(http, begun.id) : offset
      if (received <= offset) throw error
      offset = received
    }
    onPiece()
  }
}

/** How much of the file arrived. A piece whose answer was lost is there, and refused when it is sent again. */
async function receivedOf(http: App['http'], importId: string): Promise<number> {
  const { imports } = await http.get('/api/imports')
  return imports.find(({ id }) => id === importId)?.receivedBytes ?? 0
}

async function withRetries<T>(send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof Unreachable) || attempt === attempts) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
