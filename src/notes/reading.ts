import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import type { NoteRow, NoteSource } from '../../projections/notes.ts'
import { wholeCharacters } from '../../projections/whole-characters.ts'
import { shorten } from '../lib/shorten.ts'

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

const EXCERPT_CHARS = 200
const TITLE_CHARS = 80

/** Reads the words of a note, to which the views only point. */
export function createNoteReader(ledger: Pick<LedgerReader, 'readSeqs'>) {
  /** Empty where they are erased. */
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

  return { wordsOf, toNote }
}

/** The events with the title and the content, which may be one. */
export function seqsOf({ titleSeq, contentSeq }: Pick<NoteRow, 'titleSeq' | 'contentSeq'>): number[] {
  return [...new Set([titleSeq, contentSeq])]
}

function fieldOf(event: AnyEvent | undefined, field: 'title' | 'content'): string | undefined {
  return event?.type === 'note.created' || event?.type === 'note.updated' ? event.body?.[field] : undefined
}

/** The first non-empty line, without its markdown and its final full stop. An ellipsis stays. */
export function titleFrom(content: string): string {
  const line = content.split('\n').find((each) => each.trim() !== '') ?? ''
  const words = line.replace(/^[\s#>*\-+\d.]+|(?<!\.)\.\s*$/g, '').trim() || line.trim()
  return shorten(words, TITLE_CHARS)
}

/** The beginning of a note's content, as lists show it. */
export function excerptOf(content: string): string {
  return wholeCharacters(content.slice(0, EXCERPT_CHARS))
}
