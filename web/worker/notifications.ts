import type { Notification as Shown } from '../../src/http/contract/notifications.ts'

declare const self: ServiceWorkerGlobalScope

type Push = Pick<Shown, 'kind' | 'seq'>

/** What is shown where the words cannot be fetched: offline, or signed out. */
const GENERAL: Readonly<Record<Shown['kind'], string>> = {
  reminder: 'A reminder is due',
  task: 'A task has ended',
  confirmation: 'Delegate needs your confirmation',
  call: 'You missed a call',
  budget: 'News about money',
}
const SNOOZE_MINUTES = 10

/** Shows a notification. Only its kind and seq came by push; its words come from the service. */
export async function pushed({ data }: PushEvent): Promise<void> {
  if (!data) return
  const { kind, seq }: Push = data.json()
  const words = await ask<Shown>(`/api/notifications/${seq}`)
  const { subject = null, occurrence = null } = words ?? {}
  await self.registration.showNotification(words?.title ?? GENERAL[kind], {
    body: words?.text ?? 'Open Delegate to see more.',
    icon: '/icons/icon-192.png',
    badge: '/icons/badge-96.png',
    // A repeated push replaces the first.
    tag: `notification-${seq}`,
    data: { seq, subject, occurrence },
    ...(kind === 'reminder' && {
      requireInteraction: true,
      ...(subject !== null && {
        actions: [
          { action: 'done', title: 'Done' },
          { action: 'snooze', title: `Snooze ${SNOOZE_MINUTES} min` },
        ],
      }),
    }),
  })
  await showBadge()
}

/** Ticks off or snoozes a reminder, or opens Delegate at it. */
export async function clicked({ action, notification }: NotificationEvent): Promise<void> {
  const { seq, subject, occurrence } = notification.data
  notification.close()
  await seen(seq)
  if (action === 'done') await send(`/api/timers/${subject}/done`, { occurrence })
  else if (action === 'snooze')
    await send(`/api/timers/${subject}/snooze`, { minutes: SNOOZE_MINUTES, occurrence })
  else await open(`/?seq=${seq}`)
}

export const closed = ({ notification }: NotificationEvent): Promise<void> => seen(notification.data.seq)

async function seen(seq: number): Promise<void> {
  await send('/api/notifications/seen', { seqs: [seq] })
  await showBadge()
}

/** The push service has replaced the subscription of this browser. */
export async function subscriptionChanged(): Promise<void> {
  const { publicKey, subscriptions } = (await ask<{
    publicKey: string | null
    subscriptions: { current: boolean; kinds: string[] }[]
  }>('/api/push')) ?? { publicKey: null, subscriptions: [] }
  if (publicKey === null) return
  const subscription = await self.registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: publicKey,
  })
  const { endpoint, keys } = subscription.toJSON()
  const kinds = subscriptions.find(({ current }) => current)?.kinds
  await send('/api/push', { endpoint, keys, ...(kinds && { kinds }) }, 'PUT')
}

/** Opens a page in a window of Delegate, or in a new one. */
async function open(path: string): Promise<void> {
  const [window] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  if (!window) return void (await self.clients.openWindow(path))
  // The page navigates by itself, so that nothing unsaved is lost.
  window.postMessage({ navigate: path })
  await window.focus()
}

async function showBadge(): Promise<void> {
  const unseen = await ask<{ notifications: unknown[] }>('/api/notifications')
  if (unseen && 'setAppBadge' in navigator) await navigator.setAppBadge(unseen.notifications.length)
}

/** Null if the service cannot be reached, or refuses. */
async function ask<Answer>(path: string): Promise<Answer | null> {
  const response = await fetch(path).catch(() => null)
  return response?.ok ? await response.json() : null
}

async function send(path: string, body: object, method = 'POST'): Promise<void> {
  await fetch(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}
