import type { Database } from 'better-sqlite3'
import type { Kysely } from 'kysely'
import type { NoteRevisionRow, NoteRow } from './notes.ts'
import type { ViewsTables } from './tables.ts'

/** A note that is neither deleted nor erased. */
export async function noteById(views: Kysely<ViewsTables>, noteId: string): Promise<NoteRow | undefined> {
  return await views
    .selectFrom('notes')
    .selectAll()
    .where('noteId', '=', noteId)
    .where('erased', '=', 0)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
}

/** A note in any state, also deleted or erased. */
export async function storedNote(views: Kysely<ViewsTables>, noteId: string): Promise<NoteRow | undefined> {
  return await views.selectFrom('notes').selectAll().where('noteId', '=', noteId).executeTakeFirst()
}

export type NotesPage = {
  /** FTS5 terms; empty for all notes. */
  readonly terms: readonly string[]
  readonly limit: number
  readonly beforeSeq: number | null
  /** List deleted notes instead. */
  readonly deleted: boolean
}

/** Notes whose current title or content has each of the terms, newest first, last updated before `beforeSeq`. */
export function notesPage(views: Database, { terms, limit, beforeSeq, deleted }: NotesPage): NoteRow[] {
  // A correlated subquery would run for each note: seconds for a common prefix.
  const found = terms.map(
    (_, index) =>
      `found${index}(seq) AS MATERIALIZED (SELECT rowid FROM search_index WHERE search_index MATCH ?)`,
  )
  const matching = terms.map((_, index) => `AND (titleSeq IN found${index} OR contentSeq IN found${index})`)
  return views
    .prepare<(string | number)[], NoteRow>(
      `${found.length === 0 ? '' : `WITH ${found.join(', ')}`} SELECT * FROM notes
       WHERE erased = 0 AND deletedAt IS ${deleted ? 'NOT NULL' : 'NULL'} AND updatedSeq < ? ${matching.join(' ')}
       ORDER BY updatedSeq DESC LIMIT ?`,
    )
    .all(...terms, beforeSeq ?? Number.MAX_SAFE_INTEGER, limit)
}

/** All revisions of a note, newest first; empty for an unknown note. */
export async function noteRevisions(views: Kysely<ViewsTables>, noteId: string): Promise<NoteRevisionRow[]> {
  return await views
    .selectFrom('note_revisions')
    .selectAll()
    .where('noteId', '=', noteId)
    .orderBy('revision', 'desc')
    .execute()
}
