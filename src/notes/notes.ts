import type { Kysely } from 'kysely'
import pLimit from 'p-limit'
import type { Append, NewEvent } from '../../ledger/event.ts'
import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import {
  listNotes,
  noteById,
  noteRevisions,
  searchNotes,
  storedNote,
} from '../../projections/note-queries.ts'
import type { NoteRow, NoteSource } from '../../projections/notes.ts'
import { holdsWords, toMatch } from '../../projections/search-text.ts'
import type { ViewsTables } from '../../projections/tables.ts'
import type { Origin } from '../model/tool.ts'

export type Note = {
  readonly id: string
  readonly title: string
  readonly content: string
  readonly source: NoteSource
  readonly createdAt: string
  readonly updatedAt: string
  readonly revision: number
  /** The events with its text. */
  readonly seqs: readonly number[]
}

export type NoteSummary = Omit<Note, 'content' | 'seqs'> & { readonly excerpt: string }

export type NoteChange = { readonly title?: string | undefined; readonly content?: string | undefined }

export type NoteOutcome =
  | { readonly status: 'ok'; readonly note: Note }
  | { readonly status: 'not_found' }
  | { readonly status: 'stale'; readonly revision: number }
  /** The revision to restore is erased. */
  | { readonly status: 'erased' }

/** Where a change comes from, for its fact. */
export type NoteOrigin = Origin & { readonly source: NoteSource }

export type Notes = {
  /** Creating again with the same key returns the first note. */
  create(note: { title?: string | undefined; content: string }, origin: NoteOrigin): Promise<Note>
  /** With `ifRevision`, updates only if that is the current revision. */
  update(id: string, change: NoteChange, origin: NoteOrigin, ifRevision?: number): Promise<NoteOutcome>
  /** Makes an older revision current. Also restores a deleted note. */
  restore(id: string, revision: number, origin: NoteOrigin): Promise<NoteOutcome>
  /** Deletes the note. Its text stays in the ledger until it is erased. */
  remove(id: string, origin: NoteOrigin): Promise<boolean>
  get(id: string): Promise<Note | undefined>
  /** False while the search index is being rebuilt. */
  isSearchable(): Promise<boolean>
  /** Newest first; pass `nextSeq` as `beforeSeq` for the next page. */
  list(query: {
    q: string | null
    limit: number
    beforeSeq: number | null
    /** Lists deleted notes that are not erased instead. */
    deleted?: boolean
  }): Promise<{ notes: NoteSummary[]; nextSeq: number | null }>
  /** One revision, also of a deleted note. Undefined if it does not exist or is erased. */
  revision(id: string, revision: number): Promise<Note | undefined>
  revisions(id: string): Promise<{ revision: number; at: string; source: NoteSource }[] | undefined>
}

const EXCERPT_CHARS = 200
const TITLE_CHARS = 80

/** The notes of owner and delegate. The views hold the current state, the ledger the text. */
export function createNotes(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly views: Kysely<ViewsTables>
  /** Resolves to true once the search index has every durable fact, false while it is being rebuilt. */
  readonly catchUpSearch: () => Promise<boolean>
  readonly newId: () => string
}): Notes {
  const { append, ledger, views, newId } = options
  const inTurn = pLimit(1)

  function wordsOf(row: Pick<NoteRow, 'titleSeq' | 'contentSeq'>): { title: string; content: string } {
    const events = ledger.readSeqs(seqsOf(row))
    return { title: fieldOf(events[0], 'title') ?? '', content: fieldOf(events.at(-1), 'content') ?? '' }
  }

  function toNote(row: NoteRow): Note {
    const { noteId: id, source, createdAt, updatedAt, revision } = row
    const { title, content } = wordsOf(row)
    const named = title || titleFrom(content)
    return { id, source, createdAt, updatedAt, revision, title: named, content, seqs: seqsOf(row) }
  }

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
    async create({ title, content }, origin) {
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
    update: (id, change, origin, ifRevision) =>
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
    restore: (id, restoredRevision, origin) =>
      inTurn(async () => {
        const old = (await noteRevisions(views, id)).find((each) => each.revision === restoredRevision)
        if (!old) return { status: 'not_found' }
        if (wordsOf(old).content === '') return { status: 'erased' }
        const compose = (revision: number): NewEvent => ({
          type: 'note.restored',
          actor: 'owner',
          derivedFrom: seqsOf(old),
          facts: { noteId: id, revision, restoredRevision, source: origin.source },
        })
        return revise(await storedNote(views, id), origin, compose)
      }),
    async remove(id, origin) {
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
    async get(id) {
      const row = await noteById(views, id)
      return row && toNote(row)
    },
    async revision(id, number) {
      const [stored, revisions] = await Promise.all([storedNote(views, id), noteRevisions(views, id)])
      const row = revisions.find((each) => each.revision === number)
      if (!stored || !row) return undefined
      const note = toNote({ ...stored, ...row, updatedAt: row.at })
      return note.content === '' ? undefined : note
    },
    isSearchable: options.catchUpSearch,
    async list({ q, limit, beforeSeq, deleted = false }) {
      const match = q === null ? null : toMatch(q)
      if (q !== null) await options.catchUpSearch()
      const page = { limit: limit + 1, beforeSeq, deleted }
      const rows =
        match === null
          ? q === null || q.trim() === ''
            ? await listNotes(views, page)
            : []
          : await searchNotes(views, { ...page, match })
      const shown = rows.slice(0, limit)
      // If title and content are from different events, their documents also contain replaced text.
      const isPresent = (row: NoteRow, note: Note) =>
        q === null || row.titleSeq === row.contentSeq || holdsWords(q, `${note.title}\n${note.content}`)
      return {
        notes: shown.flatMap((row) => {
          const note = toNote(row)
          if (!isPresent(row, note)) return []
          const { content, seqs: _seqs, ...summary } = note
          return [{ ...summary, excerpt: excerptOf(content) }]
        }),
        nextSeq: rows.length > limit ? (shown.at(-1)?.updatedSeq ?? null) : null,
      }
    },
    async revisions(id) {
      if (!(await noteById(views, id))) return undefined
      return (await noteRevisions(views, id)).map(({ revision, at, source }) => ({ revision, at, source }))
    },
  }
}

/** The events with the title and the content, which may be one. */
function seqsOf({ titleSeq, contentSeq }: Pick<NoteRow, 'titleSeq' | 'contentSeq'>): number[] {
  return [...new Set([titleSeq, contentSeq])]
}

function fieldOf(event: AnyEvent | undefined, field: 'title' | 'content'): string | undefined {
  return event?.type === 'note.created' || event?.type === 'note.updated' ? event.body?.[field] : undefined
}

/** The first non-empty line, without its markdown. */
function titleFrom(content: string): string {
  const line = content.split('\n').find((each) => each.trim() !== '') ?? ''
  const words = line.replace(/^[\s#>*\-+\d.]+/, '').trim() || line.trim()
  return words.length <= TITLE_CHARS
    ? words
    : `${words
        .slice(0, TITLE_CHARS - 1)
        .toWellFormed()
        .trimEnd()}…`
}

/** The beginning of a note's content, as lists show it. */
export function excerptOf(content: string): string {
  return content.slice(0, EXCERPT_CHARS).toWellFormed()
}
