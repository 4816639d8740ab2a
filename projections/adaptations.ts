import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type AdaptationRow = {
  adaptationId: string
  /** The event that holds its present words. */
  savedSeq: number
  /** The event in which it was last taken over from a file; null where it never was. */
  fileSeq: number | null
  createdSeq: number
  enabled: number
  /** A JSON list. */
  channels: string
  source: 'owner' | 'file'
  updatedAt: string
}

/** The standing instructions as they are now. The words stay in the ledger. */
export const adaptationsProjection = defineProjection({
  name: 'adaptations',
  version: 1,
  tables: ['adaptations', 'adaptation_saves'],
  schema: `
    CREATE TABLE adaptations (
      adaptationId TEXT PRIMARY KEY, savedSeq INTEGER NOT NULL, fileSeq INTEGER, createdSeq INTEGER NOT NULL,
      enabled INTEGER NOT NULL, channels TEXT NOT NULL, source TEXT NOT NULL, updatedAt TEXT NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX adaptations_by_words ON adaptations (savedSeq);
    CREATE TABLE adaptation_saves (adaptationId TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (adaptationId, seq))
    WITHOUT ROWID, STRICT;`,
  fold(db) {
    const save = db.prepare(`INSERT INTO adaptations
      VALUES (@adaptationId, @seq, @fileSeq, @seq, @enabled, @channels, @source, @at)
      ON CONFLICT (adaptationId) DO UPDATE SET savedSeq = @seq, fileSeq = coalesce(@fileSeq, fileSeq),
        enabled = @enabled, channels = @channels, source = @source, updatedAt = @at`)
    const remember = db.prepare('INSERT OR IGNORE INTO adaptation_saves VALUES (?, ?)')
    const remove = db.prepare('DELETE FROM adaptations WHERE adaptationId = ?')
    const erase = db.prepare('DELETE FROM adaptations WHERE savedSeq = ?')
    return {
      handlers: {
        'adaptation.saved': ({ seq, at, actor, facts: { adaptationId, enabled, channels, source } }) => {
          save.run({
            adaptationId,
            seq,
            at,
            source,
            enabled: enabled ? 1 : 0,
            channels: JSON.stringify(channels),
            // Only the service reads files; what the owner changes on one that came from a file stays the owner's.
            fileSeq: actor === 'service' && source === 'file' ? seq : null,
          })
          remember.run(adaptationId, seq)
        },
        'adaptation.removed': ({ facts }) => void remove.run(facts.adaptationId),
        erased: ({ facts }) => {
          for (const seq of facts.seqs) erase.run(seq)
        },
      },
    }
  },
})

/** Queries over the standing instructions, on a connection that reads the views. */
export function createAdaptationQueries(views: Database) {
  const all = views.prepare<[], AdaptationRow>('SELECT * FROM adaptations ORDER BY createdSeq')
  const byId = views.prepare<[string], AdaptationRow>('SELECT * FROM adaptations WHERE adaptationId = ?')
  const saves = views.prepare<[string], { seq: number }>(
    'SELECT seq FROM adaptation_saves WHERE adaptationId = ? ORDER BY seq',
  )
  return {
    /** In the order in which they were first saved. */
    all: () => all.all(),
    byId: (adaptationId: string) => byId.get(adaptationId),
    /** Every event that holds words of it, its former ones too. */
    saves: (adaptationId: string) => saves.all(adaptationId).map(({ seq }) => seq),
  }
}
