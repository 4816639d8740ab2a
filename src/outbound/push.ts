import type { buildConnector, Dispatcher } from 'undici'
import type { NotificationKind } from '../../projections/notifications.ts'
import { networkCode } from '../lib/never-reached.ts'
import { lookupPublic } from '../lib/public-address.ts'
import { parseRetryAfter } from '../lib/waits.ts'
import type { PushSubscriptions } from '../settings/push-subscriptions.ts'
import { untilRetryMs } from './backoff.ts'
import { failed, type Outcome, type Transport } from './transport.ts'

/** How to connect, as in the `connect` of undici's Agent. */
export type PushConnect = buildConnector.BuildOptions

const LIMIT_MS = 15_000
/** A reminder of yesterday helps nobody. */
const TTL_SECONDS = 24 * 60 * 60
/** Where a push service finds somebody to complain to, if there is no Public URL (RFC 8292, 2.1). */
const NOBODY = 'mailto:owner@delegate.invalid'
/** The browser has unsubscribed, or subscribed with other keys (RFC 8030, 7.3; RFC 8292, 4.2). */
const GONE = new Set([403, 404, 410])

/**
 * Pushes notifications to browsers (RFC 8030). The payload is a kind and a seq: the browser asks this service for the
 * words. Pushing one twice is harmless, because it replaces itself, so an interrupted attempt is repeated.
 */
export function createPushTransport(options: {
  readonly subscriptions: Pick<PushSubscriptions, 'find' | 'keys' | 'remove'>
  readonly kindOf: (notification: number) => NotificationKind | undefined
  readonly publicUrl: () => string | null
  /** How to connect to push services. By default, to public addresses only. */
  readonly connect?: PushConnect | undefined
  readonly nowMs: () => number
}): Transport {
  const { subscriptions, connect = { lookup: lookupPublic }, nowMs } = options
  let dispatcher: Dispatcher | undefined

  async function push(
    endpoint: string,
    request: { readonly headers: Record<string, unknown>; readonly body: Buffer | null },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { Agent, fetch } = await import('undici')
    dispatcher ??= new Agent({ connect })
    try {
      const { status, headers, body } = await fetch(endpoint, {
        method: 'POST',
        redirect: 'manual',
        headers: request.headers as Record<string, string>,
        body: request.body,
        dispatcher,
        signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
      })
      await body?.cancel().catch(() => undefined)
      if (status >= 200 && status < 300) return { status: 'delivered', providerId: null }
      if (status !== 429 && status < 500) return { ...failed('refused'), providerCode: status }
      return failed('unavailable', { mayRetry: true, retryAfterMs: parseRetryAfter(headers, nowMs()) ?? 0 })
    } catch (error) {
      return failed('unavailable', { mayRetry: networkCode(error) !== 'EACCES' })
    }
  }

  return {
    atOnce: 8,
    untilDueMs: ({ retryAt }) => untilRetryMs(retryAt, nowMs()),
    async prepare({ facts: { notification = 0 }, body: { target } }) {
      const subscription = subscriptions.find(target)
      const kind = options.kindOf(notification)
      const own = subscriptions.keys()
      if (!subscription || !kind || !own) return failed('not_configured')
      const { endpoint, keys } = subscription
      const publicUrl = options.publicUrl()
      const { default: webPush } = await import('web-push')
      const request = webPush.generateRequestDetails(
        { endpoint, keys },
        JSON.stringify({ kind, seq: notification }),
        {
          vapidDetails: {
            subject: publicUrl?.startsWith('https:') ? publicUrl : NOBODY,
            ...own,
          },
          TTL: TTL_SECONDS,
          urgency: 'high',
          topic: `n${notification}`,
        },
      )
      return { status: 'ready', act: (signal) => push(endpoint, request, signal) }
    },
    recover: async () => failed('unavailable', { mayRetry: true }),
    aroundEnd({ seq, body }, outcome, ended) {
      const isGone = outcome.status === 'failed' && GONE.has(outcome.providerCode ?? 0)
      if (!body || !isGone) return [ended]
      subscriptions.remove(body.target)
      return [
        ended,
        {
          type: 'push.unsubscribed',
          actor: 'service',
          channel: 'system',
          causedBy: seq,
          facts: { subscriptionId: body.target, reason: 'expired' },
        },
      ]
    },
    delayed: () => [],
  }
}
