import type { Kysely } from 'kysely'
import type { ViewsTables } from '../../projections/tables.ts'
import type { ThreadFailed } from '../storage/function-thread.ts'
import { caughtUpWithin } from '../storage/index-wait.ts'
import type { Storage } from '../storage/storage.ts'
import { createNotes } from './notes.ts'
import { createNoteRenderer } from './renderer.ts'
import { noteTools } from './tools.ts'

/** Wires notes: their changes, their pages, and the tools of the delegate. */
export function buildNotes(options: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'catchUpLagging'>
  readonly kysely: Kysely<ViewsTables>
  /** How long rendering a note may take. */
  readonly renderMs: number | undefined
  readonly newId: () => string
  readonly onThreadFailure: (failure: ThreadFailed) => void
}) {
  const { append, ledger, catchUpLagging } = options.storage
  const renderer = createNoteRenderer({ limitMs: options.renderMs, onFailure: options.onThreadFailure })
  const notes = createNotes({
    append,
    ledger,
    views: options.kysely,
    catchUpSearch: () => caughtUpWithin(catchUpLagging),
    newId: options.newId,
  })
  return { ...notes, renderer, tools: noteTools(notes), close: renderer.close }
}
