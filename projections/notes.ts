import { defineProjection } from './projection.ts'

export type NoteSource = 'owner' | 'delegate'

export type NoteRow = {
  noteId: string
  revision: number
  source: NoteSource
  createdAt: string
  updatedAt: string
  updatedSeq: number
  deletedAt: string | null
  /** Whether the current content is erased (1) or hidden (2). */
  erased: number
  /** The events with the current title and content. */
  titleSeq: number
  contentSeq: number
}

export type NoteRevisionRow = {
  noteId: string
  revision: number
  at: string
  source: NoteSource
  titleSeq: number
  contentSeq: number
}

/** Notes and their revisions, as pointers to the events with the text. */
export const notesProjection = defineProjection({
  name: 'notes',
  version: 3,
  tables: ['notes', 'note_revisions'],
  schema: `
    CREATE TABLE notes (
      noteId TEXT PRIMARY KEY, revision INTEGER NOT NULL, source TEXT NOT NULL, createdAt TEXT NOT NULL,
      updatedAt TEXT NOT NULL, updatedSeq INTEGER NOT NULL, deletedAt TEXT, erased INTEGER NOT NULL, titleSeq INTEGER NOT NULL, contentSeq INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX notes_by_update ON notes (updatedSeq) WHERE deletedAt IS NULL;
    CREATE INDEX notes_by_content ON notes (contentSeq);
    CREATE INDEX notes_by_title ON notes (titleSeq);
    CREATE TABLE note_revisions (
      noteId TEXT NOT NULL, revision INTEGER NOT NULL, at TEXT NOT NULL, source TEXT NOT NULL,
      titleSeq INTEGER NOT NULL, contentSeq INTEGER NOT NULL, PRIMARY KEY (noteId, revision)
    ) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const create = db.prepare(
      'INSERT OR IGNORE INTO notes VALUES (@noteId, 1, @source, @at, @at, @seq, NULL, 0, @seq, @seq)',
    )
    const update =
      db.prepare(`UPDATE notes SET revision = @revision, source = @source, updatedAt = @at, updatedSeq = @seq,
      titleSeq = coalesce(@titleSeq, titleSeq), contentSeq = coalesce(@contentSeq, contentSeq),
      erased = CASE WHEN @contentSeq IS NULL THEN erased ELSE 0 END WHERE noteId = @noteId`)
    const remember = db.prepare(
      'INSERT OR REPLACE INTO note_revisions SELECT noteId, revision, updatedAt, source, titleSeq, contentSeq FROM notes WHERE noteId = ?',
    )
    const remove = db.prepare('UPDATE notes SET deletedAt = ? WHERE noteId = ?')
    const revive = db.prepare('UPDATE notes SET deletedAt = NULL WHERE noteId = ?')
    const erase = db.prepare('UPDATE notes SET erased = 1 WHERE contentSeq = ?')
    const hide = db.prepare('UPDATE notes SET erased = 2 WHERE contentSeq = ? AND erased = 0')
    const show = db.prepare('UPDATE notes SET erased = 0 WHERE contentSeq = ? AND erased = 2')
    const revision = db.prepare<[string, number], NoteRevisionRow>(
      'SELECT * FROM note_revisions WHERE noteId = ? AND revision = ?',
    )
    return {
      handlers: {
        'note.created': ({ seq, at, facts: { noteId, source } }) => {
          create.run({ noteId, source, at, seq })
          remember.run(noteId)
        },
        'note.updated': ({ seq, at, facts: { noteId, source, revision: next, changed } }) => {
          update.run({
            noteId,
            source,
            at,
            seq,
            revision: next,
            titleSeq: changed.includes('title') ? seq : null,
            contentSeq: changed.includes('content') ? seq : null,
          })
          remember.run(noteId)
        },
        'note.restored': ({ seq, at, facts: { noteId, source, revision: next, restoredRevision } }) => {
          const old = revision.get(noteId, restoredRevision)
          if (!old) return
          update.run({
            noteId,
            source,
            at,
            seq,
            revision: next,
            titleSeq: old.titleSeq,
            contentSeq: old.contentSeq,
          })
          remember.run(noteId)
          revive.run(noteId)
        },
        'note.deleted': (event) => void remove.run(event.at, event.facts.noteId),
        'erasure.requested': ({ facts }) => {
          for (const seq of facts.seqs) hide.run(seq)
        },
        'erasure.undone': ({ facts }) => {
          for (const seq of facts.seqs) show.run(seq)
        },
        erased: ({ facts }) => {
          for (const seq of facts.seqs) erase.run(seq)
        },
      },
    }
  },
})
