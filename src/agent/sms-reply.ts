import type { TurnRow } from '../../projections/turns.ts'
import type { Notes } from '../notes/notes.ts'
import { noteOfAnswer } from './long-answer.ts'

/** More than that nobody wants to get as a text. */
const MAX_SEGMENTS = 3
const BEGINNING_CHARS = 240
/** What seven bits cannot carry fits fewer characters: the beginning is as long as there is room for. */
const STEP_CHARS = 20
const GUEST_CHARS = 320

/** An answer too long for a text becomes a note; the text is its beginning and where the rest is. Made once a turn. */
export function createShortenSms(options: {
  readonly notes: Notes
  readonly publicUrl: () => string | null
  /** Segments that a text is sent as. */
  readonly segmentsOf: (text: string) => number
}) {
  return async (answer: string, turn: TurnRow, seen: readonly number[]): Promise<string> => {
    const text = sevenBit(answer)
    if (options.segmentsOf(text) <= MAX_SEGMENTS) return text
    const note = await noteOfAnswer(options.notes, answer, { turn, seen, channel: 'sms' })
    const publicUrl = options.publicUrl()
    const where = publicUrl === null ? `the note "${note.title}"` : `${publicUrl}/notes/${note.id}`
    const withoutTitle = text.replace(/^#.*\n+/, '')
    const upTo = (chars: number) => `${beginning(withoutTitle, chars)}\n\nThe rest: ${where}`
    let chars = BEGINNING_CHARS
    while (chars > STEP_CHARS && options.segmentsOf(upTo(chars)) > MAX_SEGMENTS) chars -= STEP_CHARS
    return upTo(chars)
  }
}

/** A stranger is answered briefly, and gets no note. */
export function shortenForGuest(answer: string): string {
  const text = sevenBit(answer)
  return text.length <= GUEST_CHARS ? text : beginning(text, GUEST_CHARS)
}

const words = new Intl.Segmenter(undefined, { granularity: 'word' })
const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The first characters of a text, up to the end of a word, in languages without spaces too. */
function beginning(text: string, chars: number): string {
  if (text.length <= chars) return text
  const word = words.segment(text).containing(chars)?.index ?? 0
  // A word that takes up most of it is cut itself, between two characters.
  const end = word > chars / 2 ? word : (characters.segment(text).containing(chars)?.index ?? 0)
  return `${text.slice(0, end).trimEnd()}...`
}

/** Typographic signs as what seven bits have for them: a single one would more than halve what a segment holds. */
function sevenBit(text: string): string {
  return text
    .replace(/[‘’‚‛]/g, "'")
    .replace(/[“”„‟]/g, '"')
    .replace(/[‐‑‒–—]/g, '-')
    .replace(/…/g, '...')
    .replace(/[\u00a0\u202f]/g, ' ')
}
