import type { Twilio } from 'twilio'
import { OutsideFailure } from '../../outbound/outside-failure.ts'

export type OutgoingText = {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly statusCallback: string | null
}

/** What came of handing a text to the provider. */
export type SendOutcome =
  | { readonly status: 'sent'; readonly messageSid: string }
  /** It is certain that nothing was sent. `mayRetry`: it may be worth another try. */
  | {
      readonly status: 'failed'
      readonly kind: 'refused' | 'opted_out' | 'rate_limited' | 'unavailable'
      readonly providerCode: number | null
      readonly mayRetry: boolean
    }
  /**
   * The provider may have taken it: only its own list can tell. `answered`: it did answer, with a failure, so what its
   * list does not have was not taken.
   */
  | { readonly status: 'ambiguous'; readonly answered: boolean }

/** The recipient wants no texts of this number. */
const OPTED_OUT = 21610
/** The request cannot have reached anybody. */
const NEVER_REACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** Hands one text to the provider, once. Never throws for what the provider or the network does. */
export async function sendText(client: Twilio, message: OutgoingText): Promise<SendOutcome> {
  const { from, to, text, statusCallback } = message
  try {
    const sent = await client.messages.create({
      from,
      to,
      body: text,
      ...(statusCallback === null ? {} : { statusCallback }),
    })
    return { status: 'sent', messageSid: sent.sid }
  } catch (error) {
    return outcomeOf(error)
  }
}

/**
 * Looks for a text among those that the provider has: the same words to the same number, not older than the
 * attempt, and none that is known to be another's. Null when it is not there; throws when the list cannot be had. By
 * how much this machine's clock is ahead of the provider's is told by the provider's answer.
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
      // Not as its cause either: the error of the SDK holds the request, and with it the number and the key.
      throw new OutsideFailure(
        `the list of the provider could not be had (${String(status ?? code ?? 'no answer')})`,
      )
    })
  const aheadMs =
    options.nowMs() - (Date.parse(client.httpClient.lastResponse?.headers.date) || options.nowMs())
  const earliestMs = Date.parse(options.attemptedAt) - Math.max(0, aheadMs) - CLOCK_SKEW_MS
  const found = listed.find(
    ({ sid, body, dateCreated }) =>
      body === message.text && dateCreated.getTime() >= earliestMs && !options.isKnown(sid),
  )
  return found?.sid ?? null
}

const LISTED = 50
/** The provider counts in seconds, and by its own clock. */
const CLOCK_SKEW_MS = 60_000

function outcomeOf(error: unknown): SendOutcome {
  const { status, code } = shapeOf(error)
  if (typeof status === 'number' && status >= 400 && status < 500) {
    const providerCode = typeof code === 'number' ? code : null
    if (providerCode === OPTED_OUT)
      return { status: 'failed', kind: 'opted_out', providerCode, mayRetry: false }
    const isLimited = status === 429
    return {
      status: 'failed',
      kind: isLimited ? 'rate_limited' : 'refused',
      providerCode,
      mayRetry: isLimited,
    }
  }
  if (typeof code === 'string' && NEVER_REACHED.has(code)) {
    return { status: 'failed', kind: 'unavailable', providerCode: null, mayRetry: true }
  }
  if (typeof status === 'number' && status >= 500) {
    // With a code of its own the provider says itself that it failed; without, a gateway before it may have spoken.
    if (typeof code === 'number') {
      return { status: 'failed', kind: 'unavailable', providerCode: code, mayRetry: true }
    }
    return { status: 'ambiguous', answered: true }
  }
  return { status: 'ambiguous', answered: false }
}

/** The SDK's own errors have a status, those of the network a code. */
function shapeOf(error: unknown): { status: unknown; code: unknown } {
  if (typeof error !== 'object' || error === null) return { status: null, code: null }
  return { status: 'status' in error ? error.status : null, code: 'code' in error ? error.code : null }
}
