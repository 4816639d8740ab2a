import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'

/**
 * Starts a worker thread with the compile cache of this one, or it would compile all its modules again. The
 * thread gets nothing else of the environment, which may hold secrets.
 */
export function startThread(url: URL, data?: unknown): Worker {
  const cache = getCompileCacheDir()
  // Node keeps one directory per version inside the given one.
  const env = cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }
  return new Worker(url, { env, workerData: data })
}
