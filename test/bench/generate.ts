import { createSalts, type Draft, toDraft } from '../../ledger/codec.ts'
import { createIds } from '../../ledger/ids.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { openWriter } from '../../src/storage/writer.ts'
import { timelineEvents } from './timeline.ts'

const BATCH_EVENTS = 2000

/** Makes a ledger of `count` events (see `timelineEvents`) in `directory`; the views come with the first start. */
export function generateLedger(directory: string, count: number, chainedThrough = 0): void {
  let nowMs = Date.UTC(2026, 0, 1)
  const newId = createIds(() => nowMs)
  const newSalt = createSalts()
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

/** What one extraction reads at most, as its fact can hold. */
const UTTERANCES_READ = 100

/**
 * Says that extraction has read all that the owner said, as it has in a service that runs. A backlog would be read
 * beside whatever is measured.
 */
export function markRead(directory: string): void {
  const context = { newId: createIds(Date.now), newSalt: createSalts(), at: new Date().toISOString() }
  const writer = openWriter({ directory, newId: context.newId, warn: () => undefined })
  const { ledger } = writer
  const seqs = ledger.seqsOf(['chat.message.received'], { firstSeq: 1, lastSeq: ledger.head().seq })
  const batch: Draft[] = []
  for (let from = 0; from < seqs.length; from += UTTERANCES_READ) {
    const utteranceSeqs = seqs.slice(from, from + UTTERANCES_READ)
    const range = { fromSeq: utteranceSeqs.at(0) ?? 1, toSeq: utteranceSeqs.at(-1) ?? 1, utteranceSeqs }
    const facts = { ...range, method: 'rules' as const, candidates: 0, accepted: 0, usage: null }
    batch.push(
      toDraft({ type: 'memory.extraction.completed', actor: 'service', channel: 'inner', facts }, context),
    )
  }
  writer.commit([batch])
  while (writer.step(BATCH_EVENTS));
  writer.close()
}
