import type { EventOf, NewEvent } from '../../ledger/event.ts'
import { signalFact } from '../lib/signals.ts'
import { failureSignal } from './failure-signal.ts'
import { segmentsOf } from './segments.ts'

export type Requested = EventOf<'delivery.requested'>
export type FailureKind = EventOf<'sms.failed'>['facts']['kind']
export type DelayKind = EventOf<'sms.delayed'>['facts']['kind']

/** The outcome of a text. `in_markup`: sent in the response to the provider's webhook. */
export type Ending =
  | { readonly status: 'sent'; readonly messageSid: string }
  | { readonly status: 'in_markup' }
  | { readonly status: 'unknown' }
  | { readonly status: 'failed'; readonly kind: FailureKind; readonly providerCode?: number | null }

type Party = 'owner' | 'guest'

/** Recorded before each attempt. */
export function attemptedFact(event: Requested, attempt: number): NewEvent {
  const { deliveryId } = event.facts
  return {
    type: 'delivery.attempted',
    ...placeOf(event),
    key: `delivery:${deliveryId}:attempt:${attempt}`,
    facts: { deliveryId, channel: 'sms', attempt },
  }
}

/** An attempt failed, and the text will be retried. */
export function retriedFact(
  event: Requested,
  attempt: number,
  { kind, retryAt }: { readonly kind: DelayKind; readonly retryAt: string },
): NewEvent {
  const { deliveryId } = event.facts
  return {
    type: 'delivery.failed',
    ...placeOf(event),
    key: `delivery:${deliveryId}:failed:${attempt}`,
    facts: { deliveryId, channel: 'sms', attempt, kind, final: false, retryAt },
  }
}

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

/** The facts of a text's outcome, including a signal to the delegate if it failed. */
export function endedFacts(
  event: Requested,
  attempt: number,
  ending: Ending,
  context: { readonly party: Party; readonly wasDelayed: boolean; readonly newId: () => string },
): NewEvent[] {
  const { deliveryId, taskId } = event.facts
  const body = { to: event.body?.target ?? '', text: event.body?.text ?? '' }
  const at = { ...placeOf(event), derivedFrom: [event.seq] }
  const facts = { deliveryId, channel: 'sms' as const, attempt }
  const key = `delivery:${deliveryId}:ended`
  const { party } = context
  // The notice about the delay is obsolete.
  const settled: NewEvent[] = context.wasDelayed
    ? [
        {
          type: 'signal.dismissed',
          actor: 'service',
          channel: 'inner',
          facts: { signalIds: [delaySignalId(deliveryId)], reason: 'superseded' },
        },
      ]
    : []
  if (ending.status === 'sent' || ending.status === 'in_markup') {
    const messageSid = ending.status === 'sent' ? ending.messageSid : null
    return [
      {
        type: 'sms.sent',
        ...at,
        actor: 'delegate',
        key: messageSid === null ? `sms-sent:delivery:${deliveryId}` : `sms-sent:${messageSid}`,
        facts: { messageSid, deliveryId, party, segments: segmentsOf(body.text) },
        body,
      },
      { type: 'delivery.succeeded', ...placeOf(event), key, facts: { ...facts, providerId: messageSid } },
      ...settled,
    ]
  }
  const kind = ending.status === 'unknown' ? 'unknown' : ending.kind
  const providerCode = ending.status === 'failed' ? (ending.providerCode ?? undefined) : undefined
  const ended: NewEvent =
    ending.status === 'unknown'
      ? { type: 'delivery.unknown', ...placeOf(event), key, facts }
      : {
          type: 'delivery.failed',
          ...placeOf(event),
          key,
          facts: { ...facts, kind, final: true, retryAt: null },
        }
  if (!event.body) return [ended, ...settled]
  // If a task's text fails, the chat delivers the outcome.
  const fallsBackToChat = taskId !== null && ending.status === 'failed'
  const what = kind === 'unknown' ? 'may not have been sent' : 'was not sent'
  return [
    {
      type: 'sms.failed',
      ...at,
      facts: { deliveryId, party, kind, ...(providerCode === undefined ? {} : { providerCode }) },
      body,
    },
    ended,
    ...(event.conversationId === null || fallsBackToChat
      ? []
      : [failureSignal({ ...body, seq: event.seq, what }, context.newId())]),
    ...settled,
  ]
}

/** The facts of a delivery belong beside its request. */
function placeOf({ conversationId, spanId, turnId, seq }: Requested) {
  return {
    actor: 'service' as const,
    channel: 'sms' as const,
    conversationId,
    spanId,
    turnId,
    causedBy: seq,
  }
}
