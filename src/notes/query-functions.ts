import { notesPage } from '../../projections/note-queries.ts'
import type { NoteRow } from '../../projections/notes.ts'
import { holdsWords, toTerms } from '../../projections/search-text.ts'
import type { Sources, ThreadFunctions } from '../storage/function-thread.ts'
import { createNoteReader, excerptOf, type Note } from './reading.ts'

export type NoteSummary = Omit<Note, 'content'> & { readonly excerpt: string }

export type NoteListQuery = {
  /** Null or blank for all. */
  readonly q: string | null
  readonly limit: number
  readonly beforeSeq: number | null
  /** Lists deleted notes that are not erased instead. */
  readonly deleted?: boolean
}

/** What notes ask the query thread, because a search may take long, and so may reading long notes. */
export const queryFunctions = {
  /** Newest first; pass `nextSeq` as `beforeSeq` for the next page. */
  listNotes: ({ views, ledger }: Sources) => {
    const { toNote } = createNoteReader(ledger)
    return ({
      q,
      limit,
      beforeSeq,
      deleted = false,
    }: NoteListQuery): { notes: NoteSummary[]; nextSeq: number | null } => {
      const query = q?.trim() ? q : null
      const terms = query === null ? [] : toTerms(query)
      if (query !== null && terms.length === 0) return { notes: [], nextSeq: null }
      const rows = notesPage(views, { terms, limit: limit + 1, beforeSeq, deleted })
      const shown = rows.slice(0, limit)
      // If title and content are from different events, their documents also contain replaced text.
      const isPresent = (row: NoteRow, note: Note) =>
        query === null ||
        row.titleSeq === row.contentSeq ||
        holdsWords(query, `${note.title}\n${note.content}`)
      return {
        notes: shown.flatMap((row) => {
          const note = toNote(row)
          if (!isPresent(row, note)) return []
          const { content, ...summary } = note
          return [{ ...summary, excerpt: excerptOf(content) }]
        }),
        nextSeq: rows.length > limit ? (shown.at(-1)?.updatedSeq ?? null) : null,
      }
    }
  },
} as const satisfies ThreadFunctions
