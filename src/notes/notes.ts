import type { Kysely } from 'kysely'
import pLimit from 'p-limit'
import type { NewEvent } from '../../ledger/event.ts'
import { noteById, noteRevisions, storedNote } from '../../projections/note-queries.ts'
import type { NoteRow, NoteSource } from '../../projections/notes.ts'
import type { ViewsTables } from '../../projections/tables.ts'
import type { Origin } from '../model/tool.ts'
import type { FunctionThread } from '../storage/function-thread.ts'
import { caughtUpWithin } from '../storage/index-wait.ts'
import type { Storage } from '../storage/storage.ts'
import type { NoteListQuery, queryFunctions } from './query-functions.ts'
import { createNoteReader, type Note, seqsOf, titleFrom } from './reading.ts'

export type NoteQueryFunctions = typeof queryFunctions

export type NoteChange = { readonly title?: string | undefined; readonly content?: string | undefined }

export type NoteOutcome =
  | { readonly status: 'ok'; readonly note: Note }
  | { readonly status: 'not_found' }
  /** The note has no such revision. */
  | { readonly status: 'unknown_revision' }
  | { readonly status: 'stale'; readonly revision: number }
  /** The revision to restore is erased. */
  | { readonly status: 'erased' }

/** Where a change comes from, for its fact. */
export type NoteOrigin = Origin & { readonly source: NoteSource }

export type Notes = ReturnType<typeof createNotes>

/** The notes of owner and delegate. The views hold the current state, the ledger the text. */
export function createNotes(options: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'catchUpLagging'>
  readonly kysely: Kysely<ViewsTables>
  readonly queries: FunctionThread<NoteQueryFunctions>
  readonly newId: () => string
}) {
  const { kysely: views, newId } = options
  const { append, ledger, catchUpLagging } = options.storage
  const inTurn = pLimit(1)

  const { wordsOf, toNote } = createNoteReader(ledger)

  function envelope({ source, key: _key, ...place }: NoteOrigin) {
    return { actor: source === 'owner' ? ('owner' as const) : ('delegate' as const), ...place }
  }

  async function present(id: string): Promise<Note> {
    const row = await noteById(views, id)
    if (!row) throw new Error(`note ${id} is missing from the views after its append`)
    return toNote(row)
  }

  /** Appends the next revision of a note. The unique key of the revision admits one writer. */
  async function revise(
    row: NoteRow | undefined,
    origin: NoteOrigin,
    compose: (revision: number) => NewEvent,
    ifRevision = row?.revision,
  ): Promise<NoteOutcome> {
    if (!row) return { status: 'not_found' }
    const { noteId, revision } = row
    if (ifRevision !== revision) return { status: 'stale', revision }
    const key = `note:${noteId}:${revision + 1}`
    const result = await append([{ ...compose(revision + 1), ...envelope(origin), key }])
    if (result.status === 'duplicate') return { status: 'stale', revision: revision + 1 }
    return { status: 'ok', note: await present(noteId) }
  }

  return {
    /** Creating again with the same key returns the first note. */
    async create(
      { title, content }: { title?: string | undefined; content: string },
      origin: NoteOrigin,
    ): Promise<Note> {
      const noteId = newId()
      const result = await append([
        {
          type: 'note.created',
          ...envelope(origin),
          key: origin.key,
          facts: { noteId, source: origin.source },
          body: { title: title?.trim() || titleFrom(content), content },
        },
      ])
      if (result.status === 'appended') return present(noteId)
      const { existing } = result
      return present(existing.type === 'note.created' ? existing.facts.noteId : noteId)
    },
    /** With `ifRevision`, updates only if that is the current revision. */
    update: (id: string, change: NoteChange, origin: NoteOrigin, ifRevision?: number): Promise<NoteOutcome> =>
      inTurn(async () => {
        const changed = (['title', 'content'] as const).filter((field) => change[field] !== undefined)
        const compose = (revision: number): NewEvent => ({
          type: 'note.updated',
          actor: 'owner',
          facts: { noteId: id, revision, source: origin.source, changed },
          body: { title: change.title?.trim(), content: change.content },
        })
        return revise(await noteById(views, id), origin, compose, ifRevision)
      }),
    /** Makes an older revision current. Also restores a deleted note. */
    restore: (id: string, restoredRevision: number, origin: NoteOrigin): Promise<NoteOutcome> =>
      inTurn(async () => {
        const known = await noteRevisions(views, id)
        const old = known.find((each) => each.revision === restoredRevision)
        if (!old) return { status: known.length === 0 ? 'not_found' : 'unknown_revision' }
        if (wordsOf(old).content === '') return { status: 'erased' }
        const compose = (revision: number): NewEvent => ({
          type: 'note.restored',
          actor: 'owner',
          derivedFrom: seqsOf(old),
          facts: { noteId: id, revision, restoredRevision, source: origin.source },
        })
        return revise(await storedNote(views, id), origin, compose)
      }),
    /** Deletes the note. Its text stays in the ledger until it is erased. */
    async remove(id: string, origin: NoteOrigin): Promise<boolean> {
      if (!(await noteById(views, id))) return false
      await append([
        {
          type: 'note.deleted',
          ...envelope(origin),
          key: origin.key,
          facts: { noteId: id, source: origin.source },
        },
      ])
      return true
    },
    async get(id: string): Promise<Note | undefined> {
      const row = await noteById(views, id)
      return row && toNote(row)
    },
    /** One revision, also of a deleted note. Undefined if it does not exist or is erased. */
    async revision(id: string, number: number): Promise<Note | undefined> {
      const [stored, revisions] = await Promise.all([storedNote(views, id), noteRevisions(views, id)])
      const row = revisions.find((each) => each.revision === number)
      if (!stored || !row) return undefined
      const note = toNote({ ...stored, ...row, updatedAt: row.at })
      return note.content === '' ? undefined : note
    },
    /** False while the search index is being rebuilt. */
    isSearchable: () => caughtUpWithin(catchUpLagging),
    /** Newest first; pass `nextSeq` as `beforeSeq` for the next page. A search waits briefly for its index. */
    async list(query: NoteListQuery) {
      if (query.q !== null) await caughtUpWithin(catchUpLagging)
      return options.queries.ask('listNotes', query)
    },
    async revisions(id: string): Promise<{ revision: number; at: string; source: NoteSource }[] | undefined> {
      if (!(await noteById(views, id))) return undefined
      return (await noteRevisions(views, id)).map(({ revision, at, source }) => ({ revision, at, source }))
    },
  }
}
