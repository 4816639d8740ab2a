import { createHmac } from 'node:crypto'
import { parseRetryAfter } from '../clock/retry-after.ts'
import { isTlsRefused, networkCode, neverReached } from '../outbound/never-reached.ts'

/** What is posted to the owner's webhook. */
export type WebhookMessage = {
  /** The same in each attempt: a receiver that has seen it may ignore it. */
  readonly id: string
  readonly url: string
  readonly secret: string
  readonly body: string
}

export type WebhookOutcome =
  | { readonly status: 'delivered' }
  /** It is certain that the receiver did not take it. */
  | {
      readonly status: 'failed'
      readonly kind: 'refused' | 'rate_limited' | 'unavailable'
      readonly mayRetry: boolean
      readonly retryAfterMs: number
    }
  /** The receiver may have taken it, and there is nobody to ask. */
  | { readonly status: 'unknown' }

/** Longer than a connection may take (10 seconds): what failed to connect is known not to have arrived. */
const TIMEOUT_MS = 15_000

/**
 * The signature over id, time and body, by the scheme of Standard Webhooks
 * (https://github.com/standard-webhooks/standard-webhooks, version v1), so that receivers find a library for it.
 * A secret that begins with `whsec_` is base64 after that; any other is taken as it is.
 */
export function signatureOf(secret: string, id: string, timestamp: string, body: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

/** Posts once. Never throws for what the receiver or the network does, and follows no redirect. */
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
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    // Whatever it says besides is of no interest, and may be endless.
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
  // The receiver has answered, and says that it did not take it.
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
