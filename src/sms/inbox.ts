import pLimit from 'p-limit'
import type { Append, Appended, NewEvent } from '../../ledger/event.ts'
import type { TextQueries } from '../../projections/texts.ts'
import { isPhoneNumber, isWithheld } from '../settings/party.ts'
import type { Placement } from '../storage/placement.ts'
import { isHaltWord } from '../text/halt-word.ts'
import { segmentsOf } from '../text/segments.ts'
import { keywordOf } from './keywords.ts'

/** The provider's limit for a text. Longer texts of guests are cut. */
const MAX_GUEST_CHARS = 1_600
const MAX_REMEMBERED_IDS = 1_000

/** An incoming text as the provider reports it. */
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
  /** Recorded, but gets no reply. */
  | { readonly status: 'ignored' }
  /** Received before. */
  | { readonly status: 'repeated' }
  /** The owner's keyword. The delegate is halted. */
  | { readonly status: 'halted' }
  /** From a guest over the daily budget. Not recorded. */
  | { readonly status: 'over_budget' }

export type SmsInbox = {
  /** Resolves once the text is durable. Idempotent by message id. */
  receive(text: IncomingText): Promise<Received>
}

/** Records incoming texts, and starts a turn for each one that needs a reply. */
export function createSmsInbox(options: {
  readonly append: Append
  readonly placement: Placement
  readonly texts: TextQueries
  readonly isRecorded: (key: string) => boolean
  readonly guestIsSpent: (number: string) => boolean
  /** How to reply to texts sent to this number. */
  readonly replyBy: (to: string) => 'rest' | 'markup'
  readonly halt: (by: 'sms') => Promise<void>
  readonly newId: () => string
}): SmsInbox {
  const { append, placement, texts, newId } = options
  const inTurn = pLimit(1)
  /** Message ids over budget: a retry stays over budget even if the budget has room again. */
  const overBudget = new Set<string>()

  function ignoreReason(text: IncomingText, isOptedOut: boolean) {
    const keyword = keywordOf(text.text, isOptedOut, text.optOutType)
    if (keyword) return keyword
    if (text.party === 'owner' && isHaltWord(text.text)) return 'halt'
    if (text.text.trim() === '' && text.mediaTypes.length === 0) return 'empty'
    // No reply would arrive.
    if (isOptedOut) return 'opted_out'
    return isPhoneNumber(text.from) && !isWithheld(text.from) ? null : 'unreachable'
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
    // A first STOP is always obeyed. A second one needs a START before it, which counts against the budget.
    const isObeyed = reason === 'opt_out' && !isOptedOut
    if (party === 'guest' && !isObeyed && (overBudget.has(messageSid) || options.guestIsSpent(from)))
      return leaveOut(messageSid)
    // First, because a repeated webhook changes nothing once the text is recorded.
    if (reason === 'halt') await options.halt('sms')
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
      if (result.status !== 'appended') return { status: 'repeated' }
      return { status: reason === 'halt' && !isOptedOut ? 'halted' : 'ignored' }
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

  /** The owner's text joins the conversation. A guest's gets a span of its own outside it. */
  function place(party: IncomingText['party'], received: NewEvent): Promise<Appended> {
    return party === 'owner'
      ? placement.appendToInteraction('sms', (at) => [{ ...received, ...at }])
      : placement.appendToNewSpan({ kind: 'interaction', channel: 'sms', inConversation: false }, [received])
  }

  return {
    // Serialised, so that concurrent texts cannot overdraw the budget.
    receive: (text) => inTurn(() => receive(text)),
  }
}
