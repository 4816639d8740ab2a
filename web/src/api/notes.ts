import type { Http } from './http.ts'
import { arrayField, asObject, type JsonObject, numberField, optionalString, stringField } from './json.ts'

export type NoteSummary = {
  readonly id: string
  readonly title: string
  readonly excerpt: string
  readonly source: 'owner' | 'delegate'
  readonly updatedAt: string
  readonly revision: number
}
export type Note = Omit<NoteSummary, 'excerpt'> & { readonly content: string }
export type NotePage = { readonly notes: readonly NoteSummary[]; readonly nextCursor: string | null }
export type NoteRevision = {
  readonly revision: number
  readonly at: string
  readonly source: 'owner' | 'delegate'
}

function sourceField(object: JsonObject): 'owner' | 'delegate' {
  return stringField(object, 'source') === 'owner' ? 'owner' : 'delegate'
}

function sharedFields(note: JsonObject) {
  return {
    id: stringField(note, 'id'),
    title: stringField(note, 'title'),
    source: sourceField(note),
    updatedAt: stringField(note, 'updatedAt'),
    revision: numberField(note, 'revision'),
  }
}

function parseNote(value: unknown): Note {
  const note = asObject(value, 'note')
  return { ...sharedFields(note), content: stringField(note, 'content') }
}

const pathOf = (id: string) => `/api/notes/${encodeURIComponent(id)}`

/** Newest first. `deleted` lists deleted notes that can still be restored. */
export async function fetchNotes(
  http: Http,
  query: {
    readonly q?: string
    readonly deleted: boolean
    readonly cursor?: string
    readonly limit: number
    readonly signal?: AbortSignal
  },
): Promise<NotePage> {
  const { signal, deleted, ...rest } = query
  const options = { query: { ...rest, deleted: String(deleted) }, ...(signal ? { signal } : {}) }
  const answer = asObject(await http('GET', '/api/notes', options), 'notes')
  return {
    notes: arrayField(answer, 'notes', (item) => {
      const note = asObject(item, 'note')
      return { ...sharedFields(note), excerpt: stringField(note, 'excerpt') }
    }),
    nextCursor: optionalString(answer, 'nextCursor'),
  }
}

export async function fetchNote(http: Http, id: string): Promise<Note> {
  return parseNote(await http('GET', pathOf(id)))
}

export async function createNote(
  http: Http,
  note: { readonly title?: string; readonly content: string },
): Promise<Note> {
  return parseNote(await http('POST', '/api/notes', { body: note }))
}

/** Throws Refused (`stale_revision`) if the note has changed since `ifRevision`. Null overwrites any. */
export async function updateNote(
  http: Http,
  id: string,
  change: { readonly title: string; readonly content: string },
  ifRevision: number | null,
): Promise<Note> {
  const headers: Record<string, string> = ifRevision === null ? {} : { 'if-match': `"${ifRevision}"` }
  return parseNote(await http('PUT', pathOf(id), { body: change, headers }))
}

export async function deleteNote(http: Http, id: string): Promise<void> {
  await http('DELETE', pathOf(id))
}

export async function restoreNote(http: Http, id: string, revision: number): Promise<Note> {
  return parseNote(await http('POST', `${pathOf(id)}/restore`, { body: { revision } }))
}

export async function fetchRevisions(http: Http, id: string): Promise<readonly NoteRevision[]> {
  const answer = asObject(await http('GET', `${pathOf(id)}/revisions`), 'revisions')
  return arrayField(answer, 'revisions', (item) => {
    const revision = asObject(item, 'revision')
    return {
      revision: numberField(revision, 'revision'),
      at: stringField(revision, 'at'),
      source: sourceField(revision),
    }
  })
}

export async function fetchRevision(http: Http, id: string, revision: number): Promise<Note> {
  return parseNote(await http('GET', `${pathOf(id)}/revisions/${revision}`))
}
