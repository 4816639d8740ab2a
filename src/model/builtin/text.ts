import { sentencesOf } from '../../memory/language/text.ts'

/** Longest text that is looked at for what it asks; content may be longer. */
export const MAX_COMMAND_CHARS = 2000

/** The same text with straight apostrophes and quotation marks: same length, so that positions hold. */
export function straighten(text: string): string {
  return text
    .replace(/[‘’ʼ]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replace(/[\u00a0\u2007\u202f]/g, ' ')
}

const POLITE = [
  /^good (?:morning|afternoon|evening|day)\b[\s,.!:;-]*/i,
  /^(?:hey|hi|hello|ok|okay|so|well|um+|uh+|and|also|then|now|please|pls|kindly|just|delegate|actually|oh)\b[\s,.!:;-]*/i,
  /^(?:can|could|would|will) (?:you|u)(?: please| kindly| just| maybe)* /i,
  /^(?:i'd like|i would like|i want|i need) (?:you )?to /i,
  /^would you mind /i,
  /^(?:let's|let us|go ahead and|try to|be so kind as to|i need you to) /i,
]
const POLITE_ENDING = /[\s,]*\b(?:please|pls|thanks|thank you|thx|for me|will you|would you|ok|okay)[\s.!]*$/i

/** A request without what only makes it polite. */
export function withoutPoliteness(text: string): string {
  let rest = text.trim()
  for (let round = 0; round < 5; round += 1) {
    const before = rest
    for (const pattern of POLITE) rest = rest.replace(pattern, '')
    if (rest === before || rest === '') break
  }
  const short = rest.replace(POLITE_ENDING, '')
  return (short === '' ? rest : short).trim()
}

/** The sentences of a text; "7.30", "p.m.", "Dr." and the like do not end one. */
export function splitSentences(text: string): string[] {
  return sentencesOf(text).map((sentence) => sentence.text)
}

const QUESTION_WORDS =
  /^(?:who|whom|whose|what|what's|when|when's|where|where's|which|why|how|how's|who's|is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|shall|may|might)\b/i

export function isQuestion(text: string): boolean {
  return /[?？؟]["')\s]*$/.test(text) || QUESTION_WORDS.test(text)
}

/** Whether it is about the one who speaks. */
export function isPersonal(text: string): boolean {
  return /\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|our|ours|us)\b/i.test(text)
}

/** Whether the one who speaks is what it is about, and not merely whom to tell. */
export function isStatement(text: string): boolean {
  return /\b(?:i|i'm|i've|i'd|i'll|my|mine|myself|we|we're|we've|our|ours)\b/i.test(text)
}

/** Without surrounding space, quotation marks and closing punctuation. */
export function tidy(text: string): string {
  return text
    .trim()
    .replace(/^[\s"'“‘„«(:,;-]+/u, '')
    .replace(/[\s"'”’»,;:.!?)]+$/u, '')
}

/** Content to be kept: trimmed, out of its quotation marks when all of it stands in them. */
export function toContent(text: string): string {
  const trimmed = text.trim()
  return /^["“„«]([^"“”„«»]+)["”“»]$/u.exec(trimmed)?.[1]?.trim() ?? trimmed
}

export function capitalise(text: string): string {
  const [first = ''] = text
  return first.toUpperCase() + text.slice(first.length)
}
