import type { Database } from 'better-sqlite3'
import { isEventType } from '../ledger/events/catalogue.ts'
import type { Head, LedgerReader } from '../ledger/reader.ts'
import type { Projection } from './projection.ts'

const SCHEMA = `
CREATE TABLE IF NOT EXISTS views_ledger (id TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
CREATE TABLE IF NOT EXISTS views_projections (
  name TEXT PRIMARY KEY, version INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE IF NOT EXISTS views_unknown_types (type TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
`

/** How far each projection has come; saved in the transaction that wrote its rows. */
export type Checkpoints = {
  seqOf(projection: string): number
  save(projections: readonly string[], head: Head): void
  /** A type passed over; once a build knows it, everything is folded anew. */
  rememberUnknown(type: string): void
  /** Makes the tables of a projection anew, empty, at the beginning. */
  reset(projection: Projection): void
}

/**
 * Reads the checkpoints and resets whatever cannot be continued from: all of it when the views belong to
 * another ledger, are ahead of it or differ from it at their checkpoint (an older ledger was restored), or
 * passed over a type that this build knows; one projection when its version changed.
 */
export function createCheckpoints(
  db: Database,
  ledger: LedgerReader,
  projections: readonly Projection[],
): Checkpoints {
  db.exec(SCHEMA)
  const all = db.prepare<[], { name: string; version: number; seq: number; hash: string }>(
    'SELECT * FROM views_projections',
  )
  const seqOf = db.prepare<[string], { seq: number }>('SELECT seq FROM views_projections WHERE name = ?')
  const update = db.prepare('UPDATE views_projections SET seq = ?, hash = ? WHERE name = ?')
  const remember = db.prepare('INSERT OR IGNORE INTO views_unknown_types (type) VALUES (?)')

  function makeTables(projection: Projection): void {
    for (const table of projection.tables) db.exec(`DROP TABLE IF EXISTS ${table}`)
    db.exec(projection.schema)
    db.prepare('INSERT OR REPLACE INTO views_projections VALUES (?, ?, 0, ?)').run(
      projection.name,
      projection.version,
      ledger.hashAt(0),
    )
  }

  db.transaction(() => {
    const foreign = isForeign(db, ledger, all.all())
    const byName = new Map(projections.map((projection) => [projection.name, projection]))
    for (const saved of all.all()) {
      const projection = byName.get(saved.name)
      if (!foreign && projection?.version === saved.version) continue
      db.prepare('DELETE FROM views_projections WHERE name = ?').run(saved.name)
    }
    for (const projection of projections) {
      if (seqOf.get(projection.name)) continue
      makeTables(projection)
    }
    db.exec('DELETE FROM views_ledger')
    db.prepare('INSERT INTO views_ledger VALUES (?)').run(ledger.id())
    if (foreign) db.exec('DELETE FROM views_unknown_types')
  })()

  return {
    seqOf: (projection) => seqOf.get(projection)?.seq ?? 0,
    save(names, head) {
      for (const name of names) update.run(head.seq, head.hash, name)
    },
    rememberUnknown: (type) => void remember.run(type),
    reset: (projection) => db.transaction(() => makeTables(projection))(),
  }
}

function isForeign(
  db: Database,
  ledger: LedgerReader,
  saved: readonly { seq: number; hash: string }[],
): boolean {
  const owner = db.prepare<[], { id: string }>('SELECT id FROM views_ledger').get()
  if (owner && owner.id !== ledger.id()) return true
  const nowKnown = db.prepare<[], { type: string }>('SELECT type FROM views_unknown_types').all()
  if (nowKnown.some(({ type }) => isEventType(type))) return true
  return saved.some(({ seq, hash }) => ledger.hashAt(seq) !== hash)
}
