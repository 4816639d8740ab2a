import type { Append, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { LostTextRow, TextQueries } from '../../projections/texts.ts'
import { createReactor, type Reactor } from '../lib/reactor.ts'
import { failureSignal } from './text-facts.ts'

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

  function factsOf({ messageSid, sentSeq, status, errorCode }: LostTextRow): NewEvent[] {
    const [sent] = ledger.readSeqs([sentSeq])
    // The view forgets erased texts, so this is about to end.
    if (sent?.type !== 'sms.sent' || !sent.body) throw new Error(`no words of a text at seq ${sentSeq}`)
    const { seq, conversationId, body } = sent
    const { party, deliveryId } = sent.facts
    return [
      {
        type: 'sms.undelivered',
        actor: 'service',
        channel: 'sms',
        conversationId,
        key: `sms-undelivered:${messageSid}`,
        causedBy: seq,
        derivedFrom: [seq],
        facts: {
          messageSid,
          ...(deliveryId === undefined ? {} : { deliveryId }),
          party,
          status,
          ...(errorCode === null ? {} : { providerCode: errorCode }),
        },
        body,
      },
      ...(conversationId === null
        ? []
        : [failureSignal({ ...body, seq, what: 'did not arrive' }, options.newId())]),
    ]
  }

  return createReactor<LostTextRow>({
    onHeadMoved: options.onHeadMoved,
    areas: ['sms'],
    next: (isTaken) => texts.lost().find(({ messageSid }) => !isTaken(messageSid)),
    laneOf: ({ messageSid }) => messageSid,
    run: async (row) => append(factsOf(row)),
    onFault: options.onFault,
  })
}
