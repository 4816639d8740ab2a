import { wholeCharacters } from '../../../projections/whole-characters.ts'
import type { Settings } from '../../settings/settings.ts'
import { texted } from '../../text/plain.ts'
import type { TurnToRun } from './turn-facts.ts'

const EXCERPT_CHARS = 280
/** The longest text, in SMS segments. */
const MAX_SEGMENTS = 3
const BEGINNING_CHARS = 240
/** Text outside the 7-bit alphabet fits fewer characters, so the excerpt shrinks in steps until it fits. */
const STEP_CHARS = 20
const GUEST_CHARS = 320
/** A text can't be empty. The chat offers to ask again. */
const NO_ANSWER = 'I have no answer to that.'

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
 * Moves an answer that is too long for its channel into a note, and replies with its beginning and a link.
 * Idempotent per turn.
 */
export function createShortenReply(options: {
  readonly createNote: CreateNote
  readonly settings: Pick<Settings, 'get'>
  /** The number of segments that a text is billed as. */
  readonly segmentsOf: (text: string) => number
}) {
  const { createNote, settings, segmentsOf } = options

  function noteOf(content: string, turn: TurnToRun, derivedFrom: readonly number[]) {
    const { turnId, conversationId, spanId, causeSeq: causedBy } = turn
    const channel = turn.channel === 'sms' ? 'sms' : 'chat'
    const place = { channel, conversationId, spanId, turnId, causedBy, derivedFrom } as const
    return createNote({ content }, { source: 'delegate', ...place, key: `long-answer:${turnId}` })
  }

  async function shortenText(answer: string, turn: TurnToRun, seen: readonly number[]): Promise<string> {
    const text = texted(answer).trim() || NO_ANSWER
    if (segmentsOf(text) <= MAX_SEGMENTS) return text
    const note = await noteOf(answer, turn, seen)
    const publicUrl = settings.get('PUBLIC_URL')
    const where = publicUrl === null ? `the note "${note.title}"` : `${publicUrl}/notes/${note.id}`
    const start = texted(withoutTitle(answer))
    const upTo = (chars: number) => `${beginning(start, chars)}\n\nThe rest: ${where}`
    let chars = BEGINNING_CHARS
    while (chars > STEP_CHARS && segmentsOf(upTo(chars)) > MAX_SEGMENTS) chars -= STEP_CHARS
    return upTo(chars)
  }

  return async (answer: string, turn: TurnToRun, seen: readonly number[]): Promise<string> => {
    if (turn.channel === 'sms') return shortenText(answer, turn, seen)
    if (answer.length <= settings.get('LONG_ANSWER_CHARS')) return answer
    const note = await noteOf(answer, turn, seen)
    const start = wholeCharacters(withoutTitle(answer).slice(0, EXCERPT_CHARS)).trimEnd()
    return `${start}…\n\nThe full answer is in a note: [${note.title}](/notes/${note.id}).`
  }
}

const withoutTitle = (text: string) => text.replace(/^#.*\n+/, '')

/** Cuts a reply to a guest. Guests get no note. */
export function shortenForGuest(answer: string): string {
  const text = texted(answer).trim() || NO_ANSWER
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
