import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type AdaptationRow = {
  adaptationId: string
  /** The event with its current text. */
  savedSeq: number
  /** The event that last loaded it from a file; null if none did. */
  fileSeq: number | null
  createdSeq: number
  enabled: number
  /** A JSON list. */
  channels: string
  source: 'owner' | 'file'
  updatedAt: string
}

/** The current adaptations. Their text stays in the ledger. */
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
            // Only the service loads files: an owner's edit of a file's adaptation is not a load.
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

export function createAdaptationQueries(views: Database) {
  const all = views.prepare<[], AdaptationRow>('SELECT * FROM adaptations ORDER BY createdSeq')
  const byId = views.prepare<[string], AdaptationRow>('SELECT * FROM adaptations WHERE adaptationId = ?')
  const saves = views.prepare<[string], { seq: number }>(
    'SELECT seq FROM adaptation_saves WHERE adaptationId = ? ORDER BY seq',
  )
  return {
    /** In the order in which they were created. */
    all: () => all.all(),
    byId: (adaptationId: string) => byId.get(adaptationId),
    /** All events with text of it, present or past. */
    saves: (adaptationId: string) => saves.all(adaptationId).map(({ seq }) => seq),
  }
}
