import type { Worker } from 'node:worker_threads'
import { inject } from 'vitest'
import { startThread as startFromUrl } from '../../src/lib/start-thread.ts'

const bundles = inject('bundledThreads')
const bundleOf = (url: string): string => bundles[url] ?? url

/** Takes the place of the service's `startThread` in tests: starts the thread from its bundle. */
export function startThread(
  url: URL,
  data?: { readonly modules?: readonly string[]; readonly postgres?: unknown },
): Worker {
  // What speaks to PostgreSQL reads files beside its source.
  if (data?.postgres) return startFromUrl(url, data)
  const bundled = data && { ...data, modules: data.modules?.map(bundleOf) }
  return startFromUrl(new URL(bundleOf(url.href)), bundled)
}
