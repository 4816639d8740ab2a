import { statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { isKnown } from '../ledger/codec.ts'
import { isDamage } from '../ledger/errors.ts'
import { viewsFile } from '../ledger/files.ts'
import { probe } from '../ledger/probe.ts'
import type { Head, LedgerReader } from '../ledger/reader.ts'
import type { Witness } from '../ledger/witness.ts'
import type { Projection } from './projection.ts'

// An older build left `views_projections`.
const SCHEMA = `
DROP TABLE IF EXISTS views_projections;
CREATE TABLE IF NOT EXISTS views_ledger (id TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
CREATE TABLE IF NOT EXISTS views_checkpoints (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS views_folds (
  name TEXT PRIMARY KEY, version INTEGER NOT NULL, checkpoint INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE IF NOT EXISTS views_cleaned (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS views_unknown_types (type TEXT, version INTEGER, PRIMARY KEY (type, version)) WITHOUT ROWID, STRICT;
`

/** The version and position of each projection. */
export const STANDING =
  'SELECT name, version, seq, hash FROM views_folds JOIN views_checkpoints ON id = checkpoint'

export type Checkpoints = ReturnType<typeof createCheckpoints>

/**
 * The position of each projection, saved in the transaction that wrote its rows. Projections that advance
 * together share one checkpoint, because a row per projection would cost as much as all folds.
 *
 * Reads the checkpoints and resets what cannot be continued: all views if they belong to another ledger or
 * skipped a type that this build knows, one projection if its version changed. `findLoss` has already refused
 * a ledger that is behind the views, unless it is a copy that gets its end.
 */
export function createCheckpoints(
  db: Database.Database,
  ledger: LedgerReader,
  projections: readonly Projection[],
  warn: (message: string, fields: Record<string, unknown>) => void,
) {
  db.exec(SCHEMA)
  const all = db.prepare<[], { name: string; version: number; seq: number; hash: string }>(STANDING)
  const seqOf = db.prepare<[string], { seq: number }>(`${STANDING} WHERE name = ?`)
  const advance = db.prepare('UPDATE views_checkpoints SET seq = ?, hash = ? WHERE id = ?')
  const addCheckpoint = db.prepare('INSERT INTO views_checkpoints (seq, hash) VALUES (?, ?)')
  const attach = db.prepare(
    'UPDATE views_folds SET checkpoint = ? WHERE name IN (SELECT value FROM json_each(?))',
  )
  const dropUnused = db.prepare(
    'DELETE FROM views_checkpoints WHERE id NOT IN (SELECT checkpoint FROM views_folds)',
  )
  /** The checkpoint of each group that was last saved together. */
  const shared = new Map<string, number | bigint>()
  const cleaned = db.prepare<[], { seq: number }>('SELECT seq FROM views_cleaned')
  const saveCleaned = db.prepare('INSERT OR REPLACE INTO views_cleaned VALUES (1, ?)')
  const remember = db.prepare('INSERT OR IGNORE INTO views_unknown_types (type, version) VALUES (?, ?)')

  function makeTables(projection: Projection): void {
    for (const table of projection.tables) db.exec(`DROP TABLE IF EXISTS ${table}`)
    db.exec(projection.schema)
    const { lastInsertRowid } = addCheckpoint.run(0, ledger.hashAt(0))
    db.prepare('INSERT OR REPLACE INTO views_folds VALUES (?, ?, ?)').run(
      projection.name,
      projection.version,
      lastInsertRowid,
    )
    ungroup([projection.name])
  }

  function ungroup(names: readonly string[]): void {
    dropUnused.run()
    for (const key of shared.keys())
      if (key.split(',').some((name) => names.includes(name))) shared.delete(key)
  }

  function group(names: readonly string[], head: Head): void {
    const { lastInsertRowid: id } = addCheckpoint.run(head.seq, head.hash)
    attach.run(id, JSON.stringify(names))
    ungroup(names)
    shared.set(names.join(), id)
  }

  db.transaction(() => {
    const reason = foreignReason(db, ledger)
    if (reason !== null) warn('rebuilding the views', { reason })
    const foreign = reason !== null
    const byName = new Map(projections.map((projection) => [projection.name, projection]))
    for (const saved of all.all()) {
      const projection = byName.get(saved.name)
      if (!foreign && projection?.version === saved.version) continue
      db.prepare('DELETE FROM views_folds WHERE name = ?').run(saved.name)
    }
    for (const projection of projections) {
      if (seqOf.get(projection.name)) continue
      makeTables(projection)
    }
    db.exec('DELETE FROM views_ledger')
    db.prepare('INSERT INTO views_ledger VALUES (?)').run(ledger.id())
    if (foreign) db.exec('DELETE FROM views_unknown_types; DELETE FROM views_cleaned')
  })()

  return {
    seqOf: (projection: string) => seqOf.get(projection)?.seq ?? 0,
    save(names: readonly string[], head: Head): void {
      const id = shared.get(names.join())
      if (id !== undefined) advance.run(head.seq, head.hash, id)
      else group(names, head)
    },
    /** Call it after a rollback of the transaction that called `save`. */
    discard: () => shared.clear(),
    /** Records a skipped type; a build that knows it rebuilds all views. */
    rememberUnknown: (type: string, version: number) => void remember.run(type, version),
    /** The last erasure whose remains were cleared from the file; 0 if none. */
    cleanedThrough: () => cleaned.get()?.seq ?? 0,
    saveCleaned: (seq: number) => void saveCleaned.run(seq),
    /** Recreates a projection's tables, empty, at seq 0. */
    reset: (projection: Projection) => db.transaction(() => makeTables(projection))(),
  }
}

/**
 * The last event that a directory's views had folded, and its ledger; null if there are no readable views.
 * Views are written after the ledger, so it is never behind them, unless it lost events. Changes nothing. Without the
 * directory's lock, pass a `read` that opens the views in place.
 */
export function readWitness(directory: string, read: typeof probe<Witness | null> = probe): Witness | null {
  if (!statSync(viewsFile(directory), { throwIfNoEntry: false })?.isFile()) return null
  try {
    return read(viewsFile(directory), (views) => witnessOf(views, directory))
  } catch (error) {
    // Damaged views prove nothing and are rebuilt.
    if (isDamage(error)) return null
    throw error
  }
}

/** Like `readWitness`, for open views. Throws if they are damaged. */
export function witnessOf(views: Database.Database, directory: string): Witness | null {
  const exists = views.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'views_checkpoints'").get()
  if (!exists) return null
  const row = views
    .prepare<[], Pick<Witness, 'ledgerId' | 'seq' | 'hash'>>(
      'SELECT views_ledger.id AS ledgerId, seq, hash FROM views_ledger, views_checkpoints ORDER BY seq DESC LIMIT 1',
    )
    .get()
  if (!row) return null
  const times = [viewsFile(directory), `${viewsFile(directory)}-wal`].map(
    (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
  return { ...row, at: new Date(Math.max(...times)).toISOString(), file: 'views.sqlite' }
}

/** The seq that a projection has reached; 0 if it does not exist. */
export function createStandingQuery(views: Database.Database, name: string): () => number {
  const checkpoint = views.prepare<[string], { seq: number }>(`${STANDING} WHERE name = ?`)
  return () => checkpoint.get(name)?.seq ?? 0
}

/** Why all views must be rebuilt; null if they can be continued. */
function foreignReason(db: Database.Database, ledger: LedgerReader): string | null {
  const owner = db.prepare<[], { id: string }>('SELECT id FROM views_ledger').get()
  if (owner && owner.id !== ledger.id()) return 'they belong to another ledger'
  const nowKnown = db
    .prepare<[], { type: string; version: number }>('SELECT type, version FROM views_unknown_types')
    .all()
  const isKnownNow = nowKnown.some(({ type, version }) => isKnown(type, version))
  return isKnownNow ? 'this build knows an event type that they skipped' : null
}
