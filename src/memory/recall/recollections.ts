import type { Database } from 'better-sqlite3'
import type { AnyEvent, LedgerReader } from '../../../ledger/reader.ts'
import { saidWords } from '../learn/said-words.ts'
import type { Hit } from './ranker.ts'

/** A hit with its current text. */
export type Recollection = Hit & {
  readonly text: string
  /** A turn is `said`. Memories of other statuses than `active` and `contested` do not surface. */
  readonly status: 'said' | 'active' | 'contested'
  /** The memories that replaced those learned from the turn. */
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

type TurnNow = { seq: number; barred: number; corrections: string }

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
  const turnsAt = views.prepare<[string], TurnNow>(
    `SELECT asked.value AS seq, ${isBarred('asked.value')} AS barred,
       -- An override closes the validity of what it replaces; a refinement does not.
       (SELECT json_group_array(DISTINCT json_object('seq', successor.storedSeq, 'text', successor.text))
         FROM memory_sources JOIN memories USING (memoryId)
         JOIN memories AS successor ON successor.memoryId = memories.supersededBy
         WHERE seq = asked.value AND memories.status = 'superseded' AND memories.validUntil IS NOT NULL
           AND successor.status IN ('active', 'contested')) AS corrections
     FROM json_each(?) AS asked`,
  )

  const barredAmong = views
    .prepare<[string], number>(`SELECT value FROM json_each(?) WHERE ${isBarred('json_each.value')}`)
    .pluck()

  /** The events derived from barred messages. For a text message, through the request to send it. */
  function madeFromBarred(events: readonly AnyEvent[]): ReadonlySet<number> {
    const sources = new Map<number, readonly number[]>()
    for (const event of events) {
      if (event.type === 'unknown') continue
      const asked = event.type === 'sms.sent' ? ledger.readSeqs(event.derivedFrom) : []
      sources.set(event.seq, [...event.derivedFrom, ...asked.flatMap(({ derivedFrom }) => derivedFrom)])
    }
    const barred = new Set(barredAmong.all(JSON.stringify([...sources.values()].flat())))
    return new Set(
      [...sources].flatMap(([seq, from]) => (from.some((each) => barred.has(each)) ? [seq] : [])),
    )
  }

  function ofTurn(hit: Hit, text: string, now: TurnNow | undefined): Recollection | null {
    if (now?.barred !== 0) return null
    return { ...hit, text, status: 'said', corrections: JSON.parse(now.corrections), memory: null }
  }

  function ofMemory(hit: Hit, text: string, memory: MemoryNow | undefined): Recollection | null {
    if (!memory) return null
    const { storedSeq: _seq, status, ...words } = memory
    const sourceSeqs = JSON.parse(memory.sourceSeqs)
    return { ...hit, text, status, corrections: [], memory: { ...words, sourceSeqs } }
  }

  /** In the order of the hits. */
  return (hits: readonly Hit[]): Recollection[] => {
    const seqsOf = (kind: Hit['kind']) => hits.filter((hit) => hit.kind === kind).map(({ seq }) => seq)
    const [turnSeqs, memorySeqs] = [seqsOf('turn'), seqsOf('memory')]
    const turns = turnSeqs.length === 0 ? [] : turnsAt.all(JSON.stringify(turnSeqs))
    const memories = memorySeqs.length === 0 ? [] : memoriesAt.all(JSON.stringify(memorySeqs))
    const turnAt = new Map(turns.map((turn) => [turn.seq, turn]))
    const memoryAt = new Map(memories.map((memory) => [memory.storedSeq, memory]))
    const events = ledger.readSeqs(hits.map(({ seq }) => seq))
    const forgotten = madeFromBarred(events.filter(({ type }) => type !== 'memory.stored'))
    const texts = new Map(events.map((event) => [event.seq, forgotten.has(event.seq) ? null : textOf(event)]))
    return hits.flatMap((hit) => {
      const text = texts.get(hit.seq) ?? null
      if (text === null) return []
      const { seq, kind } = hit
      return (
        (kind === 'turn' ? ofTurn(hit, text, turnAt.get(seq)) : ofMemory(hit, text, memoryAt.get(seq))) ?? []
      )
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
