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

/** Notes whose current title or content matches an FTS5 query, newest first. */
export async function searchNotes(
  views: Kysely<ViewsTables>,
  page: NotesPage & { readonly match: string },
): Promise<NoteRow[]> {
  const matching = sql<boolean>`EXISTS (SELECT 1 FROM search_index WHERE search_index MATCH ${page.match} AND rowid IN (titleSeq, contentSeq))`
  return await pageOf(views, page).where(matching).execute()
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
