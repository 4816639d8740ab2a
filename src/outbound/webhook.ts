import { createHmac } from 'node:crypto'
import { isTlsRefused, networkCode, neverReached } from '../lib/never-reached.ts'
import { parseRetryAfter } from '../lib/waits.ts'

export type WebhookMessage = {
  /** Idempotency key, the same in every attempt. */
  readonly id: string
  readonly url: string
  readonly secret: string
  readonly body: string
}

export type WebhookOutcome =
  | { readonly status: 'delivered' }
  /** The receiver certainly did not accept it. */
  | {
      readonly status: 'failed'
      readonly kind: 'refused' | 'rate_limited' | 'unavailable'
      readonly mayRetry: boolean
      readonly retryAfterMs: number
    }
  /** The receiver may have accepted it. */
  | { readonly status: 'unknown' }

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
  options: { readonly fetch: typeof fetch; readonly nowMs: () => number; readonly signal: AbortSignal },
): Promise<WebhookOutcome> {
  const { id, url, secret, body } = message
  const timestamp = String(Math.floor(options.nowMs() / 1000))
  try {
    const response = await options.fetch(url, {
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
    if (isTlsRefused(networkCode(error))) return failed('refused', false)
    return neverReached(error) ? failed('unavailable', true) : { status: 'unknown' }
  }
}

function outcomeOf({ status, headers }: Response, nowMs: number): WebhookOutcome {
  if (status >= 200 && status < 300) return { status: 'delivered' }
  const retryAfterMs = parseRetryAfter(headers, nowMs) ?? 0
  if (status === 429) return failed('rate_limited', true, retryAfterMs)
  if (status >= 500 || status === 408 || status === 425) return failed('unavailable', true, retryAfterMs)
  return failed('refused', false)
}

function failed(
  kind: 'refused' | 'rate_limited' | 'unavailable',
  mayRetry: boolean,
  retryAfterMs = 0,
): WebhookOutcome {
  return { status: 'failed', kind, mayRetry, retryAfterMs }
}
