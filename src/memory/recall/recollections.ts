import type { Database } from 'better-sqlite3'
import type { AnyEvent, LedgerReader } from '../../../ledger/reader.ts'
import { saidWords } from '../learn/said-words.ts'
import type { Hit } from './ranker.ts'

/** A hit with its current text. */
export type Recollection = Hit & {
  readonly text: string
  /** A turn is `said`. Memories of other statuses than `active` and `contested` do not surface. */
  readonly status: 'said' | 'active' | 'contested'
  /** What holds now in place of memories learned from the turn, or repeated in it. */
  readonly corrections: readonly { readonly seq: number; readonly text: string }[]
  /** Null for a turn. */
  readonly memory: {
    readonly id: string
    readonly subject: string
    readonly slot: string
    readonly value: string
    readonly sourceSeqs: readonly number[]
  } | null
}

type MemoryNow = Omit<NonNullable<Recollection['memory']>, 'sourceSeqs'> & {
  readonly storedSeq: number
  readonly status: 'active' | 'contested'
  readonly sourceSeqs: string
}

type OriginNow = { seq: number; barred: number; corrections: string }
type Correction = Recollection['corrections'][number]

/**
 * Whether the delegate must not repeat an event: it is barred, or a source of a memory that is hidden, or in whose
 * place the owner wrote other words.
 */
const isBarred = (seq: string) => `EXISTS (SELECT 1 FROM memory_barred_sources WHERE seq = ${seq}
  UNION ALL SELECT 1 FROM memory_sources JOIN memories USING (memoryId) WHERE seq = ${seq} AND (status LIKE 'hidden:%'
    OR (status = 'superseded' AND EXISTS (SELECT 1 FROM memories AS successor
      WHERE successor.memoryId = memories.supersededBy AND successor.byHand = 1
        AND successor.canonicalKey IS NOT memories.canonicalKey))))`

/**
 * Reads hits from the ledger and the views by point lookups. Leaves out what was erased, barred, superseded
 * or retired since it was indexed.
 */
export function createRecollections(options: { readonly views: Database; readonly ledger: LedgerReader }) {
  const { views, ledger } = options
  const memoriesAt = views.prepare<[string], MemoryNow>(
    `SELECT storedSeq, memoryId AS id, status, subject, slot, value,
       (SELECT json_group_array(seq ORDER BY seq) FROM memory_sources WHERE memory_sources.memoryId = memories.memoryId)
         AS sourceSeqs
     FROM memories WHERE storedSeq IN (SELECT value FROM json_each(?)) AND status IN ('active', 'contested')`,
  )
  const originsAt = views.prepare<[string], OriginNow>(
    `SELECT asked.value AS seq, ${isBarred('asked.value')} AS barred,
       -- An override closes the validity of what it replaces; a refinement does not.
       (WITH RECURSIVE later (memoryId, isOverridden) AS (
           SELECT supersededBy, validUntil IS NOT NULL FROM memories WHERE status = 'superseded'
             AND (storedSeq = asked.value OR memoryId IN (SELECT memoryId FROM memory_sources WHERE seq = asked.value))
           UNION SELECT supersededBy, isOverridden OR validUntil IS NOT NULL
             FROM later JOIN memories USING (memoryId) WHERE status = 'superseded')
         SELECT json_group_array(DISTINCT json_object('seq', storedSeq, 'text', text))
         FROM later JOIN memories USING (memoryId) WHERE isOverridden AND status IN ('active', 'contested')) AS corrections
     FROM json_each(?) AS asked`,
  )

  /** A turn and what it was made from. For a text message, through the request to send it. */
  function originsOf(event: AnyEvent): readonly number[] {
    if (event.type === 'unknown') return []
    const asked = event.type === 'sms.sent' ? ledger.readSeqs(event.derivedFrom) : []
    return [event.seq, ...event.derivedFrom, ...asked.flatMap(({ derivedFrom }) => derivedFrom)]
  }

  function ofTurn(hit: Hit, text: string, origins: readonly OriginNow[]): Recollection | null {
    if (origins.some(({ barred }) => barred !== 0)) return null
    const corrections = origins.flatMap((origin): Correction[] => JSON.parse(origin.corrections))
    const distinct = new Map(corrections.map((correction) => [correction.seq, correction]))
    return { ...hit, text, status: 'said', corrections: [...distinct.values()], memory: null }
  }

  function ofMemory(hit: Hit, text: string, memory: MemoryNow | undefined): Recollection | null {
    if (!memory) return null
    const { storedSeq: _seq, status, ...words } = memory
    const sourceSeqs = JSON.parse(memory.sourceSeqs)
    return { ...hit, text, status, corrections: [], memory: { ...words, sourceSeqs } }
  }

  /** In the order of the hits. */
  return (hits: readonly Hit[]): Recollection[] => {
    const memorySeqs = hits.flatMap(({ kind, seq }) => (kind === 'memory' ? [seq] : []))
    const memories = memorySeqs.length === 0 ? [] : memoriesAt.all(JSON.stringify(memorySeqs))
    const memoryAt = new Map(memories.map((memory) => [memory.storedSeq, memory]))
    const events = new Map(ledger.readSeqs(hits.map(({ seq }) => seq)).map((event) => [event.seq, event]))
    const turns = [...events.values()].filter(({ type }) => type !== 'memory.stored')
    const originsBy = new Map(turns.map((event) => [event.seq, originsOf(event)]))
    const origins = originsAt.all(JSON.stringify([...new Set([...originsBy.values()].flat())]))
    const originAt = new Map(origins.map((origin) => [origin.seq, origin]))
    return hits.flatMap((hit) => {
      const event = events.get(hit.seq)
      const text = event ? textOf(event) : null
      if (text === null) return []
      if (hit.kind === 'memory') return ofMemory(hit, text, memoryAt.get(hit.seq)) ?? []
      return ofTurn(hit, text, originsBy.get(hit.seq)?.flatMap((seq) => originAt.get(seq) ?? []) ?? []) ?? []
    })
  }
}

/** The events that a recollection quotes. */
export const sourcesOf = ({ seq, corrections }: Recollection): number[] => [
  seq,
  ...corrections.map((correction) => correction.seq),
]

/** The text of a turn or a memory; null once erased. */
export function textOf(event: AnyEvent): string | null {
  return event.type === 'memory.stored' ? (event.body?.text ?? null) : saidWords(event)
}
