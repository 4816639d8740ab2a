import { type Draft, newSalt, toDraft } from '../../ledger/codec.ts'
import { createIds } from '../../ledger/ids.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { timelineEvents } from './timeline.ts'

const BATCH_EVENTS = 2000

/** Writes a ledger of `count` events (see `timelineEvents`); the first start builds the views. */
export function generateLedger(directory: string, count: number, chainedThrough = 0): void {
  let nowMs = Date.UTC(2026, 0, 1)
  const newId = createIds(() => nowMs)
  const ledger = openLedger(directory, newId)
  let batch: Draft[] = []
  const flush = () => {
    ledger.commit([batch])
    batch = []
  }
  for (const event of timelineEvents(count, chainedThrough)) {
    nowMs += 1000
    batch.push(toDraft(event, { newId, newSalt, at: new Date(nowMs).toISOString() }))
    if (batch.length === BATCH_EVENTS) flush()
  }
  flush()
  ledger.close()
}
