import { isIrregular } from '../../../projections/recall-text.ts'
import { STOP_WORDS } from '../../../projections/stop-words.ts'
import { oneLine, shorten } from '../../lib/shorten.ts'
import { sentencesOf } from '../../text/text.ts'
import { wordsOf } from './words.ts'

/** Only this much of a message is searched for requests; content may be longer. */
export const MAX_COMMAND_CHARS = 2000

/** A normalised message, and the original position of each of its characters. */
export type Heard = {
  readonly text: string
  readonly places: readonly number[]
  readonly original: string
}

/** Normalises to straight quotes and single spaces; an emoji counts as a space. */
export function hear(message: string): Heard {
  const original = message.trim()
  let text = ''
  const places: number[] = []
  let place = 0
  for (const char of original.slice(0, MAX_COMMAND_CHARS)) {
    const isSpace = /\s|\p{Extended_Pictographic}|\u200d|\ufe0f/u.test(char)
    const heard = isSpace ? ' ' : char.replace(/[‘’ʼ`]/, "'").replace(/[“”„«»]/, '"')
    if (!isSpace || !text.endsWith(' ')) {
      text += heard
      for (let unit = 0; unit < heard.length; unit += 1) places.push(place + unit)
    }
    place += char.length
  }
  return { text, places, original }
}

const POLITE = new RegExp(
  '^(?:' +
    [
      'good (?:morning|afternoon|evening|day)',
      'thank(?:s| you)(?: so much| very much)?(?=[,.!])',
      '(?:hey|hi|hello|ok|okay|so|well|um+|uh+|and|also|then|now|please|pls|kindly|just|delegate|actually|oh|yes|yeah)',
      '(?:can|could|would|will) (?:you|u)(?: please| kindly| just| maybe)*',
      "(?:i'd like|i would like|i want|i need) (?:you to|to(?! (?:call|phone|ring|dial|text|sms|message|whatsapp|e-?mail)\\b))",
      "(?:would you mind|let's|let us|go ahead and|try to|be so kind as to|you should|you can)",
    ].join('|') +
    ')(?:[,.!:;-]+ ?| )',
  'i',
)
const POLITE_ENDING = /(?:, ?| )(?:please|pls|thanks|thank you|thx|for me|will you|would you|ok|okay|now)$/i
export function withoutClosing(heard: Heard): Heard {
  const text = withoutEnd(heard.text, /[ .,;:!?…)(~-]/)
  return { ...heard, text, places: heard.places.slice(0, text.length) }
}

/** Drops polite words around a request. */
export function withoutPoliteness(given: Heard): Heard {
  let heard = given
  for (let round = 0; round < 5; round += 1) {
    const length = POLITE.exec(heard.text)?.[0].length ?? 0
    if (length === 0 || length >= heard.text.length) break
    heard = { ...heard, text: heard.text.slice(length), places: heard.places.slice(length) }
  }
  // Cut the original too, so that the ending does not come back as content.
  const end = POLITE_ENDING.exec(heard.text)?.index
  if (end === undefined || end === 0) return heard
  const last = (heard.places[end - 1] ?? 0) + 1
  const places = heard.places.slice(0, end)
  return withoutClosing({ text: heard.text.slice(0, end), places, original: heard.original.slice(0, last) })
}

export type Stretch = { readonly start: number; readonly end: number }

/** Starts a further request within a sentence. */
const AND_ALSO =
  /,? (?:and then|and also|and|then) (?=(?:forget|remind me|set an? |wake me|cancel (?:the|my) |(?:make|create|take|write) a note|remember that|delete the|add [^.\n]{1,80} to (?:my|the) )\b)|, (?:please )?(?=forget\b)/gi
const MAX_STRETCHES = 20

/** Splits a message into possible requests: sentences, and parts joined by "and". */
export function stretchesOf(message: string): Stretch[] {
  const sentences = sentencesOf(message.slice(0, MAX_COMMAND_CHARS))
  return sentences
    .flatMap(({ start, text }) => {
      const cuts = [...text.matchAll(AND_ALSO)]
      const starts = [0, ...cuts.map((cut) => cut.index + cut[0].length)]
      const ends = [...cuts.map(({ index }) => index), text.length]
      return starts.map((from, index) => ({ start: start + from, end: start + (ends[index] ?? text.length) }))
    })
    .slice(0, MAX_STRETCHES)
}

const QUESTION_WORDS =
  /^(?:who|whom|whose|what|when|where|which|why|how)(?:'?s|'?re)?\b|^(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|shall|may|might)(?:n't)? /i

export function isQuestion(text: string): boolean {
  return /[?？؟]["')]?$/.test(text.trimEnd()) || QUESTION_WORDS.test(text)
}

/** Whether it is about the speaker. */
export function isPersonal(text: string): boolean {
  return /\b(?:i|i['’]?(?:m|ve)|i['’](?:d|ll)|me|my|mine|myself|we|we['’]re|our|ours)\b/i.test(text)
}

/** Starts a request. "Phone number is 4711" and "Book club was fun" are statements. */
const ASKS =
  /^(?:text|call|phone|e-?mail|mail|message|send|tell|ask|write|show|find|give|get|buy|order|book|play|turn|switch|open|close|start|stop|skip|clear|delete|remove|add|put|make|create|change|update|summari[sz]e|translate|repeat|explain|read|check|search|look|note|remember|forget|remind|wake|snooze|undo|cancel|draft|compose|reply|answer|schedule|help|let|set|calculate|convert|describe|list|save|sing|draw|recommend|suggest)\b(?!(?: (?!i\b|it\b|that\b|what\b|who\b|sure\b)[\w'-]+)? (?:is|was|are|were|has|have|had|came|died)\b)/i
const STATES =
  /(?:'s|'m|'re|'ve|^(?:the|my|our|his|her|their|this|that) (?:[a-z]+ ){1,3}?[a-z]{3,}s|\b(?:is|are|am|was|were|isn't|aren't|has|have|had|lives?|works?|likes?|love|hate|moved|prefer|know|think|went|got|bought|need|want|[a-z]{2,}ed|[a-z]{3,}s(?= (?:\d|(?:at|on|from|by|every|until)\b)))) /i

/** Whether it has words that only an English sentence has: "the cat threw up", "mum rang". */
function isEnglish(text: string): boolean {
  return /\b(?:the|his|her|their|with) \w/i.test(text) || wordsOf(text).some(isIrregular)
}

const COURTESY = /^(?:(?:please|and|now|so|hey|(?:can|could|would|will) you),? )+/i

/** "Pause my timer": begins with a verb, and has no subject. */
function isOrder(text: string): boolean {
  const verb =
    /^(?!\p{L}+(?:day|ly|[^r]ing)\b|tomorrow|tonight)(\p{L}+) (?:my|our|the|me|us|this|that|it|all)\b/iu.exec(
      text,
    )?.[1]
  return (
    verb !== undefined &&
    !STOP_WORDS.has(verb.toLowerCase()) &&
    !STATES.test(text) &&
    !/\b(?:i|we)\b/i.test(text)
  )
}

export function asksFor(text: string): boolean {
  const plain = text.replace(COURTESY, '')
  return ASKS.test(plain) || isOrder(plain)
}

export function isStatement(text: string): boolean {
  return (
    /^call me \p{Lu}/iu.test(text) ||
    (!asksFor(text) && (isPersonal(text) || STATES.test(text) || isEnglish(text)))
  )
}

/** Drops trailing characters, in linear time. */
export function withoutEnd(text: string, chars: RegExp): string {
  let end = text.length
  while (end > 0 && chars.test(text[end - 1] ?? '')) end -= 1
  return text.slice(0, end)
}

/** Strips surrounding space, pairs of quotation marks, and closing punctuation. */
export function tidy(text: string): string {
  const plain = withoutMarks(text)
  const isHalved = (plain.match(/["“”„«»]/g)?.length ?? 0) % 2 === 1
  return isHalved ? withoutEnd(text.trim().replace(/^[\s:,;-]+/u, ''), /[\s,;:.!?]/) : plain
}

function withoutMarks(text: string): string {
  return withoutEnd(text.trim().replace(/^[\s"'“‘„«(:,;-]+/u, ''), /[\s"'”’»,;:.!?)]/u)
}

/** Strips surrounding space, and quotation marks around the whole text. */
export function toContent(text: string): string {
  const trimmed = text.trim()
  return /^["“„«]([^"“”„«»]+)["”“»]$/u.exec(trimmed)?.[1]?.trim() ?? trimmed
}

export function capitalise(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const OTHER_PERSON: Readonly<Record<string, string>> = {
  'i am': 'you are',
  'i was': 'you were',
  'am i': 'are you',
  i: 'you',
  me: 'you',
  my: 'your',
  mine: 'yours',
  myself: 'yourself',
  "i'm": 'you’re',
  im: 'you’re',
  "i've": 'you’ve',
  ive: 'you’ve',
  "i'd": 'you’d',
  "i'll": 'you’ll',
  we: 'you',
  "we're": 'you’re',
  "we've": 'you’ve',
  "we'd": 'you’d',
  "we'll": 'you’ll',
  us: 'you',
  our: 'your',
}
const OWNER_WORDS = new RegExp(
  `(?<![\\p{L}\\p{N}'’])(?:${Object.keys(OTHER_PERSON).join('|').replaceAll("'", "['’]")})(?![\\p{L}\\p{N}'’])`,
  'giu',
)
const SMALL_START = /^(?:The|A|An|It|He|She|They|This|That|There|His|Her|Their|On|In|At|Every)\b/

/** Turns the words of the owner into the second person: "My name is Max." becomes "your name is Max". */
export function toYou(text: string): string {
  const turned = oneLine(text).replace(OWNER_WORDS, (word) => {
    const plain = word.toLowerCase().replace('’', "'")
    return word === 'US' ? word : (OTHER_PERSON[plain] ?? word)
  })
  return turned
    .replace(/^(?:that|actually,?|hi,?|hello,?) /i, '')
    .replace(/^call you /i, 'to call you ')
    .replace(SMALL_START, (word) => word.toLowerCase())
    .replace(/(?<=[.!?] )your?\b/g, capitalise)
    .replace(/[.!]$/, '')
}

/** "a, b and c". */
export const joinWords = (words: readonly string[]) => new Intl.ListFormat('en-GB').format(words)

const MAX_LINES = 10
const MAX_LINE_CHARS = 160

/** A bulleted list of at most ten lines; `more` says where the rest is. */
export function bullets(lines: readonly string[], more = 'more'): string {
  const shown = lines.slice(0, MAX_LINES).map((line) => shorten(oneLine(line), MAX_LINE_CHARS))
  const rest = lines.length > shown.length ? [`and ${lines.length - shown.length} ${more}`] : []
  return [...shown, ...rest].map((line) => `- ${line}`).join('\n')
}

export function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`
}
