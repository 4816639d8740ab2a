import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

/** The reverse of `derivedFrom`: from a source to the events that derive from it. */
export const derivationsProjection = defineProjection({
  name: 'derivations',
  version: 1,
  tables: ['derivations'],
  schema: `
    CREATE TABLE derivations (sourceSeq INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (sourceSeq, seq))
    WITHOUT ROWID, STRICT;`,
  fold(db) {
    const insert = db.prepare('INSERT OR IGNORE INTO derivations VALUES (?, ?)')
    return {
      every(event) {
        for (const source of event.derivedFrom) insert.run(source, event.seq)
      },
      handlers: {},
    }
  },
})

/** Finds the events that derive directly from an event, in ascending order. */
export function createDerivationsQuery(views: Database): (sourceSeq: number) => number[] {
  const derived = views
    .prepare<[number], number>('SELECT seq FROM derivations WHERE sourceSeq = ? ORDER BY seq')
    .pluck()
  return (sourceSeq) => derived.all(sourceSeq)
}
