import { COPY, KEPT_MS } from '../src/app/copy-name.ts'

/** Whether the offline copy may have the answer. */
export function isCopied({ method, url }: Request): boolean {
  return method === 'GET' && /^\/api\/(?:timeline|notes|memories)(?:\/[\w-]+)?$/.test(new URL(url).pathname)
}

/** An answer of the offline copy, if the owner keeps one. Removes a copy without contact for too long. */
export async function copyOf(request: Request): Promise<Response | undefined> {
  if (!(await caches.has(COPY))) return undefined
  // The copy has one answer of an address, which it asked for with other headers than a browser that opens a note.
  const found = await (await caches.open(COPY)).match(request, { ignoreVary: true })
  const atMs = Date.parse(found?.headers.get('date') ?? '')
  if (Date.now() - atMs <= KEPT_MS) return found
  if (found) await caches.delete(COPY)
  return undefined
}
