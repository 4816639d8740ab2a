import type { NewEvent } from '../../ledger/event.ts'
import type { Failure, Message, Outcome, Requested } from './transport.ts'

/** Recorded before each attempt. */
export function attemptedFact(event: Requested, attempt: number): NewEvent {
  const { deliveryId, channel } = event.facts
  return {
    type: 'delivery.attempted',
    ...placeOf(event),
    key: `delivery:${deliveryId}:attempt:${attempt}`,
    facts: { deliveryId, channel, attempt },
  }
}

/** An attempt failed, and will be retried. */
export function retriedFact(
  event: Requested,
  attempt: number,
  kind: Failure['kind'],
  retryAt: string,
): NewEvent {
  const { deliveryId, channel } = event.facts
  return {
    type: 'delivery.failed',
    ...placeOf(event),
    key: `delivery:${deliveryId}:failed:${attempt}`,
    facts: { deliveryId, channel, attempt, kind, final: false, retryAt },
  }
}

/** The end of a delivery. */
export function endedFact(event: Requested, attempt: number, outcome: Outcome): NewEvent {
  const { deliveryId, channel } = event.facts
  const facts = { deliveryId, channel, attempt }
  const head = { ...placeOf(event), key: `delivery:${deliveryId}:ended` }
  if (outcome.status === 'delivered')
    return { type: 'delivery.succeeded', ...head, facts: { ...facts, providerId: outcome.providerId } }
  if (outcome.status === 'unknown') return { type: 'delivery.unknown', ...head, facts }
  const unsent = { erased: channel === 'sms' ? 'refused' : 'erased', obsolete: 'obsolete' }
  const kind = outcome.status === 'failed' ? outcome.kind : unsent[outcome.status]
  return { type: 'delivery.failed', ...head, facts: { ...facts, kind, final: true, retryAt: null } }
}

/** Attempt, words and success in one transaction, because the chat is the ledger itself. */
export function chatFacts(message: Message): NewEvent[] {
  return [
    attemptedFact(message, 1),
    {
      type: 'chat.reply.sent',
      ...placeOf(message),
      actor: 'delegate',
      channel: 'chat',
      derivedFrom: [message.seq],
      facts: { deliveryId: message.facts.deliveryId },
      body: { text: message.body.text },
    },
    endedFact(message, 1, { status: 'delivered', providerId: null }),
  ]
}

/** The facts of a delivery belong beside its request. */
export function placeOf({ conversationId, spanId, turnId, seq, facts }: Requested) {
  const channel = facts.channel === 'sms' ? ('sms' as const) : ('system' as const)
  return { actor: 'service' as const, channel, conversationId, spanId, turnId, causedBy: seq }
}
