import type { TurnRow } from '../../projections/turns.ts'
import type { Notes } from '../notes/notes.ts'

/** Three segments of seven-bit characters: more than that nobody wants to get as a text. */
const MAX_CHARS = 459
const BEGINNING_CHARS = 240
const GUEST_CHARS = 320

/** An answer too long for a text becomes a note; the text is its beginning and where the rest is. Made once a turn. */
export function createShortenSms(options: {
  readonly notes: Notes
  readonly publicUrl: () => string | null
}) {
  return async (answer: string, turn: TurnRow, seen: readonly number[]): Promise<string> => {
    const text = sevenBit(answer)
    if (text.length <= MAX_CHARS) return text
    const { turnId, conversationId, spanId } = turn
    const note = await options.notes.create(
      { content: answer },
      {
        source: 'delegate',
        channel: 'sms',
        conversationId,
        spanId,
        turnId,
        causedBy: turn.causeSeq,
        derivedFrom: seen,
        key: `long-answer:${turnId}`,
      },
    )
    const publicUrl = options.publicUrl()
    const where = publicUrl === null ? `the note "${note.title}"` : `${publicUrl}/notes/${note.id}`
    return `${beginning(text.replace(/^#.*\n+/, ''), BEGINNING_CHARS)}\n\nThe rest: ${where}`
  }
}

/** A stranger is answered briefly, and gets no note. */
export function shortenForGuest(answer: string): string {
  const text = sevenBit(answer)
  return text.length <= GUEST_CHARS ? text : beginning(text, GUEST_CHARS)
}

/** The first characters of a text, up to the end of a word. */
function beginning(text: string, chars: number): string {
  const cut = text.slice(0, chars).toWellFormed()
  return `${cut.replace(/\s+\S*$/, '').trimEnd()}...`
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
