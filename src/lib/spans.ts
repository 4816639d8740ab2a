import type { Channel, EventOf, NewEvent } from '../../ledger/event.ts'

/** The fact that a span ended, which it does once. */
export function spanClosed(
  span: { readonly conversationId: string | null; readonly spanId: string },
  reason: EventOf<'span.closed'>['facts']['reason'],
  channel?: Channel,
): NewEvent {
  const { conversationId, spanId } = span
  const key = `span-closed:${spanId}`
  return { type: 'span.closed', actor: 'service', channel, conversationId, spanId, key, facts: { reason } }
}
