import type { Append, Appended, NewEvent } from '../../../ledger/event.ts'
import type { TextQueries } from '../../../projections/texts.ts'
import type { Placement } from '../../conversation/placement.ts'
import { keywordOf } from './keywords.ts'
import { segmentsOf } from './segments.ts'

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

export type SmsInbox = {
  /** Durable when it resolves, however often the provider sends it: each message id is one fact. */
  receive(text: IncomingText): Promise<Received>
}

/** The way in for texts: each becomes a fact, and one that somebody should answer asks for a turn. */
export function createSmsInbox(options: {
  readonly append: Append
  readonly placement: Placement
  readonly texts: TextQueries
  readonly isRecorded: (key: string) => boolean
  readonly guestsAnsweredInADay: () => number
  readonly guestDailyMessages: () => number
  /** By what way a text that came to this number is answered. */
  readonly replyBy: (to: string) => 'rest' | 'markup'
  readonly newId: () => string
}): SmsInbox {
  const { append, placement, texts, newId } = options
  let last: Promise<unknown> = Promise.resolve()

  function ignoreReason(text: IncomingText) {
    const keyword = keywordOf(text.text, texts.isOptedOut(text.from), text.optOutType)
    if (keyword) return keyword
    if (text.text.trim() === '' && text.mediaTypes.length === 0) return 'empty'
    if (text.party === 'owner') return null
    return options.guestsAnsweredInADay() >= options.guestDailyMessages() ? 'budget' : null
  }

  async function receive(text: IncomingText): Promise<Received> {
    const { messageSid, party, from } = text
    const key = `sms:${messageSid}`
    if (options.isRecorded(key)) return { status: 'repeated' }
    const reason = ignoreReason(text)
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
