import type { Kysely } from 'kysely'
import type { ViewsTables } from '../../projections/tables.ts'
import type { FunctionThread, ThreadFailed } from '../storage/function-thread.ts'
import type { Storage } from '../storage/storage.ts'
import { createNotes, type NoteQueryFunctions, type Notes } from './notes.ts'
import { createNoteRenderer } from './renderer.ts'
import { noteTools } from './tools.ts'

/** The functions of notes in the query thread. */
export const noteQueries = new URL('./query-functions.ts', import.meta.url)
export type { NoteQueryFunctions }

/** Wires notes: their changes, their pages, and the tools of the delegate. */
export function buildNotes(options: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'catchUpLagging'>
  readonly kysely: Kysely<ViewsTables>
  readonly queries: FunctionThread<NoteQueryFunctions>
  readonly newId: () => string
  readonly onThreadFailure: (failure: ThreadFailed) => void
}) {
  const renderer = createNoteRenderer({ onFailure: options.onThreadFailure })
  const notes: Notes = createNotes(options)
  return { ...notes, renderer, tools: noteTools(notes), close: renderer.close }
}
