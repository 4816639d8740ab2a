import * as z from 'zod'
import { type ActingContext, defineTool, type Tool, type ToolResult } from '../tools/tool.ts'
import { MAX_NOTE_CHARS } from './content.ts'
import type { Note, NoteOrigin, NoteSummary, Notes } from './notes.ts'

const LISTED_NOTES = 20
const query = z.string().min(1).max(1000).describe('Words of its title or content, or its id')

/** What the delegate can do with notes. */
export function noteTools(notes: Notes): Tool[] {
  async function find(words: string): Promise<{ note: Note } | { refusal: ToolResult }> {
    const byId = await notes.get(words)
    if (byId) return { note: byId }
    const { notes: found } = await notes.list({ q: words, limit: LISTED_NOTES, beforeSeq: null })
    const best = found.filter((each) => each.title.toLowerCase() === words.trim().toLowerCase())
    const [only, ...others] = best.length > 0 ? best : found
    if (!only) return { refusal: refuse('not_found', `There is no note about “${words}”.`) }
    if (others.length > 0 && best.length !== 1) {
      const titles = found.map((each) => `“${each.title}”`).join(', ')
      return { refusal: refuse('ambiguous', `Several notes match: ${titles}. Say which one.`) }
    }
    const note = await notes.get(only.id)
    return note ? { note } : { refusal: refuse('not_found', 'The note is gone.') }
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
        const note = await notes.create({ title: title ?? undefined, content }, originOf(context))
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
      description: 'Changes a note: a new title, new content, or words to append to it.',
      parameters: z.object({
        query,
        title: z.string().max(200).nullable(),
        content: z.string().max(MAX_NOTE_CHARS).nullable(),
        append: z.string().max(MAX_NOTE_CHARS).nullable(),
      }),
      // Appending twice is not the same as once; its unique key is of the revision, not of the call.
      idempotent: false,
      readOnly: false,
      async run({ query: words, title, content, append }, context) {
        const found = await find(words)
        if ('refusal' in found) return found.refusal
        const base = content ?? (append === null ? undefined : found.note.content)
        const change = {
          title: title ?? undefined,
          content: base === undefined ? undefined : append === null ? base : `${base.trimEnd()}\n${append}`,
        }
        if (change.title === undefined && !change.content) return refuse('invalid', 'Say what is to change.')
        const origin = originOf(context)
        const derivedFrom = [
          ...(origin.derivedFrom ?? []),
          ...(content === null && append !== null ? found.note.seqs : []),
        ]
        const result = await notes.update(
          found.note.id,
          change,
          { ...origin, derivedFrom, key: undefined },
          found.note.revision,
        )
        if (result.status !== 'ok') return refuse('stale', 'The note was changed meanwhile; read it again.')
        return {
          ok: true,
          data: { note: { id: result.note.id, title: result.note.title } },
          refs: [refTo(result.note)],
        }
      },
    }),
    defineTool({
      name: 'delete_note',
      description: 'Deletes a note. It can be restored from its revisions.',
      parameters: z.object({ query }),
      idempotent: true,
      readOnly: false,
      async run({ query: words }, context) {
        const found = await find(words)
        if ('refusal' in found) return found.refusal
        await notes.remove(found.note.id, originOf(context))
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

function originOf(context: ActingContext): NoteOrigin {
  const { channel, conversationId, spanId, turnId, calledSeq, messageSeq, key } = context
  const derivedFrom = messageSeq === null ? [calledSeq] : [messageSeq, calledSeq]
  return {
    source: 'delegate',
    channel,
    conversationId,
    spanId,
    turnId,
    causedBy: calledSeq,
    derivedFrom,
    key,
  }
}

function refTo(note: Note) {
  return { kind: 'note' as const, id: note.id }
}

function summarise({ id, title, excerpt, updatedAt }: NoteSummary) {
  return { id, title, excerpt, updatedAt }
}

function refuse(reason: string, message: string): ToolResult {
  return { ok: false, reason, message }
}
