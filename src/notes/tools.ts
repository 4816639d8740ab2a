import * as z from 'zod'
import { wholeCharacters } from '../../projections/whole-characters.ts'
import { english } from '../language/message.ts'
import { defineTool, originOf, type Planned, refuse, type Tool, type ToolResult } from '../model/tool.ts'
import { itemIn } from '../text/list-item.ts'
import { MAX_NOTE_CHARS } from './content.ts'
import type { Notes } from './notes.ts'
import type { NoteSummary } from './query-functions.ts'
import type { Note } from './reading.ts'

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
    if (others.length > 0) return { refusal: choice(best) }
    const note = await notes.get(only.id)
    return note ? { note } : { refusal: refuse('not_found', 'The note is gone.') }
  }

  /** The result of `act` on the note that is meant, or the reason why there is none. */
  async function onNote(
    words: string,
    act: (note: Note) => ToolResult | Promise<ToolResult>,
  ): Promise<ToolResult> {
    const found = await find(words)
    return 'refusal' in found ? found.refusal : act(found.note)
  }

  /** The subject includes the revision: a confirmation is only valid for the text that the owner saw. */
  const subjectOf = ({ id, revision }: Note) => `note:${id}@${revision}`

  /** The new title and content, and the lines to remove that it lacks; or a refusal. */
  function changed({ content: now }: Note, { title, content, append, remove }: Changes) {
    if (title === null && content === null && append === null && remove === null)
      return refuse('invalid', 'Say what is to change.')
    let text = content ?? now
    let absent: readonly string[] = []
    if (remove !== null) {
      const lines = linesOf(text)
      const asked = linesOf(remove).filter((line) => compared(line) !== '')
      const same = Map.groupBy(lines, compared)
      const alike = Map.groupBy(lines, withoutAmount)
      const gone = new Set<string>()
      absent = asked.filter((line) => {
        const [only, ...others] = alike.get(withoutAmount(line)) ?? []
        const meant = same.get(compared(line)) ?? (only !== undefined && others.length === 0 ? [only] : [])
        for (const each of meant) gone.add(each)
        return meant.length === 0
      })
      const left = lines.filter((line) => !gone.has(line))
      if (left.length === lines.length) return refuse('not_found', 'The note has no such line.')
      text = left.join('\n')
    }
    if (append !== null) text = `${text.trimEnd()}\n${append}`
    if (text.trim() === '')
      return refuse('empty', 'That would leave the note empty. Delete the note instead.')
    return { title: title ?? undefined, content: text === now ? undefined : text, absent }
  }

  return [
    defineTool({
      name: 'create_note',
      everyday: true,
      class: 'free',
      description: 'Writes a new note. Use for lists, drafts and anything longer than a short reply.',
      brief: 'Writes a new note or list.',
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
          refs: [refTo(note.id)],
        }
      },
    }),
    defineTool({
      name: 'list_notes',
      class: 'free',
      description: 'Lists notes, the latest first; with a query, those whose title or content match.',
      parameters: z.object({ query: z.string().max(1000).nullable() }),
      idempotent: true,
      readOnly: true,
      reads: 'your notes',
      async run({ query: words }) {
        const { notes: found, nextSeq } = await notes.list({ q: words, limit: LISTED_NOTES, beforeSeq: null })
        return {
          ok: true,
          data: { notes: found.map(summarise), more: nextSeq !== null },
          derivedFrom: found.flatMap(({ seqs }) => seqs),
        }
      },
    }),
    defineTool({
      name: 'read_note',
      everyday: true,
      class: 'free',
      description: 'Reads one note whole.',
      parameters: z.object({ query }),
      idempotent: true,
      readOnly: true,
      reads: 'a note',
      run: ({ query: words }) =>
        onNote(words, (note) => {
          const { id, title, content, updatedAt } = note
          return { ...resultOf(note), data: { note: { id, title, content, updatedAt } } }
        }),
    }),
    defineTool({
      name: 'update_note',
      everyday: true,
      class: 'guarded',
      description: 'Changes a note: a new title, new content, words to append, or lines to remove.',
      brief: 'Changes a note or list, found by words of it: append lines, or remove lines as they read.',
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
            title: english`Change the note “${note.title}”`,
            detail: describeChanges(changes),
            verb: english`Change note`,
            derivedFrom: note.seqs,
            isNote: changes.title === null && changes.content === null && changes.remove === null,
          },
        }
      },
      run: ({ query: words, ...changes }, context) =>
        onNote(words, async (note) => {
          const changing = changed(note, changes)
          if ('ok' in changing) return changing
          const { absent, ...change } = changing
          const origin = originOf(context)
          const keepsText = changes.content === null && change.content !== undefined
          const derivedFrom = [...(origin.derivedFrom ?? []), ...(keepsText ? note.seqs : [])]
          const result = await notes.update(
            note.id,
            change,
            { source: 'delegate', ...origin, derivedFrom },
            note.revision,
          )
          if (result.status === 'ok') return resultOf(result.note, absent.length === 0 ? {} : { absent })
          return refuse('stale', 'The note was changed meanwhile; read it again.')
        }),
    }),
    defineTool({
      name: 'delete_note',
      class: 'guarded',
      description: 'Deletes a note. It can be restored from its revisions.',
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
            title: english`Delete the note “${note.title}”`,
            detail: wholeCharacters(note.content.slice(0, SHOWN_CHARS)),
            verb: english`Delete note`,
            derivedFrom: note.seqs,
          },
        }
      },
      run: ({ query: words }, context) =>
        onNote(words, async (note) => {
          await notes.remove(note.id, { source: 'delegate', ...originOf(context) })
          return resultOf(note)
        }),
    }),
  ]
}

const linesOf = (text: string) => text.split('\n')

const AMOUNT =
  /^(?:\d[\d.,]*\s?(?:k?g|m?l|x)?\s|(?:two|three|four|five|six|ten|dozen|half(?: a)?)\s)?(?:(?:\p{L}+ )?of )?/u

/** "The milk" is also "2 litres of milk", if nothing else is. */
const withoutAmount = (line: string) => compared(line).replace(AMOUNT, '')

/** A line as it is compared: "the newspaper" takes "- A newspaper" off a list. */
const compared = (line: string) =>
  itemIn(line)
    .toLowerCase()
    .replace(/^(?:the|an?|some) /, '')

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

function resultOf({ id, title, seqs }: Note, more: { readonly absent?: readonly string[] } = {}) {
  return { ok: true, data: { note: { id, title }, ...more }, refs: [refTo(id)], derivedFrom: seqs } as const
}

/** Lists the matches by title and date, without showing their content to the model. */
function choice(found: readonly NoteSummary[]): ToolResult {
  const titles = found.map(({ title, updatedAt }) => `“${title}” (${updatedAt.slice(0, 10)})`).join(', ')
  return {
    ...refuse('ambiguous', `Several notes match: ${titles}. Say which one.`),
    data: { choices: found.map(({ id, title, updatedAt }) => ({ id, title, updatedAt })) },
    derivedFrom: found.flatMap(({ seqs }) => seqs),
  }
}

function refTo(id: string) {
  return { kind: 'note', id } as const
}

function summarise({ id, title, excerpt, updatedAt }: NoteSummary) {
  return { id, title, excerpt, updatedAt }
}
