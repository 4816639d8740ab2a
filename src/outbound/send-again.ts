import type { Append } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { DeliveryQueries } from '../../projections/deliveries.ts'

export type SendAgain = (
  deliveryId: string,
) => Promise<'requested' | 'unknown_text' | 'not_failed' | 'erased'>

/**
 * Requests a new delivery of a text that failed or may not have been sent, at the owner's request. Each
 * delivery can be repeated once; the new one has its own id and can be repeated in turn.
 */
export function createSendAgain(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly deliveries: Pick<DeliveryQueries, 'byId'>
  readonly newId: () => string
}): SendAgain {
  return async (deliveryId) => {
    const row = options.deliveries.byId(deliveryId)
    if (row?.channel !== 'sms') return 'unknown_text'
    if (row.status !== 'failed' && row.status !== 'unknown') return 'not_failed'
    const [event] = options.ledger.readSeqs([row.requestedSeq])
    if (event?.type !== 'delivery.requested' || !event.body) return 'erased'
    const { conversationId, spanId, seq, facts, body } = event
    const appended = await options.append([
      {
        type: 'delivery.requested',
        actor: 'owner',
        channel: 'sms',
        conversationId,
        spanId,
        key: `text-again:${deliveryId}`,
        causedBy: seq,
        derivedFrom: [seq],
        facts: { ...facts, deliveryId: options.newId(), retryOf: deliveryId },
        body,
      },
    ])
    return appended.status === 'duplicate' ? 'not_failed' : 'requested'
  }
}
