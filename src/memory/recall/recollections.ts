import type { Database } from 'better-sqlite3'
import type { AnyEvent, LedgerReader } from '../../../ledger/reader.ts'
import type { Hit } from './ranker.ts'

/** A hit with its words, as they are now. */
export type Recollection = Hit & {
  readonly text: string
  /**
   * A turn was `said`; once every memory learned from it has been superseded it is `corrected`. A memory is
   * `active` or `contested`; others do not surface.
   */
  readonly status: 'said' | 'corrected' | 'active' | 'contested'
  /** Null for a turn. */
  readonly memory: {
    readonly id: string
    readonly subject: string
    readonly slot: string
    readonly value: string
    readonly sourceSeqs: readonly number[]
  } | null
}

type MemoryNow = {
  memoryId: string
  status: string
  subject: string | null
  slot: string | null
  value: string | null
}

/**
 * Reads hits from the ledger and the memories' views: point reads, fit for the main thread. What was erased,
 * barred, superseded or retired since it was indexed is left out.
 */
export function createRecollections(options: { readonly views: Database; readonly ledger: LedgerReader }) {
  const { views, ledger } = options
  const memoryAt = views.prepare<[number], MemoryNow>(
    'SELECT memoryId, status, subject, slot, value FROM memories WHERE storedSeq = ?',
  )
  const sources = views
    .prepare<[string], number>('SELECT seq FROM memory_sources WHERE memoryId = ? ORDER BY seq')
    .pluck()
  const learned = views
    .prepare<[number], string>(
      'SELECT memories.status FROM memory_sources JOIN memories USING (memoryId) WHERE memory_sources.seq = ?',
    )
    .pluck()
  const barred = views.prepare<[number], number>('SELECT 1 FROM memory_barred_sources WHERE seq = ?').pluck()

  function ofTurn(hit: Hit, text: string): Recollection | null {
    if (barred.get(hit.seq) !== undefined) return null
    const statuses = learned.all(hit.seq)
    const isCorrected = statuses.length > 0 && statuses.every((status) => status === 'superseded')
    return { ...hit, text, status: isCorrected ? 'corrected' : 'said', memory: null }
  }

  function ofMemory(hit: Hit, text: string): Recollection | null {
    const memory = memoryAt.get(hit.seq)
    if (memory?.status !== 'active' && memory?.status !== 'contested') return null
    const { memoryId: id, status, subject, slot, value } = memory
    const words = { subject: subject ?? '', slot: slot ?? '', value: value ?? '' }
    return { ...hit, text, status, memory: { id, ...words, sourceSeqs: sources.all(id) } }
  }

  /** In the order of the hits; each is read when it is asked for. */
  return function* recollect(hits: readonly Hit[]): Generator<Recollection, void, undefined> {
    for (const hit of hits) {
      const [event] = ledger.readSeqs([hit.seq])
      const text = textOf(event)
      const recollection =
        text === null ? null : hit.kind === 'turn' ? ofTurn(hit, text) : ofMemory(hit, text)
      if (recollection) yield recollection
    }
  }
}

/** The words of a turn or a memory; null once erased. */
function textOf(event: AnyEvent | undefined): string | null {
  switch (event?.type) {
    case 'chat.message.received':
    case 'chat.reply.sent':
    case 'chat.reply.stopped':
    case 'sms.received':
    case 'sms.sent':
    case 'call.utterance.heard':
    case 'call.reply.spoken':
    case 'memory.stored':
      return event.body?.text ?? null
    default:
      return null
  }
}
