import type { Notification as Shown } from '../../src/http/contract/notifications.ts'
import { showsApp } from './app-pages.ts'
import { messages } from './language.ts'

declare const self: ServiceWorkerGlobalScope

type Msg = Awaited<ReturnType<typeof messages>>
type Push = Pick<Shown, 'kind' | 'seq'>
type Subject = Pick<Shown, 'kind' | 'seq' | 'subject' | 'occurrence'>

/** What is shown where the words cannot be fetched: offline, or signed out. */
const generalTitle = (kind: Shown['kind'], msg: Msg): string =>
  ({
    reminder: msg`A reminder is due`,
    task: msg`A task has ended`,
    confirmation: msg`Delegate needs your confirmation`,
    call: msg`You missed a call`,
    budget: msg`News about money`,
  })[kind]
const SNOOZE_MINUTES = 10

/** Shows a notification. Only its kind and seq came by push; its words come from the service. */
export async function pushed({ data }: PushEvent): Promise<void> {
  if (!data) return
  const { kind, seq }: Push = data.json()
  const words = await ask<Shown>(`/api/notifications/${seq}`)
  const { subject = null, occurrence = null } = words ?? {}
  const msg = await messages()
  await show(words?.title ?? generalTitle(kind, msg), words?.text ?? msg`Open Delegate to see more.`, {
    kind,
    seq,
    subject,
    occurrence,
  })
  await showBadge()
}

async function show(title: string, body: string, data: Subject): Promise<void> {
  const msg = await messages()
  await self.registration.showNotification(title, {
    body,
    icon: '/icons/icon-192.png',
    badge: '/icons/badge-96.png',
    // A repeated push replaces the first.
    tag: `notification-${data.seq}`,
    data,
    ...(data.kind === 'reminder' && {
      requireInteraction: true,
      ...(data.subject !== null && {
        actions: [
          { action: 'done', title: msg`Done` },
          { action: 'snooze', title: msg`Snooze ${SNOOZE_MINUTES} min` },
        ],
      }),
    }),
  })
}

/** Ticks off or snoozes a reminder, or opens Delegate at it. If that fails, the reminder stays. */
export async function clicked({ action, notification }: NotificationEvent): Promise<void> {
  const data: Subject = notification.data
  notification.close()
  if (action === '') {
    await seen(data.seq)
    return open(`/?seq=${data.seq}`)
  }
  const { subject, occurrence } = data
  const response = await send(`/api/timers/${subject}/${action}`, {
    occurrence,
    ...(action === 'snooze' && { minutes: SNOOZE_MINUTES }),
  })
  // Another device may have been faster.
  if (response?.ok || response?.status === 404 || response?.status === 409) return seen(data.seq)
  const msg = await messages()
  const why =
    response?.status === 401
      ? msg`Open Delegate to sign in.`
      : msg`Delegate cannot be reached. Try again later.`
  await show(notification.title, why, data)
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
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const window = windows.find(showsApp)
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

/** Null if the service cannot be reached. */
async function send(path: string, body: object, method = 'POST'): Promise<Response | null> {
  const headers = { 'content-type': 'application/json' }
  return fetch(path, { method, headers, body: JSON.stringify(body) }).catch(() => null)
}
