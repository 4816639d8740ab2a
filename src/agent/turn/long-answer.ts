import type { TurnRow } from '../../../projections/turns.ts'
import type { Notes } from '../../notes/notes.ts'

const EXCERPT_CHARS = 280
const HEADINGS_OF_A_DOCUMENT = 3

/**
 * Moves a long answer into a note and replies with its beginning and a link. An answer is long above
 * `longAnswerChars`, or above half of that if it has several headings. Idempotent per turn.
 */
export function createShortenReply(options: {
  readonly notes: Notes
  readonly longAnswerChars: () => number
}) {
  return async (text: string, turn: TurnRow, seen: readonly number[]): Promise<string> => {
    const limit = options.longAnswerChars()
    const headings = text.match(/^#{1,3} \S/gm)?.length ?? 0
    if (text.length <= (headings >= HEADINGS_OF_A_DOCUMENT ? limit / 2 : limit)) return text
    const note = await noteOfAnswer(options.notes, text, { turn, seen, channel: 'chat' })
    const beginning = text
      .replace(/^#.*\n+/, '')
      .slice(0, EXCERPT_CHARS)
      .toWellFormed()
      .trimEnd()
    return `${beginning}…\n\nThe full answer is in a note: [${note.title}](/notes/${note.id}).`
  }
}

/** Puts a whole answer into a note. Idempotent per turn. */
export function noteOfAnswer(
  notes: Notes,
  content: string,
  origin: { readonly turn: TurnRow; readonly seen: readonly number[]; readonly channel: 'chat' | 'sms' },
) {
  const { turnId, conversationId, spanId, causeSeq } = origin.turn
  return notes.create(
    { content },
    {
      source: 'delegate',
      channel: origin.channel,
      conversationId,
      spanId,
      turnId,
      causedBy: causeSeq,
      derivedFrom: origin.seen,
      key: `long-answer:${turnId}`,
    },
  )
}
