import type { EventArea } from './events/catalogue.ts'
import type { AnyEvent, LedgerReader } from './reader.ts'

/**
 * Tells that the head moved; with `areas`, only when facts of those may be among the new ones: a look at the views
 * after each fact of any kind would cost a turn more than its own facts do. Returns the function that ends it.
 */
export type SubscribeHead = (onMoved: () => void, areas?: readonly EventArea[]) => () => void

const BATCH_EVENTS = 500

/**
 * Every event after `fromSeq`, once and in order, those still to come included, until `signal` aborts.
 *
 * Backfill, cut-over and live are one loop: the news is only that the head moved, the events are always read
 * from the ledger. So nothing is buffered for a slow consumer, and there is no seam at which an event could be
 * lost or given twice.
 */
export async function* follow(
  reader: Pick<LedgerReader, 'readAfter'>,
  subscribeHead: SubscribeHead,
  fromSeq: number,
  signal: AbortSignal,
): AsyncGenerator<AnyEvent> {
  let position = fromSeq
  let moved = Promise.withResolvers<void>()
  const wake = () => moved.resolve()
  const unsubscribe = subscribeHead(wake)
  signal.addEventListener('abort', wake)
  try {
    while (!signal.aborted) {
      // Renewed before the read: a head that moves during it wakes the next wait.
      moved = Promise.withResolvers<void>()
      const events = reader.readAfter(position, BATCH_EVENTS)
      for (const event of events) {
        if (signal.aborted) return
        yield event
        position = event.seq
      }
      if (events.length === 0) await moved.promise
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wake)
  }
}
