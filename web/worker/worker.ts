import {
  addRoute,
  cleanupOutdatedCaches,
  matchPrecache,
  type PrecacheEntry,
  precache,
} from 'workbox-precaching'
import { lastLanguage, rememberLanguage } from './language.ts'
import { isLaterFile, laterFile, removeOldFiles } from './later-files.ts'
import { clicked, closed, pushed, subscriptionChanged } from './notifications.ts'
import { copyOf, isCopied } from './offline-copy.ts'
import { signedOut } from './sign-out.ts'

declare const self: ServiceWorkerGlobalScope
/** The other files of this build; see scripts/lib/build-worker.ts. */
declare const BUILT_FILES: PrecacheEntry[]

/**
 * The service worker: keeps the files of the page, so that it opens offline, and shows notifications. A new one waits
 * until the page asks it to take over, because pages of the old build load more of their files later.
 */
precache(BUILT_FILES)
// The page itself always comes from the service, if it can be reached: a standby shows another one.
addRoute({ directoryIndex: '', cleanURLs: false })
cleanupOutdatedCaches()
self.addEventListener('activate', (event) => event.waitUntil(removeOldFiles()))

self.addEventListener('message', (event) => {
  if (event.data === 'take-over') void self.skipWaiting()
  if (event.data === 'signed-out') event.waitUntil(signedOut())
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.mode === 'navigate') event.respondWith(page(event))
  else if (isLaterFile(request)) event.respondWith(laterFile(request))
  else if (isCopied(request))
    event.respondWith(reach(request).catch(async () => (await copyOf(request)) ?? Response.error()))
})

/** Throws if the service cannot be reached; a proxy in front of it says so with 502 or 504. */
async function reach(request: Request): Promise<Response> {
  const response = await fetch(request)
  if (response.status === 502 || response.status === 504)
    throw new Error(`a proxy answered ${response.status}`)
  return response
}

async function page(event: FetchEvent): Promise<Response> {
  try {
    const response = await reach(event.request)
    event.waitUntil(rememberLanguage(response))
    return response
  } catch {
    return offlinePage(event.request)
  }
}

async function offlinePage(request: Request): Promise<Response> {
  const inLanguage = async () => matchPrecache(`/index.${await lastLanguage()}.html`)
  return (
    (await copyOf(request)) ??
    (await inLanguage()) ??
    (await matchPrecache('/index.html')) ??
    Response.error()
  )
}

self.addEventListener('push', (event) => event.waitUntil(pushed(event)))
self.addEventListener('notificationclick', (event) => event.waitUntil(clicked(event)))
self.addEventListener('notificationclose', (event) => event.waitUntil(closed(event)))
self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(subscriptionChanged()))
