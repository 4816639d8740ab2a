import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'

/**
 * Starts a worker thread. What `enableCompileCache` was told holds for the thread that told it alone; others read a
 * variable, without which each of them strips and compiles all its modules anew: half of what it takes to start. They
 * are given nothing else of the environment, for it may hold secrets and none of them needs any.
 */
export function startThread(url: URL, data?: unknown): Worker {
  const cache = getCompileCacheDir()
  // The directory that was asked for; Node keeps one for each version of its own inside.
  const env = cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }
  return new Worker(url, { env, workerData: data })
}
