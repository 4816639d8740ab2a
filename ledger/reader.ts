import type { Database } from 'better-sqlite3'
import { type EventRow, GENESIS_HASH, parseRow, type ReadRow } from './codec.ts'
import type { LedgerEvent, UnknownEvent } from './event.ts'

export type Head = { readonly seq: number; readonly hash: string }
export type AnyEvent = LedgerEvent | UnknownEvent
/** Inclusive at both ends. */
export type SeqRange = { readonly firstSeq: number; readonly lastSeq: number }

/** Synchronous reads of the ledger. Results ascend by `seq` unless stated otherwise. */
export type LedgerReader = {
  /** The last event; seq 0 and the genesis hash if the ledger is empty. */
  head(): Head
  /** The ledger's id, assigned at its creation. */
  id(): string
  readAfter(seq: number, limit: number): AnyEvent[]
  /** The events of these types. */
  readOfTypes(types: ReadonlySet<string>, range: SeqRange): AnyEvent[]
  /** The seqs of events of these types. */
  seqsOf(types: readonly string[], range: SeqRange): number[]
  /** Inclusive at both ends. */
  readRange(fromSeq: number, toSeq: number): AnyEvent[]
  /** In the given order, without seqs that do not exist. */
  readSeqs(seqs: readonly number[]): AnyEvent[]
  /** The same without bodies, which may be large. */
  outlinesOf(seqs: readonly number[]): AnyEvent[]
  rowsAfter(seq: number, limit: number): EventRow[]
  rowAt(seq: number): EventRow | undefined
  rowByKey(key: string): EventRow | undefined
  hashAt(seq: number): string | null
  meta(name: string): string | null
  /** Whether both the list of erasures and an `erased` fact name it. */
  isErased(seq: number): boolean
  /** The last `erased` fact that took effect; 0 if nothing was ever erased. */
  lastErasure(): number
  /** The last event dated before `at`; 0 if there is none. Scans from the end, so use it for recent times. */
  lastSeqBefore(at: string): number
}

/** Omits salt and digest, which only the chain needs. */
const READ = `SELECT seq, id, key, type, version, at, conversationId, spanId, turnId, causedBy, derivedFrom, channel,
  actor, facts, body, iif(bodyDigest IS NULL, NULL, '') AS bodyDigest, hash FROM events`

/** Only an erased event has the digest of a body here, so that all others read as events without one. */
const OUTLINE = READ.replace(
  "facts, body, iif(bodyDigest IS NULL, NULL, '')",
  "facts, NULL AS body, iif(body IS NULL AND bodyDigest IS NOT NULL, '', NULL)",
)

/** A reader on a connection that the caller owns. */
export function createReader(db: Database): LedgerReader {
  const head = db.prepare<[], Head>('SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1')
  const meta = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE name = ?')
  const rowsAfter = db.prepare<[number, number], EventRow>(
    'SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?',
  )
  const rowAt = db.prepare<[number], EventRow>('SELECT * FROM events WHERE seq = ?')
  const after = db.prepare<[number, number], ReadRow>(`${READ} WHERE seq > ? ORDER BY seq LIMIT ?`)
  const ofTypes = db
    .prepare<[number, number, string], number>(
      'SELECT seq FROM events WHERE seq BETWEEN ? AND ? AND type IN (SELECT value FROM json_each(?)) ORDER BY seq',
    )
    .pluck()
  const range = db.prepare<[number, number], ReadRow>(`${READ} WHERE seq BETWEEN ? AND ? ORDER BY seq`)
  const inRange = db.prepare<[number, number, string], ReadRow>(
    `${READ} WHERE seq BETWEEN ? AND ? AND type IN (SELECT value FROM json_each(?)) ORDER BY seq`,
  )
  const bySeq = db.prepare<[number], ReadRow>(`${READ} WHERE seq = ?`)
  const outline = db.prepare<[number], ReadRow>(`${OUTLINE} WHERE seq = ?`)
  const hashAt = db.prepare<[number], { hash: string }>('SELECT hash FROM events WHERE seq = ?')
  const byKey = db.prepare<[string], EventRow>('SELECT * FROM events WHERE key = ?')
  const erased = db.prepare<[number]>(
    // Damaged facts count as a match here; the chain reports that event by its own hash.
    `SELECT 1 FROM erasures JOIN events ON events.seq = erasedBy WHERE erasures.seq = ? AND
       CASE WHEN json_valid(events.facts)
         THEN EXISTS (SELECT 1 FROM json_each(events.facts, '$.seqs') WHERE value = erasures.seq)
         ELSE 1 END`,
  )
  const lastErasure = db.prepare<[], { seq: number | null }>('SELECT max(erasedBy) AS seq FROM erasures')
  const before = db.prepare<[string], { seq: number }>(
    'SELECT seq FROM events WHERE at < ? ORDER BY seq DESC LIMIT 1',
  )
  return {
    head: () => head.get() ?? { seq: 0, hash: GENESIS_HASH },
    id: () => meta.get('ledgerId')?.value ?? '',
    readAfter: (seq, limit) => after.all(seq, limit).map(parseRow),
    readOfTypes: (types, { firstSeq, lastSeq }) =>
      inRange.all(firstSeq, lastSeq, JSON.stringify([...types])).map(parseRow),
    seqsOf: (types, { firstSeq, lastSeq }) => ofTypes.all(firstSeq, lastSeq, JSON.stringify(types)),
    readRange: (fromSeq, toSeq) => range.all(fromSeq, toSeq).map(parseRow),
    readSeqs: (seqs) => seqs.flatMap((seq) => bySeq.get(seq) ?? []).map(parseRow),
    outlinesOf: (seqs) => seqs.flatMap((seq) => outline.get(seq) ?? []).map(parseRow),
    rowsAfter: (seq, limit) => rowsAfter.all(seq, limit),
    rowAt: (seq) => rowAt.get(seq),
    rowByKey: (key) => byKey.get(key),
    hashAt: (seq) => (seq === 0 ? GENESIS_HASH : (hashAt.get(seq)?.hash ?? null)),
    meta: (name) => meta.get(name)?.value ?? null,
    isErased: (seq) => erased.get(seq) !== undefined,
    lastErasure: () => lastErasure.get()?.seq ?? 0,
    lastSeqBefore: (at) => before.get(at)?.seq ?? 0,
  }
}
