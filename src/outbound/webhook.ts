import { createHmac } from 'node:crypto'
import { isTlsRefused, networkCode, neverReached } from '../lib/never-reached.ts'
import { parseRetryAfter } from '../lib/waits.ts'
import type { Settings } from '../settings/settings.ts'
import { untilRetryMs } from './backoff.ts'
import { failed, type Outcome, type Transport } from './transport.ts'

/** Longer than the connect timeout of 10 seconds, which proves that nothing arrived. */
const LIMIT_MS = 15_000

/** Posts outcomes to the owner's webhook. A request that an interruption cut off may have arrived. */
export function createWebhookTransport(options: {
  readonly settings: Pick<Settings, 'get'>
  /** Additional fields of the request body. */
  readonly describe: (taskId: string) => Readonly<Record<string, unknown>>
  readonly nowMs: () => number
}): Transport {
  const { settings, nowMs } = options
  return {
    atOnce: 8,
    untilDueMs: ({ retryAt }) => untilRetryMs(retryAt, nowMs()),
    async prepare({ at, facts: { deliveryId: id, taskId }, body: { text } }) {
      const url = settings.get('DELIVERY_WEBHOOK_URL')
      const secret = settings.get('DELIVERY_WEBHOOK_SECRET')
      if (url === null || secret === null) return failed('not_configured')
      const body = JSON.stringify({ id, at, ...(taskId === null ? {} : options.describe(taskId)), text })
      const act = (signal: AbortSignal) =>
        postWebhook(
          { id, url, secret, body },
          { nowMs, signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]) },
        )
      return { status: 'ready', act }
    },
    recover: async () => ({ status: 'unknown' }),
    aroundEnd: (_event, _outcome, ended) => [ended],
    delayed: () => [],
  }
}

export type WebhookMessage = {
  /** Idempotency key, the same in every attempt. */
  readonly id: string
  readonly url: string
  readonly secret: string
  readonly body: string
}

/**
 * Signs by https://github.com/standard-webhooks/standard-webhooks, version v1. After the prefix `whsec_` a
 * secret is base64; any other secret is used as is.
 */
export function signatureOf(secret: string, id: string, timestamp: string, body: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

/** Makes one request. Does not follow redirects or throw on receiver or network errors. */
export async function postWebhook(
  message: WebhookMessage,
  options: { readonly nowMs: () => number; readonly signal: AbortSignal },
): Promise<Outcome> {
  const { id, url, secret, body } = message
  const timestamp = String(Math.floor(options.nowMs() / 1000))
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Delegate',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatureOf(secret, id, timestamp, body),
      },
      body,
      signal: options.signal,
    })
    // The body is not needed and may be endless.
    await response.body?.cancel().catch(() => undefined)
    return outcomeOf(response, options.nowMs())
  } catch (error) {
    if (isTlsRefused(networkCode(error))) return failed('refused')
    return neverReached(error) ? failed('unavailable', { mayRetry: true }) : { status: 'unknown' }
  }
}

function outcomeOf({ status, headers }: Response, nowMs: number): Outcome {
  if (status >= 200 && status < 300) return { status: 'delivered', providerId: null }
  const retry = { mayRetry: true, retryAfterMs: parseRetryAfter(headers, nowMs) ?? 0 }
  if (status === 429) return failed('rate_limited', retry)
  return status >= 500 || status === 408 || status === 425 ? failed('unavailable', retry) : failed('refused')
}
