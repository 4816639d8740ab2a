import { msg } from '../design/msg.ts'
import type { Toaster } from '../design/toaster.ts'

/** Whether this browser runs service workers here: only over https, or on this machine. */
export const hasWorker = (): boolean => 'serviceWorker' in navigator

/** Lets the worker remove what it and other windows still show of the owner. */
export async function reportSignOut(): Promise<void> {
  if (!hasWorker()) return
  const registration = await navigator.serviceWorker.getRegistration()
  registration?.active?.postMessage('signed-out')
}

/**
 * Starts the service worker once the page has loaded. Offers to reload when a new build is ready, and follows links of
 * notifications.
 */
export function startWorker(options: {
  readonly toast: Toaster
  readonly navigate: (path: string) => void
}): void {
  if (!hasWorker() || import.meta.env.DEV) return
  const { serviceWorker } = navigator
  serviceWorker.addEventListener('message', ({ data }) => {
    if (typeof data?.navigate === 'string') options.navigate(data.navigate)
  })

  function offer(waiting: ServiceWorker): void {
    options.toast(msg`A new version of Delegate is ready.`, 'done', {
      shownForMs: Number.POSITIVE_INFINITY,
      actions: [
        {
          label: msg`Reload`,
          run() {
            // Another tab was faster.
            if (waiting.state !== 'installed') return location.reload()
            serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true })
            waiting.postMessage('take-over')
          },
        },
      ],
    })
  }

  async function start(): Promise<void> {
    const registration = await serviceWorker.register('/worker.js')
    // The first worker replaces nothing.
    const offerIfNew = () => {
      if (registration.waiting && serviceWorker.controller) offer(registration.waiting)
    }
    offerIfNew()
    registration.addEventListener('updatefound', () =>
      registration.installing?.addEventListener('statechange', offerIfNew),
    )
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') registration.update().catch(() => undefined)
    })
  }

  // Without it, the page works all the same.
  const begin = () => void start().catch(() => undefined)
  if (document.readyState === 'complete') begin()
  else addEventListener('load', begin, { once: true })
}
