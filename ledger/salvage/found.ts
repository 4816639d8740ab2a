import Database from 'better-sqlite3'
import { bodyDigest, chainHash, type EventRow } from '../codec.ts'
import { exportedRowSchema } from '../export.ts'
import { HASH, isLost } from '../lost.ts'
import type { Head } from '../reader.ts'

/** A copy of an event. Without `row`, only its hash could be read. */
export type Candidate = { readonly ref: number; readonly hash: string; readonly row: EventRow | null }

export type Found = ReturnType<typeof openFound>

/** Opens a new file for all copies of events that were found, by the number of their origin: 0 is the ledger itself. */
export function openFound(file: string) {
  const db = new Database(file)
  db.pragma('journal_mode = OFF')
  db.pragma('synchronous = OFF')
  db.exec(
    'CREATE TABLE found (seq INTEGER, origin INTEGER, hash TEXT, row TEXT, UNIQUE (seq, origin, hash, row))',
  )
  // Never committed: the file is temporary.
  db.exec('BEGIN')
  const insert = db.prepare('INSERT OR IGNORE INTO found VALUES (?, ?, ?, ?)')
  // A copy without its body wins: the others are older than the erasure.
  const at = db.prepare<[number, number], { ref: number; hash: string; row: string | null }>(
    `SELECT rowid AS ref, hash, row FROM found WHERE seq = ? AND origin = ?
     ORDER BY row IS NULL, row ->> '$.body' IS NOT NULL`,
  )
  const next = db
    .prepare<[number, number], number | null>('SELECT min(seq) FROM found WHERE seq > ? AND origin = ?')
    .pluck()
  const byRef = db.prepare<[number], string>('SELECT row FROM found WHERE rowid = ?').pluck()
  return {
    add(raw: unknown, origin: number): void {
      const { seq, hash, row } = read(raw)
      if (seq !== null) insert.run(seq, origin, hash, row && JSON.stringify(row))
    },
    at: (seq: number, origin: number): Candidate[] =>
      at
        .all(seq, origin)
        .map(({ row, ...rest }) => ({ ...rest, row: row === null ? null : JSON.parse(row) })),
    /** The first seq after `seq` with a copy; null if there is none. */
    next: (seq: number, origin: number): number | null => next.get(seq, origin) ?? null,
    row: (ref: number): EventRow => JSON.parse(byRef.get(ref) ?? ''),
    close: () => void db.close(),
  }
}

/** An event that matches the schema and its own body, or its hash alone; all null if not even that. */
function read(raw: unknown): { seq: number | null; hash: string | null; row: EventRow | null } {
  const parsed = exportedRowSchema.safeParse(raw)
  if (parsed.success) {
    const { seq, hash, salt, body, bodyDigest: digest } = parsed.data
    const hasBody = body !== null && salt !== null && digest === bodyDigest(salt, body)
    const isWhole = hasBody || (body === null && salt === null)
    return { seq, hash, row: isWhole && !isLost(parsed.data) ? parsed.data : null }
  }
  if (typeof raw !== 'object' || raw === null) return { seq: null, hash: null, row: null }
  const { seq, hash } = raw as Record<string, unknown>
  const isKnown = Number.isSafeInteger(seq) && Number(seq) > 0 && typeof hash === 'string' && HASH.test(hash)
  return isKnown ? { seq: Number(seq), hash, row: null } : { seq: null, hash: null, row: null }
}

/** Whether the hashes prove that this copy is the event after `head`. */
export function follows(head: Head, { row, hash }: Candidate): boolean {
  return row !== null && row.seq === head.seq + 1 && chainHash(head.hash, row.seq, row) === hash
}
