import { type CreateNote, noteOfAnswer } from './long-answer.ts'
import type { TurnToRun } from './turn-facts.ts'

/** The longest text, in SMS segments. */
const MAX_SEGMENTS = 3
const BEGINNING_CHARS = 240
/** Text outside the 7-bit alphabet fits fewer characters, so the excerpt shrinks in steps until it fits. */
const STEP_CHARS = 20
const GUEST_CHARS = 320

/** Moves an answer that is too long for a text into a note and replies with a link. Idempotent per turn. */
export function createShortenSms(options: {
  readonly createNote: CreateNote
  readonly publicUrl: () => string | null
  readonly segmentsOf: (text: string) => number
}) {
  return async (answer: string, turn: TurnToRun, seen: readonly number[]): Promise<string> => {
    const text = sevenBit(answer)
    if (options.segmentsOf(text) <= MAX_SEGMENTS) return text
    const note = await noteOfAnswer(options.createNote, answer, { turn, seen, channel: 'sms' })
    const publicUrl = options.publicUrl()
    const where = publicUrl === null ? `the note "${note.title}"` : `${publicUrl}/notes/${note.id}`
    const withoutTitle = text.replace(/^#.*\n+/, '')
    const upTo = (chars: number) => `${beginning(withoutTitle, chars)}\n\nThe rest: ${where}`
    let chars = BEGINNING_CHARS
    while (chars > STEP_CHARS && options.segmentsOf(upTo(chars)) > MAX_SEGMENTS) chars -= STEP_CHARS
    return upTo(chars)
  }
}

/** Cuts a reply to a guest. Guests get no note. */
export function shortenForGuest(answer: string): string {
  const text = sevenBit(answer)
  return text.length <= GUEST_CHARS ? text : beginning(text, GUEST_CHARS)
}

const words = new Intl.Segmenter(undefined, { granularity: 'word' })
const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The start of a text, cut at a word boundary; works for languages without spaces. */
function beginning(text: string, chars: number): string {
  if (text.length <= chars) return text
  const word = words.segment(text).containing(chars)?.index ?? 0
  // Cut a very long word itself, between two graphemes.
  const end = word > chars / 2 ? word : (characters.segment(text).containing(chars)?.index ?? 0)
  return `${text.slice(0, end).trimEnd()}...`
}

/** A single character outside the 7-bit alphabet more than halves the capacity of a segment. */
function sevenBit(text: string): string {
  return text
    .replace(/[‘’‚‛]/g, "'")
    .replace(/[“”„‟]/g, '"')
    .replace(/[‐‑‒–—]/g, '-')
    .replace(/…/g, '...')
    .replace(/[\u00a0\u202f]/g, ' ')
}
