import type { EventOf, NewEvent } from '../../ledger/event.ts'
import { signalFact } from '../lib/signals.ts'
import { segmentsOf } from '../text/segments.ts'
import { placeOf } from './facts.ts'
import type { Outcome, Requested } from './transport.ts'

type DelayKind = EventOf<'sms.delayed'>['facts']['kind']

/** Informs the owner and the delegate that texts are delayed, and why. */
export function delayedFacts(event: Requested, kind: DelayKind, giveUpAt: string): NewEvent[] {
  const { deliveryId } = event.facts
  return [
    {
      type: 'sms.delayed',
      ...placeOf(event),
      key: `sms-delayed:${deliveryId}`,
      facts: { deliveryId, kind, since: event.at, giveUpAt },
    },
    signalFact(
      {
        kind: 'texts_delayed',
        mode: 'next-turn',
        priority: 4,
        dedupKey: `texts-delayed:${deliveryId}`,
        text: `Text messages have been waiting since ${event.at}: ${DELAY_WORDS[kind]}. They are retried until ${giveUpAt}.`,
        causedBy: event.seq,
      },
      delaySignalId(deliveryId),
    ),
  ]
}

const DELAY_WORDS: Readonly<Record<DelayKind, string>> = {
  unavailable: 'the provider does not answer',
  rate_limited: 'the provider is rate limiting',
  credentials: 'the provider rejects the credentials in the settings',
  budget: 'the daily limit is reached',
}

const delaySignalId = (deliveryId: string): string => `delayed-${deliveryId}`

/** The facts of a text's outcome around `ended`, including a signal to the delegate if it failed. */
export function textEnd(
  event: Requested,
  outcome: Outcome,
  ended: NewEvent,
  context: {
    readonly party: 'owner' | 'guest'
    readonly wasDelayed: boolean
    readonly newId: () => string
  },
): NewEvent[] {
  const { body } = event
  const { deliveryId, taskId } = event.facts
  const { party } = context
  // The notice about the delay is obsolete.
  const dismissed: NewEvent[] = context.wasDelayed
    ? [
        {
          type: 'signal.dismissed',
          actor: 'service',
          channel: 'inner',
          facts: { signalIds: [delaySignalId(deliveryId)], reason: 'superseded' },
        },
      ]
    : []
  if (!body || outcome.status === 'erased' || outcome.status === 'obsolete') return [ended, ...dismissed]
  const words = { to: body.target, text: body.text }
  const at = { ...placeOf(event), derivedFrom: [event.seq], body: words }
  if (outcome.status === 'delivered') {
    const { providerId: messageSid } = outcome
    const sent: NewEvent = {
      type: 'sms.sent',
      ...at,
      actor: 'delegate',
      key: `sms-sent:${messageSid ?? `delivery:${deliveryId}`}`,
      facts: { messageSid, deliveryId, party, segments: segmentsOf(body.text) },
    }
    return [sent, ended, ...dismissed]
  }
  const { kind, providerCode = null } = outcome.status === 'failed' ? outcome : { kind: 'unknown' as const }
  const notSent: NewEvent = {
    type: 'sms.failed',
    ...at,
    facts: { deliveryId, party, kind, ...(providerCode === null ? {} : { providerCode }) },
  }
  // If a task's text fails, the chat delivers the outcome.
  const fallsBackToChat = taskId !== null && outcome.status === 'failed'
  if (event.conversationId === null || fallsBackToChat) return [notSent, ended, ...dismissed]
  const what = kind === 'unknown' ? 'may not have been sent' : 'was not sent'
  const signal = failureSignal({ ...words, seq: event.seq, what }, context.newId())
  return [notSent, ended, signal, ...dismissed]
}

/** Informs the delegate in its next turn about a text that did not arrive. */
export function failureSignal(
  failed: {
    readonly to: string
    readonly text: string
    /** The fact that holds these words. */
    readonly seq: number
    readonly what: 'was not sent' | 'may not have been sent' | 'did not arrive'
  },
  signalId: string,
): NewEvent {
  const { to, text, seq, what } = failed
  return signalFact(
    {
      kind: 'text_failed',
      mode: 'next-turn',
      priority: 4,
      dedupKey: `text-failed:${seq}`,
      text: `The text to ${to} ${what}: "${text}"`,
      causedBy: seq,
      derivedFrom: [seq],
    },
    signalId,
  )
}
