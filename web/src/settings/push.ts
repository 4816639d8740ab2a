import { Explained } from '../api/explained.ts'
import type { Http } from '../api/routes.ts'
import { hasWorker } from '../app/worker.ts'
import { msg } from '../design/msg.ts'

/** Why this browser cannot be notified; null if it can. */
export function pushObstacle(): string | null {
  if (!hasWorker())
    return msg`Browsers allow notifications only over https, or on the machine that Delegate runs on.`
  if (!('PushManager' in window))
    return msg`This browser cannot be notified. On an iPhone or iPad, add Delegate to the Home Screen first, and open it there.`
  if (Notification.permission === 'denied')
    return msg`This browser blocks notifications of Delegate. Allow them in its settings for this site.`
  return null
}

/** Asks for permission and subscribes this browser. Throws Explained. */
export async function subscribe(http: Http): Promise<void> {
  // Browsers ask only right after a click.
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Explained(msg`Notifications were not allowed.`)
  const { publicKey } = await http.post('/api/push/key')
  const { pushManager } = await navigator.serviceWorker.ready
  // A subscription with another key belongs to an earlier installation.
  await (await pushManager.getSubscription())?.unsubscribe()
  const subscription = await pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
    .catch((cause: unknown) => {
      throw new Explained(msg`The push service of this browser cannot be reached.`, { cause })
    })
  const { endpoint, keys } = subscription.toJSON()
  await http.put('/api/push', {
    body: { endpoint: endpoint ?? '', keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } },
  })
}

/** Ends the subscription of this browser. The service forgets it by its id. */
export async function unsubscribe(http: Http, id: string): Promise<void> {
  await http.del('/api/push/{id}', { params: { id } })
  const registration = await navigator.serviceWorker.getRegistration()
  await (await registration?.pushManager.getSubscription())?.unsubscribe()
}
