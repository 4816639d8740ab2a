import type { Database } from 'better-sqlite3'
import { load } from 'sqlite-vec'

export type Near = {
  readonly seq: number
  /** How far its cosine exceeds the average, 0..1. Comparable between models. */
  readonly similarity: number
}

/** The vector of an entry. */
type Placed = { readonly seq: number; readonly vector: Float32Array }

type Compared = { seq: number; cosine: number; mean: number; spread: number; count: number }

export type VectorStore = ReturnType<typeof openVectorStore>

/** With fewer entries, nothing can stand out, so plain cosines are used. */
const FEW = 20
/** In standard deviations above the mean. */
const STANDS_OUT = 2

/**
 * Vectors of entries from one embedding model, in a database of their own, with the views attached as
 * `views`. Searches exhaustively with sqlite-vec. Rows are only appended, and forgotten vectors are
 * overwritten in place: a row that SQLite moves leaves its bytes in the slack of a page, even with
 * `secure_delete`. Synchronous, so run it in a worker thread.
 */
export function openVectorStore(db: Database) {
  load(db)
  db.pragma('secure_delete = ON')
  db.exec(`
    CREATE TABLE IF NOT EXISTS vector_model (model TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS vector_places (seq INTEGER PRIMARY KEY, id INTEGER NOT NULL) STRICT;`)
  let model = db.prepare<[], string>('SELECT model FROM vector_model').pluck().get()

  const compared = `SELECT seq, 1 - vec_distance_cosine(vector, ?) AS cosine FROM vector_places JOIN vectors USING (id)`
  const nearest = db.prepare<[Uint8Array, number], Compared>(
    `WITH compared AS MATERIALIZED (${compared}),
       moments AS (SELECT avg(cosine) AS mean, avg(cosine * cosine) AS square, count(*) AS count FROM compared)
     SELECT seq, cosine, mean, sqrt(max(0, square - mean * mean)) AS spread, count FROM compared, moments
     ORDER BY cosine DESC, seq DESC LIMIT ?`,
  )
  const missing = db
    .prepare<[number], number>(
      `SELECT seq FROM views.recall_entries AS entries
       WHERE NOT EXISTS (SELECT 1 FROM vector_places WHERE vector_places.seq = entries.seq)
         AND NOT EXISTS (SELECT 1 FROM views.erasure_hidden AS hidden WHERE hidden.seq = entries.seq)
       ORDER BY id DESC LIMIT ?`,
    )
    .pluck()
  const removalCount = db.prepare<[], number>('SELECT count FROM views.recall_removals').pluck()
  const isEntry = db.prepare<[number]>('SELECT 1 FROM views.recall_entries WHERE seq = ?')
  const placeOf = db.prepare<[number], number>('SELECT id FROM vector_places WHERE seq = ?').pluck()
  const anyLength = db.prepare<[], number>('SELECT length(vector) FROM vectors LIMIT 1').pluck()
  const append = db.prepare('INSERT INTO vectors (vector) VALUES (?)')
  const place = db.prepare('INSERT INTO vector_places VALUES (?, ?)')
  const overwrite = db.prepare('UPDATE vectors SET vector = zeroblob(length(vector)) WHERE id = ?')
  const unplace = db.prepare('DELETE FROM vector_places WHERE seq = ?')
  const orphans = db
    .prepare<[], number>(
      `SELECT seq FROM vector_places WHERE NOT EXISTS (SELECT 1 FROM views.recall_entries AS entries WHERE entries.seq = vector_places.seq)`,
    )
    .pluck()
  const embedded = db.prepare<[], number>('SELECT count(*) FROM vector_places').pluck()
  const total = db.prepare<[], number>('SELECT count(*) FROM views.recall_entries').pluck()

  let prunedAt: number | null = null

  function clear(): void {
    db.transaction(() => db.exec('DELETE FROM vectors; DELETE FROM vector_places'))()
    db.exec('VACUUM')
  }

  /** Overwrites the vectors of these entries with zeros. Returns how many had one. */
  function forget(seqs: readonly number[]): number {
    let gone = 0
    db.transaction(() => {
      for (const seq of seqs) {
        const id = placeOf.get(seq)
        if (id === undefined) continue
        overwrite.run(id)
        unplace.run(seq)
        gone += 1
      }
    })()
    return gone
  }

  return {
    /** Clears the store unless its vectors are of this model. */
    use(wanted: string): void {
      if (wanted === model) return
      clear()
      db.exec('DELETE FROM vector_model')
      db.prepare('INSERT INTO vector_model VALUES (?)').run(wanted)
      model = wanted
    },
    /** At most `limit` entries that stand out as near, nearest first. */
    nearest: (vector: Float32Array, limit: number): readonly Near[] =>
      nearest.all(bytesOf(vector), limit).flatMap(({ seq, cosine, mean, spread, count }) => {
        if (count < FEW) return [{ seq, similarity: Math.max(0, cosine) }]
        if (cosine <= mean + STANDS_OUT * spread) return []
        return [{ seq, similarity: Math.min(1, (cosine - mean) / (1 - mean)) }]
      }),
    /** Entries that have no vector and are not hidden, newest first. */
    missing: (limit: number): readonly number[] => missing.all(limit),
    /**
     * Adds vectors for entries that still exist. Throws RangeError if their lengths differ. A new length means
     * another model, so those vectors replace all existing ones.
     */
    put(vectors: readonly Placed[]): void {
      const [first] = vectors
      if (!first) return
      const { length } = first.vector
      if (vectors.some(({ vector }) => vector.length !== length))
        throw new RangeError('vectors of different lengths in one batch')
      const before = anyLength.get()
      if (before !== undefined && before !== length * 4) clear()
      db.transaction(() => {
        for (const { seq, vector } of vectors) {
          if (isEntry.get(seq) === undefined || placeOf.get(seq) !== undefined) continue
          place.run(seq, append.run(bytesOf(vector)).lastInsertRowid)
        }
      })()
    },
    forget,
    /** Does the same for entries that no longer exist. */
    prune(): number {
      const removals = removalCount.get() ?? 0
      if (removals === prunedAt) return 0
      prunedAt = removals
      return forget(orphans.all())
    },
    coverage: () => ({ embedded: embedded.get() ?? 0, total: total.get() ?? 0 }),
  }
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}
