import * as z from 'zod'
import { defineTool, originOf, type Planned, refuse, type Tool, type ToolResult } from '../model/tool.ts'
import { MAX_NOTE_CHARS } from './content.ts'
import type { Note, NoteSummary, Notes } from './notes.ts'

const LISTED_NOTES = 20
/** Excerpt of a note in a proposal to delete it. */
const SHOWN_CHARS = 500
const query = z
  .string()
  .min(1)
  .max(1000)
  .describe(
    'Words of its title or content as the owner said them, its exact title in double quotes, or its id',
  )

type Changes = {
  readonly title: string | null
  readonly content: string | null
  readonly append: string | null
  readonly remove: string | null
}

export function noteTools(notes: Notes): Tool[] {
  async function find(words: string): Promise<{ note: Note } | { refusal: ToolResult }> {
    const byId = await notes.get(words)
    if (byId) return { note: byId }
    const [, exact] = /^\s*["“](.+)["”]\s*$/s.exec(words) ?? []
    const wanted = (exact ?? words).trim()
    if (!(await notes.isSearchable()))
      return {
        refusal: refuse('index_rebuilding', 'The search index is being rebuilt. Try again in some minutes.'),
      }
    const { notes: found } = await notes.list({ q: wanted, limit: LISTED_NOTES, beforeSeq: null })
    const same = found.filter((each) => each.title.toLowerCase() === wanted.toLowerCase())
    const best = same.length > 0 || exact !== undefined ? same : found
    const [only, ...others] = best
    if (!only) return { refusal: refuse('not_found', `There is no note about “${wanted}”.`) }
    if (others.length > 0) return { refusal: await choice(best) }
    const note = await notes.get(only.id)
    return note ? { note } : { refusal: refuse('not_found', 'The note is gone.') }
  }

  /** Lists the matches by title and date, without showing their content to the model. */
  async function choice(found: readonly NoteSummary[]): Promise<ToolResult> {
    const whole = await Promise.all(found.map(({ id }) => notes.get(id)))
    const titles = found.map(({ title, updatedAt }) => `“${title}” (${updatedAt.slice(0, 10)})`).join(', ')
    return {
      ok: false,
      reason: 'ambiguous',
      message: `Several notes match: ${titles}. Say which one.`,
      data: { choices: found.map(({ id, title, updatedAt }) => ({ id, title, updatedAt })) },
      derivedFrom: whole.flatMap((note) => note?.seqs ?? []),
    }
  }

  /** The subject includes the revision: a confirmation is only valid for the text that the owner saw. */
  const subjectOf = ({ id, revision }: Note) => `note:${id}@${revision}`

  /** The new title and content, or a refusal. */
  function changed({ content: now }: Note, { title, content, append, remove }: Changes) {
    if (title === null && content === null && append === null && remove === null)
      return refuse('invalid', 'Say what is to change.')
    let text = content ?? now
    if (remove !== null) {
      const wanted = linesOf(remove)
        .map(itemIn)
        .filter((item) => item !== '')
      const left = linesOf(text).filter((line) => !wanted.includes(itemIn(line)))
      if (left.length === linesOf(text).length) return refuse('not_found', 'The note has no such line.')
      text = left.join('\n')
    }
    if (append !== null) text = `${text.trimEnd()}\n${append}`
    if (text.trim() === '')
      return refuse('empty', 'That would leave the note empty. Delete the note instead.')
    return { title: title ?? undefined, content: text === now ? undefined : text }
  }

  return [
    defineTool({
      name: 'create_note',
      description: 'Writes a new note. Use for lists, drafts and anything longer than a short reply.',
      parameters: z.object({
        title: z.string().max(200).nullable(),
        content: z.string().min(1).max(MAX_NOTE_CHARS),
      }),
      idempotent: true,
      readOnly: false,
      async run({ title, content }, context) {
        const note = await notes.create(
          { title: title ?? undefined, content },
          { source: 'delegate', ...originOf(context) },
        )
        return {
          ok: true,
          data: { note: { id: note.id, title: note.title, url: `/notes/${note.id}` } },
          refs: [refTo(note)],
        }
      },
    }),
    defineTool({
      name: 'list_notes',
      description: 'Lists notes, the latest first; with a query, those whose title or content match.',
      parameters: z.object({ query: z.string().max(1000).nullable() }),
      idempotent: true,
      readOnly: true,
      reads: 'your notes',
      async run({ query: words }) {
        const { notes: found, nextSeq } = await notes.list({ q: words, limit: LISTED_NOTES, beforeSeq: null })
        const seqs = await Promise.all(found.map(async ({ id }) => (await notes.get(id))?.seqs ?? []))
        return {
          ok: true,
          data: { notes: found.map(summarise), more: nextSeq !== null },
          derivedFrom: seqs.flat(),
        }
      },
    }),
    defineTool({
      name: 'read_note',
      description: 'Reads one note whole.',
      parameters: z.object({ query }),
      idempotent: true,
      readOnly: true,
      reads: 'a note',
      async run({ query: words }) {
        const found = await find(words)
        if ('refusal' in found) return found.refusal
        const { id, title, content, updatedAt } = found.note
        return {
          ok: true,
          data: { note: { id, title, content, updatedAt } },
          refs: [refTo(found.note)],
          derivedFrom: found.note.seqs,
        }
      },
    }),
    defineTool({
      name: 'update_note',
      description:
        'Changes a note: a new title, new content, words to append, or lines to remove. It finds the note by itself, so ' +
        'there is no need to look for it first.',
      parameters: z.object({
        query,
        title: z.string().max(200).nullable(),
        content: z.string().max(MAX_NOTE_CHARS).nullable(),
        append: z.string().max(MAX_NOTE_CHARS).nullable(),
        remove: z
          .string()
          .max(MAX_NOTE_CHARS)
          .nullable()
          .describe('Lines to take out, each as it reads, such as the items of a list'),
      }),
      // Appending is not idempotent, and its key belongs to the revision, not to the call.
      idempotent: false,
      readOnly: false,
      async plan({ query: words, ...changes }): Promise<Planned> {
        const found = await find(words)
        if ('refusal' in found) return found
        const { note } = found
        const change = changed(note, changes)
        if ('ok' in change) return { refusal: change }
        return {
          deed: {
            subject: subjectOf(note),
            arguments: { query: note.id, ...changes },
            title: `Change the note “${note.title}”`,
            detail: describeChanges(changes),
            verb: 'Change note',
            derivedFrom: note.seqs,
          },
        }
      },
      async run({ query: words, ...changes }, context) {
        const found = await find(words)
        if ('refusal' in found) return found.refusal
        const change = changed(found.note, changes)
        if ('ok' in change) return change
        const origin = originOf(context)
        const derivedFrom = [
          ...(origin.derivedFrom ?? []),
          ...(changes.content === null && change.content !== undefined ? found.note.seqs : []),
        ]
        const result = await notes.update(
          found.note.id,
          change,
          { source: 'delegate', ...origin, derivedFrom },
          found.note.revision,
        )
        if (result.status !== 'ok') return refuse('stale', 'The note was changed meanwhile; read it again.')
        return {
          ok: true,
          data: { note: { id: result.note.id, title: result.note.title } },
          refs: [refTo(result.note)],
          derivedFrom: result.note.seqs,
        }
      },
    }),
    defineTool({
      name: 'delete_note',
      description:
        'Deletes a note. It can be restored from its revisions. It finds the note by itself, so there is no need to look ' +
        'for it first.',
      parameters: z.object({ query }),
      idempotent: true,
      readOnly: false,
      async plan({ query: words }): Promise<Planned> {
        const found = await find(words)
        if ('refusal' in found) return found
        const { note } = found
        return {
          deed: {
            subject: subjectOf(note),
            arguments: { query: note.id },
            title: `Delete the note “${note.title}”`,
            detail: note.content.slice(0, SHOWN_CHARS).toWellFormed(),
            verb: 'Delete note',
            derivedFrom: note.seqs,
          },
        }
      },
      async run({ query: words }, context) {
        const found = await find(words)
        if ('refusal' in found) return found.refusal
        await notes.remove(found.note.id, { source: 'delegate', ...originOf(context) })
        return {
          ok: true,
          data: { note: { id: found.note.id, title: found.note.title } },
          refs: [refTo(found.note)],
          derivedFrom: found.note.seqs,
        }
      },
    }),
  ]
}

const linesOf = (text: string) => text.split('\n')

/** The text of a list item, without its marker. */
function itemIn(line: string): string {
  return line
    .replace(/^\s*(?:[-*•]|\d+[.)]) ?(?:\[[ x]\] ?)?/, '')
    .trim()
    .toLowerCase()
}

function describeChanges({ title, content, append, remove }: Changes): string {
  return [
    title === null ? null : `New title: ${title}`,
    content === null ? null : `Replaces the whole text${content.trim() === '' ? '.' : `:\n${content}`}`,
    remove === null ? null : `Remove:\n${remove}`,
    append === null ? null : `Add:\n${append}`,
  ]
    .filter((part) => part !== null)
    .join('\n\n')
}

function refTo(note: Note) {
  return { kind: 'note' as const, id: note.id }
}

function summarise({ id, title, excerpt, updatedAt }: NoteSummary) {
  return { id, title, excerpt, updatedAt }
}
