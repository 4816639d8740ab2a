import type { TurnToRun } from './turn-facts.ts'

const EXCERPT_CHARS = 280
const HEADINGS_OF_A_DOCUMENT = 3

/** Creates a note of the delegate. With the same key it returns the first note. */
export type CreateNote = (
  note: { readonly content: string },
  origin: {
    readonly source: 'delegate'
    readonly channel: 'chat' | 'sms'
    readonly conversationId: string | null
    readonly spanId: string | null
    readonly turnId: string
    readonly causedBy: number
    readonly derivedFrom: readonly number[]
    readonly key: string
  },
) => Promise<{ readonly id: string; readonly title: string }>

/**
 * Moves a long answer into a note and replies with its beginning and a link. An answer is long above
 * `longAnswerChars`, or above half of that if it has several headings. Idempotent per turn.
 */
export function createShortenReply(options: {
  readonly createNote: CreateNote
  readonly longAnswerChars: () => number
}) {
  return async (text: string, turn: TurnToRun, seen: readonly number[]): Promise<string> => {
    const limit = options.longAnswerChars()
    const headings = text.match(/^#{1,3} \S/gm)?.length ?? 0
    if (text.length <= (headings >= HEADINGS_OF_A_DOCUMENT ? limit / 2 : limit)) return text
    const note = await noteOfAnswer(options.createNote, text, { turn, seen, channel: 'chat' })
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
  createNote: CreateNote,
  content: string,
  origin: { readonly turn: TurnToRun; readonly seen: readonly number[]; readonly channel: 'chat' | 'sms' },
) {
  const { turnId, conversationId, spanId, causeSeq } = origin.turn
  return createNote(
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
