import { isIP } from 'node:net'
import { msg } from '../../language/msg.ts'
import { isPublicAddress } from '../../lib/public-address.ts'
import type { PushSubscription } from '../../settings/push-subscriptions.ts'
import {
  choose,
  copyRemoved,
  copyRenewed,
  find,
  list,
  makeKey,
  pushState,
  see,
  subscribe,
  unsubscribe,
} from '../contract/notifications.ts'
import type { RouteDeps } from '../features.ts'
import { type Routes, sessionOf } from '../server/env.ts'
import { conflict, invalidField, known, unknown } from '../server/problem.ts'

/** What the owner should notice, and the browsers that are told about it by push. */
export function notificationRoutes(routes: Routes, { notifications, owner }: RouteDeps): void {
  routes.openapi(list, (c) => c.json({ notifications: notifications.unseen() }, 200))

  routes.openapi(find, (c) => {
    return c.json(known(notifications.find(c.req.valid('param').seq), 'notification'), 200)
  })

  routes.openapi(see, async (c) => {
    await notifications.see(c.req.valid('json').seqs)
    return c.body(null, 204)
  })

  routes.openapi(pushState, (c) => {
    const { id } = sessionOf(c)
    const subscriptions = notifications.subscriptions().map((each) => present(each, id))
    return c.json({ publicKey: notifications.publicKey(), subscriptions }, 200)
  })

  routes.openapi(makeKey, (c) => c.json({ publicKey: notifications.makeKeys() }, 200))

  routes.openapi(subscribe, async (c) => {
    const { endpoint, keys, kinds } = c.req.valid('json')
    const { id: sessionId } = sessionOf(c)
    // The connection checks the addresses of a name.
    const host = new URL(endpoint).hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !isPublicAddress(host))
      throw invalidField('endpoint', msg`must be a public address`)
    if (notifications.publicKey() === null)
      throw conflict('no_push_key', msg`Get a key from /api/push/key first.`)
    const saved = await notifications.subscribe({ endpoint, keys, kinds, sessionId })
    return c.json(present(saved, sessionId), 200)
  })

  routes.openapi(choose, (c) => {
    if (!notifications.choose(c.req.valid('param').id, c.req.valid('json').kinds))
      throw unknown('subscription')
    return c.body(null, 204)
  })

  routes.openapi(unsubscribe, async (c) => {
    if (!(await notifications.unsubscribe(c.req.valid('param').id))) throw unknown('subscription')
    return c.body(null, 204)
  })

  routes.openapi(copyRenewed, (c) => {
    owner.offlineCopies.renewed(sessionOf(c).id, c.req.valid('json').device)
    return c.body(null, 204)
  })

  routes.openapi(copyRemoved, (c) => {
    owner.offlineCopies.removed(sessionOf(c).id)
    return c.body(null, 204)
  })
}

/** Without its endpoint and keys, which only this service needs. */
function present({ id, sessionId, kinds, createdAt }: PushSubscription, currentSessionId: string) {
  return { id, sessionId, current: sessionId === currentSessionId, kinds, createdAt }
}
