import { createCallQueries } from '../../projections/calls.ts'
import { createTextQueries } from '../../projections/texts.ts'
import type { Tool } from '../model/tool.ts'
import { isWithheld, ownerNumbersOf } from '../settings/party.ts'
import type { Settings } from '../settings/settings.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { createSmsInbox, type IncomingText } from './inbox.ts'
import { type ProposeText, smsTools } from './tool.ts'

/** How long a webhook waits for a reply. The provider would wait longer. */
const MARKUP_REPLY_MS = 1_500

export type TextOutcome =
  /** `reply` goes into the markup; null if there is none, or if it is sent by the REST API. */
  | { readonly status: 'taken'; readonly reply: string | null }
  /** The text is recorded, and the delegate is halted. */
  | { readonly status: 'halted' }
  /** Nothing is recorded or answered. The caller counts it. */
  | { readonly status: 'over_budget' }

export type Texts = {
  /** Takes a text within two seconds, however slow the model is. */
  receive(text: IncomingText): Promise<TextOutcome>
  statusReported(report: {
    readonly messageSid: string
    readonly status: string
    readonly errorCode: number | null
  }): Promise<void>
  /** The events with the words of a guest's number, in texts and calls, oldest first. */
  guestWordSeqs(number: string, limit: number): readonly number[]
  /** The tools of the delegate. A text to somebody else is only proposed. */
  tools(propose: ProposeText): Tool[]
}

/** Wires incoming texts, and the tool that sends them. */
export function buildSms(options: {
  readonly storage: Storage
  readonly settings: Settings
  readonly placement: Placement
  /** Whether the provider's credentials are set. */
  readonly hasCredentials: () => boolean
  /** Takes the reply of a turn out of the outbox, for the webhook's response. */
  readonly claimReply: (turnId: string, ms: number) => Promise<string | null>
  readonly halt: (by: 'sms') => Promise<void>
  /** Whether guests have used up the budget of this number. */
  readonly guestIsSpent: (number: string) => boolean
  readonly newId: () => string
}): Texts {
  const { storage, settings, hasCredentials } = options
  const { append, ledger, views } = storage
  const texts = createTextQueries(views)
  const calls = createCallQueries(views)
  const ownNumber = () => settings.get('TELEPHONY_PHONE_NUMBER')
  const replyBy = (to: string) => (hasCredentials() && (ownNumber() ?? to) !== '' ? 'rest' : 'markup')
  const inbox = createSmsInbox({
    ...options,
    append,
    texts,
    isRecorded: (key) => ledger.rowByKey(key) !== undefined,
    replyBy,
  })

  return {
    /** Empty for a withheld number, which many people share. */
    guestWordSeqs: (number, limit) =>
      isWithheld(number)
        ? []
        : [...calls.guestWordSeqs(number, limit), ...texts.guestWordSeqs(number, limit)]
            .sort((a, b) => a - b)
            .slice(-limit),
    tools: (propose) =>
      smsTools({
        append,
        propose,
        ownerNumbers: () => ownerNumbersOf(settings),
        isOptedOut: texts.isOptedOut,
        isConfigured: () => hasCredentials() && ownNumber() !== null,
      }),
    async receive(text) {
      const received = await inbox.receive(text)
      if (received.status === 'over_budget' || received.status === 'halted') return received
      if (received.status !== 'asked' || replyBy(text.to) === 'rest') return { status: 'taken', reply: null }
      return { status: 'taken', reply: await options.claimReply(received.turnId, MARKUP_REPLY_MS) }
    },
    async statusReported({ messageSid, status, errorCode }) {
      await append([
        {
          type: 'sms.status.reported',
          actor: 'service',
          channel: 'sms',
          key: `sms-status:${messageSid}:${status}`,
          facts: { messageSid, status, ...(errorCode === null ? {} : { errorCode }) },
        },
      ])
    },
  }
}
