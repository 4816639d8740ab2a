/** The files of this build that are kept once they were used; see scripts/lib/build-worker.ts. */
declare const LATER_FILES: string[]

const CACHE = 'delegate-later-files'

const isListed = ({ url }: Request) => LATER_FILES.includes(new URL(url).pathname)

export const isLaterFile = (request: Request): boolean => request.method === 'GET' && isListed(request)

/** A file that is fetched when it is first used, and kept. Its name changes with its content. */
export async function laterFile(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE)
  const kept = await cache.match(request)
  if (kept) return kept
  const response = await fetch(request)
  if (response.ok) await cache.put(request, response.clone())
  return response
}

/** Removes the files of other builds. */
export async function removeOldFiles(): Promise<void> {
  const cache = await caches.open(CACHE)
  const old = (await cache.keys()).filter((request) => !isListed(request))
  await Promise.all(old.map((request) => cache.delete(request)))
}
