import type { Append, Appended, NewEvent } from '../../../ledger/event.ts'
import type { TextQueries } from '../../../projections/texts.ts'
import type { Placement } from '../../conversation/placement.ts'
import { keywordOf } from './keywords.ts'
import { segmentsOf } from './segments.ts'

/** The longest text that a phone can send through the provider; what a stranger writes beyond it is cut. */
const MAX_GUEST_CHARS = 1_600
const MAX_REMEMBERED_IDS = 1_000

/** A text as the provider hands it over. */
export type IncomingText = {
  readonly messageSid: string
  readonly party: 'owner' | 'guest'
  readonly from: string
  readonly to: string
  readonly text: string
  readonly mediaTypes: readonly string[]
  readonly optOutType: string
}

export type Received =
  /** A turn will answer it. */
  | { readonly status: 'asked'; readonly turnId: string }
  /** Taken note of; nothing answers it. */
  | { readonly status: 'ignored' }
  /** It had come before. */
  | { readonly status: 'repeated' }
  /** A stranger's, beyond what strangers may have in a day. It leaves no trace. */
  | { readonly status: 'over_budget' }

export type SmsInbox = {
  /** Durable when it resolves, however often the provider sends it: each message id is at most one fact. */
  receive(text: IncomingText): Promise<Received>
}

/** The way in for texts: each becomes a fact, and one that somebody should answer asks for a turn. */
export function createSmsInbox(options: {
  readonly append: Append
  readonly placement: Placement
  readonly texts: TextQueries
  readonly isRecorded: (key: string) => boolean
  readonly guestIsSpent: (number: string) => boolean
  /** By what way a text that came to this number is answered. */
  readonly replyBy: (to: string) => 'rest' | 'markup'
  readonly newId: () => string
}): SmsInbox {
  const { append, placement, texts, newId } = options
  let last: Promise<unknown> = Promise.resolve()
  /** Message ids of texts over the budget: a retry is not answered when a place becomes free. */
  const overBudget = new Set<string>()

  function ignoreReason(text: IncomingText, isOptedOut: boolean) {
    const keyword = keywordOf(text.text, isOptedOut, text.optOutType)
    if (keyword) return keyword
    return text.text.trim() === '' && text.mediaTypes.length === 0 ? 'empty' : null
  }

  function leaveOut(messageSid: string): Received {
    overBudget.add(messageSid)
    if (overBudget.size > MAX_REMEMBERED_IDS) overBudget.delete(overBudget.values().next().value ?? '')
    return { status: 'over_budget' }
  }

  async function receive(whole: IncomingText): Promise<Received> {
    const { messageSid, party, from } = whole
    const key = `sms:${messageSid}`
    if (options.isRecorded(key)) return { status: 'repeated' }
    const text = party === 'guest' ? { ...whole, text: whole.text.slice(0, MAX_GUEST_CHARS) } : whole
    const isOptedOut = texts.isOptedOut(from)
    const reason = ignoreReason(text, isOptedOut)
    // A first STOP is obeyed in any case. Another one needs a START before it, and that has its place in the budget.
    const isObeyed = reason === 'opt_out' && !isOptedOut
    if (party === 'guest' && !isObeyed && (overBudget.has(messageSid) || options.guestIsSpent(from)))
      return leaveOut(messageSid)
    if (reason !== null) {
      const conversationId = party === 'owner' ? (placement.openConversationId() ?? null) : null
      const result = await append([
        {
          type: 'sms.ignored',
          actor: party,
          channel: 'sms',
          conversationId,
          key,
          facts: { messageSid, party, reason },
          body: { from, text: text.text },
        },
      ])
      return { status: result.status === 'appended' ? 'ignored' : 'repeated' }
    }
    const turnId = newId()
    const received: NewEvent = {
      type: 'sms.received',
      actor: party,
      channel: 'sms',
      turnId,
      key,
      facts: {
        messageSid,
        party,
        segments: segmentsOf(text.text),
        mediaTypes: [...text.mediaTypes],
        replyBy: options.replyBy(text.to),
      },
      body: { from, to: text.to, text: text.text },
    }
    const result = await place(party, received)
    return result.status === 'appended' ? { status: 'asked', turnId } : { status: 'repeated' }
  }

  /** The owner's joins the conversation; a stranger's stands in a span of its own, outside of it. */
  function place(party: IncomingText['party'], received: NewEvent): Promise<Appended> {
    return party === 'owner'
      ? placement.appendToInteraction('sms', (at) => [{ ...received, ...at }])
      : placement.appendToNewSpan({ kind: 'interaction', channel: 'sms', inConversation: false }, () => [
          received,
        ])
  }

  return {
    // One after the other, so that a budget which is nearly spent is not overdrawn by texts that come at once.
    receive(text) {
      const result = last.then(() => receive(text))
      last = result.catch(() => undefined)
      return result
    },
  }
}
