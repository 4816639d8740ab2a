import type { Twilio } from 'twilio'
import { ProviderUnreachable } from '../lib/never-reached.ts'
import { OutsideFailure } from '../lib/outside-failure.ts'
import { parseRetryAfter } from '../lib/waits.ts'
import { LONGEST_RETRY_MS } from './backoff.ts'
import { type Failure, failed, type Outcome } from './transport.ts'

export type OutgoingText = {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly statusCallback: string | null
}

/**
 * The provider may have accepted the text; only its message list can tell. `answered`: it responded with a
 * failure, so a text that is missing from its list was not accepted.
 */
type Ambiguous = { readonly status: 'ambiguous'; readonly answered: boolean }

/** The provider's error code for a status callback that it cannot reach. It refuses the whole text for it. */
const INVALID_CALLBACK = 21609
/** The provider's error code for a recipient who opted out. */
const OPTED_OUT = 21610
/** Lower error codes of the provider concern the account, the others the message. */
const FIRST_MESSAGE_CODE = 21_000

/**
 * Makes one attempt to send a text, without its status callback if the provider cannot reach that. Does not
 * throw on provider or network errors.
 */
export async function sendText(
  client: Twilio,
  message: OutgoingText,
  nowMs: () => number,
): Promise<Outcome | Ambiguous> {
  const { from, to, text, statusCallback } = message
  try {
    const sent = await client.messages.create({
      from,
      to,
      body: text,
      ...(statusCallback === null ? {} : { statusCallback }),
    })
    return { status: 'delivered', providerId: sent.sid }
  } catch (error) {
    if (statusCallback !== null && shapeOf(error).code === INVALID_CALLBACK)
      return sendText(client, { ...message, statusCallback: null }, nowMs)
    const headers = new Headers(client.httpClient.lastResponse?.headers)
    return outcomeOf(error, parseRetryAfter(headers, nowMs()) ?? 0)
  }
}

/**
 * Finds a text in the provider's message list by number, words and time of the attempt, skipping known
 * messages. Throws OutsideFailure if the list cannot be fetched. Corrects for a local clock that is ahead.
 */
export async function findSent(
  client: Twilio,
  message: OutgoingText,
  options: {
    readonly attemptedAt: string
    readonly nowMs: () => number
    readonly isKnown: (messageSid: string) => boolean
  },
): Promise<string | null> {
  const listed = await client.messages
    .list({ to: message.to, from: message.from, limit: LISTED })
    .catch((error: unknown) => {
      const { status, code } = shapeOf(error)
      // Without `cause`: the SDK's error holds the request, and with it the number and the key.
      throw new OutsideFailure(
        `could not fetch the provider's message list (${String(status ?? code ?? 'no response')})`,
      )
    })
  const aheadMs =
    options.nowMs() - (Date.parse(client.httpClient.lastResponse?.headers.date) || options.nowMs())
  const earliestMs = Date.parse(options.attemptedAt) - Math.max(0, aheadMs) - CLOCK_SKEW_MS
  const bodies = [message.text, `${TRIAL_PREFIX}${message.text}`]
  const found = listed.find(
    ({ sid, body, dateCreated }) =>
      bodies.includes(body) && dateCreated.getTime() >= earliestMs && !options.isKnown(sid),
  )
  return found?.sid ?? null
}

const LISTED = 50
/** What the provider puts before each text of a trial account. */
const TRIAL_PREFIX = 'Sent from your Twilio trial account - '
/** The provider's times have a resolution of seconds and come from its own clock. */
const CLOCK_SKEW_MS = 60_000

function outcomeOf(error: unknown, retryAfterMs: number): Failure | Ambiguous {
  if (error instanceof ProviderUnreachable) {
    if (!error.neverReached) return { status: 'ambiguous', answered: false }
    return failed('unavailable', { mayRetry: true })
  }
  const { status, code } = shapeOf(error)
  if (typeof status !== 'number' || status < 400) return { status: 'ambiguous', answered: false }
  const providerCode = typeof code === 'number' ? code : null
  const retry = { mayRetry: true, retryAfterMs }
  if (status >= 500) {
    // With its own error code the provider reports the failure itself. Without, a gateway may have responded.
    if (providerCode === null) return { status: 'ambiguous', answered: true }
    return { ...failed('unavailable', retry), providerCode }
  }
  if (status === 429) return { ...failed('rate_limited', retry), providerCode }
  if (providerCode === OPTED_OUT) return { ...failed('opted_out'), providerCode }
  const isAboutAccount = providerCode === null || providerCode < FIRST_MESSAGE_CODE
  if (!isAboutAccount || !ACCOUNT_REFUSED.has(status)) return { ...failed('refused'), providerCode }
  // Every attempt fails until the settings change.
  return { ...failed('credentials', { mayRetry: true, retryAfterMs: LONGEST_RETRY_MS }), providerCode }
}

/** Statuses that concern the account rather than the text. */
const ACCOUNT_REFUSED = new Set([401, 403, 404])

/** The SDK's errors have a status, network errors a code. */
function shapeOf(error: unknown): { status: unknown; code: unknown } {
  if (typeof error !== 'object' || error === null) return { status: null, code: null }
  return { status: 'status' in error ? error.status : null, code: 'code' in error ? error.code : null }
}
