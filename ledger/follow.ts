import { setImmediate } from 'node:timers/promises'
import type { EventArea } from './events/catalogue.ts'
import type { AnyEvent, LedgerReader } from './reader.ts'

/**
 * Calls `onMoved` after the head moved; with `areas`, only if the new facts may include those areas. Returns
 * the function that unsubscribes.
 */
export type SubscribeHead = (onMoved: () => void, areas?: readonly EventArea[]) => () => void

/** Yields to the event loop after each, because imports and notes are large. */
const BATCH_EVENTS = 100

/**
 * Yields every past and future event after `fromSeq`, once and in order, until `signal` aborts.
 *
 * One loop serves backfill and live events: a notification only says that the head moved, and events are
 * always read from the ledger. So there is no buffer for a slow consumer, and no seam where an event could be
 * lost or repeated.
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
      // Reset before the read, so that a move during the read ends the next wait.
      moved = Promise.withResolvers<void>()
      const events = reader.readAfter(position, BATCH_EVENTS)
      for (const event of events) {
        if (signal.aborted) return
        yield event
        position = event.seq
      }
      if (events.length === 0) await moved.promise
      else if (events.length === BATCH_EVENTS) await setImmediate()
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wake)
  }
}
