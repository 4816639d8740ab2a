import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

/** Which events copy, or were learned from, which: the ledger's `derivedFrom`, readable from the other end. */
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

/** The seqs, and all that copies them or was learned from them, at any remove; ascending. */
export function closureOf(views: Database, seqs: readonly number[]): number[] {
  const derived = views.prepare<[number], { seq: number }>('SELECT seq FROM derivations WHERE sourceSeq = ?')
  const closure = new Set(seqs)
  for (const source of closure) {
    for (const { seq } of derived.all(source)) closure.add(seq)
  }
  return [...closure].sort((a, b) => a - b)
}
