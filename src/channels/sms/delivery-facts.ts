import type { EventOf, NewEvent } from '../../../ledger/event.ts'
import { signalFact } from '../../signals/signals.ts'
import { failureSignal } from './failure-signal.ts'
import { segmentsOf } from './segments.ts'

export type Requested = EventOf<'delivery.requested'>
export type FailureKind = EventOf<'sms.failed'>['facts']['kind']
export type DelayKind = EventOf<'sms.delayed'>['facts']['kind']

/** How a text ended. `in_markup`: it left in the answer to the provider's webhook. */
export type Ending =
  | { readonly status: 'sent'; readonly messageSid: string }
  | { readonly status: 'in_markup' }
  | { readonly status: 'unknown' }
  | { readonly status: 'failed'; readonly kind: FailureKind; readonly providerCode?: number | null }

type Party = 'owner' | 'guest'

/** The intent of an attempt, recorded before the act. */
export function attemptedFact(event: Requested, attempt: number): NewEvent {
  const { deliveryId } = event.facts
  return {
    type: 'delivery.attempted',
    ...placeOf(event),
    key: `delivery:${deliveryId}:attempt:${attempt}`,
    facts: { deliveryId, channel: 'sms', attempt },
  }
}

/** An attempt failed, and the text waits for the next one. */
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

/** Tells the owner and the delegate that texts are late, and why. */
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
        text: `Text messages cannot be sent since ${event.at}: ${DELAY_WORDS[kind]}. They are retried until ${giveUpAt}.`,
        causedBy: event.seq,
      },
      delaySignalId(deliveryId),
    ),
  ]
}

const DELAY_WORDS: Readonly<Record<DelayKind, string>> = {
  unavailable: 'the provider does not answer',
  rate_limited: 'the provider limits the requests',
  credentials: 'the provider refuses the credentials in the settings',
  budget: 'as many were sent as may be sent in a day',
}

const delaySignalId = (deliveryId: string): string => `delayed-${deliveryId}`

/** The end of a text: its outcome, what is shown of it, and what the delegate learns of it. */
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
  // Nobody has to hear any more that it is late.
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
  // The chat stands in for a task's text that failed.
  const isToldElsewhere = taskId !== null && ending.status === 'failed'
  const what = kind === 'unknown' ? 'may not have been sent' : 'was not sent'
  return [
    {
      type: 'sms.failed',
      ...at,
      facts: { deliveryId, party, kind, ...(providerCode === undefined ? {} : { providerCode }) },
      body,
    },
    ended,
    ...(event.conversationId === null || isToldElsewhere
      ? []
      : [failureSignal({ ...body, seq: event.seq, what }, context.newId())]),
    ...settled,
  ]
}

/** Where the facts of a delivery stand: beside what asked for it. */
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
