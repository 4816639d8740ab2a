import type { Append } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import type { DeliveryQueries } from '../../../projections/deliveries.ts'

export type SendAgain = (
  deliveryId: string,
) => Promise<'requested' | 'unknown_text' | 'not_failed' | 'erased'>

/**
 * Asks for another delivery of a text that failed, or of which nobody knows whether it left, because the owner says
 * so. Each delivery is made again once; the new one has an id of its own, and may be made again in turn.
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
