import type { Append, EventOf, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { LostTextRow, TextQueries } from '../../projections/texts.ts'
import { failureSignal } from './failure-signal.ts'

export type LostTexts = {
  start(): void
  close(): Promise<void>
}

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
}): LostTexts {
  const { append, ledger, texts } = options
  let running: Promise<void> | null = null
  let unsubscribe: (() => void) | null = null

  function look(): void {
    if (running !== null || texts.lost().length === 0) return
    running = recordAll()
      .catch(options.onFault)
      .finally(() => {
        running = null
      })
  }
  async function recordAll(): Promise<void> {
    for (const row of texts.lost()) {
      const [sent] = ledger.readSeqs([row.sentSeq])
      if (sent?.type === 'sms.sent' && sent.body) await append(factsOf(row, sent))
    }
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

  return {
    start() {
      unsubscribe = options.onHeadMoved(look, ['sms'])
      look()
    },
    async close() {
      unsubscribe?.()
      await running
    },
  }
}
