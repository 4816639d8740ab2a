import { type Kysely, sql } from 'kysely'
import type { NoteRevisionRow, NoteRow } from './notes.ts'
import type { ViewsTables } from './tables.ts'

/** A note that is neither deleted nor erased. */
export async function noteById(views: Kysely<ViewsTables>, noteId: string): Promise<NoteRow | undefined> {
  return await notesOf(views, false).where('noteId', '=', noteId).executeTakeFirst()
}

/** A note in any state, also deleted or erased. */
export async function storedNote(views: Kysely<ViewsTables>, noteId: string): Promise<NoteRow | undefined> {
  return await views.selectFrom('notes').selectAll().where('noteId', '=', noteId).executeTakeFirst()
}

export type NotesPage = {
  readonly limit: number
  readonly beforeSeq: number | null
  /** List deleted notes instead. */
  readonly deleted?: boolean
}

/** Newest first, last updated before `beforeSeq`. */
export async function listNotes(views: Kysely<ViewsTables>, page: NotesPage): Promise<NoteRow[]> {
  return await pageOf(views, page).execute()
}

/** Notes whose current title or content has each of these FTS5 terms, newest first. */
export async function searchNotes(
  views: Kysely<ViewsTables>,
  page: NotesPage & { readonly terms: readonly string[] },
): Promise<NoteRow[]> {
  // A correlated subquery would run for each note: seconds for a common prefix.
  const found = (term: string) => sql`(SELECT rowid FROM search_index WHERE search_index MATCH ${term})`
  const matching = page.terms.map(
    (term) => sql<boolean>`(titleSeq IN ${found(term)} OR contentSeq IN ${found(term)})`,
  )
  return await pageOf(views, page)
    .where(({ and }) => and(matching))
    .execute()
}

function notesOf(views: Kysely<ViewsTables>, deleted: boolean) {
  return views
    .selectFrom('notes')
    .selectAll()
    .where('erased', '=', 0)
    .where('deletedAt', deleted ? 'is not' : 'is', null)
}

function pageOf(views: Kysely<ViewsTables>, { limit, beforeSeq, deleted = false }: NotesPage) {
  const page = notesOf(views, deleted).orderBy('updatedSeq', 'desc').limit(limit)
  return beforeSeq === null ? page : page.where('updatedSeq', '<', beforeSeq)
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
