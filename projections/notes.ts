import { type Kysely, sql } from 'kysely'
import { defineProjection } from './projection.ts'
import type { ViewsTables } from './tables.ts'

export type NoteSource = 'owner' | 'delegate'

export type NoteRow = {
  noteId: string
  revision: number
  source: NoteSource
  createdAt: string
  updatedAt: string
  updatedSeq: number
  deletedAt: string | null
  /** The events that hold its present title and content; the words stay in the ledger. */
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

/** Each note and its revisions, as pointers to the events that hold the words. */
export const notesProjection = defineProjection({
  name: 'notes',
  version: 1,
  tables: ['notes', 'note_revisions'],
  schema: `
    CREATE TABLE notes (
      noteId TEXT PRIMARY KEY, revision INTEGER NOT NULL, source TEXT NOT NULL, createdAt TEXT NOT NULL,
      updatedAt TEXT NOT NULL, updatedSeq INTEGER NOT NULL, deletedAt TEXT, titleSeq INTEGER NOT NULL, contentSeq INTEGER NOT NULL
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
      'INSERT OR IGNORE INTO notes VALUES (@noteId, 1, @source, @at, @at, @seq, NULL, @seq, @seq)',
    )
    const update =
      db.prepare(`UPDATE notes SET revision = @revision, source = @source, updatedAt = @at, updatedSeq = @seq,
      titleSeq = coalesce(@titleSeq, titleSeq), contentSeq = coalesce(@contentSeq, contentSeq) WHERE noteId = @noteId`)
    const remember = db.prepare(
      'INSERT OR REPLACE INTO note_revisions SELECT noteId, revision, updatedAt, source, titleSeq, contentSeq FROM notes WHERE noteId = ?',
    )
    const remove = db.prepare('UPDATE notes SET deletedAt = ? WHERE noteId = ?')
    const revive = db.prepare('UPDATE notes SET deletedAt = NULL WHERE noteId = ?')
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
      },
    }
  },
})

export async function noteById(views: Kysely<ViewsTables>, noteId: string): Promise<NoteRow | undefined> {
  return await views
    .selectFrom('notes')
    .selectAll()
    .where('noteId', '=', noteId)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
}

/** Latest first, those last touched before `beforeSeq`. */
export async function listNotes(
  views: Kysely<ViewsTables>,
  options: { readonly limit: number; readonly beforeSeq: number | null },
): Promise<NoteRow[]> {
  let query = views
    .selectFrom('notes')
    .selectAll()
    .where('deletedAt', 'is', null)
    .orderBy('updatedSeq', 'desc')
    .limit(options.limit)
  if (options.beforeSeq !== null) query = query.where('updatedSeq', '<', options.beforeSeq)
  return await query.execute()
}

/** Notes whose present title or content matches an FTS5 query, latest first. */
export async function searchNotes(
  views: Kysely<ViewsTables>,
  options: { readonly match: string; readonly limit: number; readonly beforeSeq: number | null },
): Promise<NoteRow[]> {
  return await views
    .selectFrom('notes')
    .selectAll()
    .where('deletedAt', 'is', null)
    .where('updatedSeq', '<', options.beforeSeq ?? Number.MAX_SAFE_INTEGER)
    .where(
      sql<boolean>`EXISTS (SELECT 1 FROM search_index WHERE search_index MATCH ${options.match} AND rowid IN (titleSeq, contentSeq))`,
    )
    .orderBy('updatedSeq', 'desc')
    .limit(options.limit)
    .execute()
}

export async function noteRevisions(views: Kysely<ViewsTables>, noteId: string): Promise<NoteRevisionRow[]> {
  return await views
    .selectFrom('note_revisions')
    .selectAll()
    .where('noteId', '=', noteId)
    .orderBy('revision', 'desc')
    .execute()
}
