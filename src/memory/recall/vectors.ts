import type { Database } from 'better-sqlite3'
import { load } from 'sqlite-vec'

/** Entries near a vector, the nearest first. Similarity is the cosine. */
export type VectorCandidates = {
  nearest(
    vector: Float32Array,
    limit: number,
  ): readonly { readonly seq: number; readonly similarity: number }[]
}

/** Vectors of entries by one embedding model. Synchronous; belongs in a worker thread. */
export type VectorStore = VectorCandidates & {
  /** Entries that have no vector yet, the newest first. */
  missing(limit: number): readonly number[]
  /** Throws RangeError for a vector that has not the model's dimensions; then none is kept. */
  put(vectors: readonly { readonly seq: number; readonly vector: Float32Array }[]): void
  /** Drops the vectors of entries that are gone. Returns how many. */
  prune(): number
}

/**
 * Vectors beside the entries that they stand for, in a database of their own (with `secure_delete`), to which the
 * views are attached as `viewsSchema`. A row a vector, read whole and compared by sqlite-vec: a scan of 20,000
 * costs a third more than in a vec0 table, and what is forgotten goes like any other row. Opening drops the vectors
 * of other models.
 */
export function openVectorStore(options: {
  readonly db: Database
  readonly viewsSchema: string
  readonly model: string
  readonly dimensions: number
}): VectorStore {
  const { db, viewsSchema, model, dimensions } = options
  load(db)
  db.exec(
    'CREATE TABLE IF NOT EXISTS recall_vectors (seq INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL) STRICT',
  )
  db.prepare('DELETE FROM recall_vectors WHERE model <> ? OR length(vector) <> ?').run(model, dimensions * 4)
  const nearest = db.prepare<[Uint8Array, number], { seq: number; similarity: number }>(
    `SELECT seq, 1 - vec_distance_cosine(vector, ?) AS similarity FROM recall_vectors
     ORDER BY similarity DESC, seq DESC LIMIT ?`,
  )
  const missing = db
    .prepare<[number], number>(
      `SELECT seq FROM ${viewsSchema}.recall_entries AS entries
       WHERE NOT EXISTS (SELECT 1 FROM recall_vectors WHERE recall_vectors.seq = entries.seq) ORDER BY seq DESC LIMIT ?`,
    )
    .pluck()
  const insert = db.prepare('INSERT OR REPLACE INTO recall_vectors VALUES (?, ?, ?)')
  const prune = db.prepare(
    `DELETE FROM recall_vectors WHERE NOT EXISTS
       (SELECT 1 FROM ${viewsSchema}.recall_entries AS entries WHERE entries.seq = recall_vectors.seq)`,
  )

  function bytesOf(vector: Float32Array): Uint8Array {
    if (vector.length !== dimensions)
      throw new RangeError(`a vector of ${vector.length} dimensions where ${dimensions} are kept`)
    return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
  }

  return {
    nearest: (vector, limit) => nearest.all(bytesOf(vector), limit),
    missing: (limit) => missing.all(limit),
    put: (vectors) =>
      db.transaction(() => {
        for (const { seq, vector } of vectors) insert.run(seq, model, bytesOf(vector))
      })(),
    prune: () => prune.run().changes,
  }
}
