import { languageOf, sentencesOf } from '../../memory/language/text.ts'

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
  /^(?:who|whom|whose|what|what'?s|when|when'?s|where|where'?s|which|why|how|how'?s|who'?s|is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|shall|may|might)\b/i

export function isQuestion(text: string): boolean {
  return /[?？؟]["')\s]*$/.test(text) || QUESTION_WORDS.test(text)
}

/** Whether it is about the one who speaks. */
export function isPersonal(text: string): boolean {
  return /\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|our|ours|us)\b/i.test(text)
}

/** Begins what is to be done, and no statement; "help is on its way" is one. */
const ASKS =
  /^(?:text|call|phone|ring|e-?mail|mail|message|send|tell|write|show|find|give|get|buy|order|book|play|turn|switch|open|close|start|stop|clear|delete|remove|erase|add|put|make|create|change|update|move|summari[sz]e|translate|recap|repeat|explain|read|check|search|look|export|import|snooze|undo|restore|rename|cancel|print|draft|compose|reply|answer|share|schedule|invite|transfer|help|let|set|bring|do|calculate|compute|convert|count|define|describe|list|copy|save|upload|download|connect|reset)\b(?! (?:is|was|are|were|has|have|numbers?|address|bill|battery|code|case)\b)/i
/** "The garage code is 4711", "Tom lives in Rome". */
const SAYS_OF_SOMETHING =
  /^(?:no,? |yes,? )?(?:the|a|an|this|that|his|her|their|it|he|she|they|\p{L}[\p{L}'’-]*)(?: [\p{L}\p{N}'’-]+){0,6} ?(?:'s|is|are|was|were|isn't|aren't|has|had|lives|works|likes|moved) \S/iu

/** Whether the one who speaks is what it is about, and not merely whom to tell. */
export function isStatement(text: string): boolean {
  if (ASKS.test(text)) return false
  if (SAYS_OF_SOMETHING.test(text)) return true
  return /\b(?:i|i'm|i've|i'd|i'll|my|mine|myself|we|we're|we've|our|ours)\b/i.test(text)
}

const MIN_FOREIGN_LETTERS = 8

/** Whether a text is plainly in another language than English: a few words may be of any. */
export function isForeign(text: string): boolean {
  const language = languageOf(text, 'en')
  if (language === null || language === 'en') return false
  return /[^\p{Script=Latin}\p{P}\p{N}\p{Z}\p{S}]/u.test(text) || isLongEnough(text)
}

function isLongEnough(text: string): boolean {
  return text.trim().split(/\s+/).length >= 3 && (text.match(/\p{L}/gu)?.length ?? 0) >= MIN_FOREIGN_LETTERS
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
