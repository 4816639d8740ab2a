import type { Append, EventOf, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { LostTextRow, TextQueries } from '../../projections/texts.ts'
import { createReactor, type Reactor } from '../lib/reactor.ts'
import { failureSignal } from './failure-signal.ts'

/**
 * Records each text that the provider accepted but did not deliver, exactly once. The status may arrive
 * before or after the text is recorded as sent.
 */
export function createLostTexts(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly texts: TextQueries
  readonly onHeadMoved: SubscribeHead
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}): Reactor {
  const { append, ledger, texts } = options
  function sentOf({ sentSeq }: LostTextRow): EventOf<'sms.sent'> | null {
    const [sent] = ledger.readSeqs([sentSeq])
    return sent?.type === 'sms.sent' && sent.body ? sent : null
  }
  function factsOf({ messageSid, status, errorCode }: LostTextRow, sent: EventOf<'sms.sent'>): NewEvent[] {
    const { party, deliveryId } = sent.facts
    const body = { to: sent.body?.to ?? '', text: sent.body?.text ?? '' }
    return [
      {
        type: 'sms.undelivered',
        actor: 'service',
        channel: 'sms',
        conversationId: sent.conversationId,
        key: `sms-undelivered:${messageSid}`,
        causedBy: sent.seq,
        derivedFrom: [sent.seq],
        facts: {
          messageSid,
          ...(deliveryId === undefined ? {} : { deliveryId }),
          party,
          status,
          ...(errorCode === null ? {} : { providerCode: errorCode }),
        },
        body,
      },
      ...(sent.conversationId === null
        ? []
        : [failureSignal({ ...body, seq: sent.seq, what: 'did not arrive' }, options.newId())]),
    ]
  }

  return createReactor<{ readonly row: LostTextRow; readonly sent: EventOf<'sms.sent'> }>({
    onHeadMoved: options.onHeadMoved,
    areas: ['sms'],
    next(isTaken) {
      for (const row of texts.lost()) {
        const sent = isTaken(row.messageSid) ? null : sentOf(row)
        if (sent) return { row, sent }
      }
      return undefined
    },
    laneOf: ({ row }) => row.messageSid,
    stepOf: ({ row }) => row,
    run: ({ row, sent }) => append(factsOf(row, sent)),
    onFault: options.onFault,
  })
}
