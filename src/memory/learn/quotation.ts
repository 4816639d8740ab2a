import { foldText } from '../../text/text.ts'
import { asksToRemember } from './cues.ts'

type Range = { readonly start: number; readonly end: number }

/** Text that is marked as somebody else's: code fences, quoted mail, and the formats in which models get data. */
const BLOCKS: readonly RegExp[] = [
  // Three backticks, as folded.
  /'''[\s\S]*?(?:'''|$)/gu,
  /<(?:data|system|assistant|user|developer|tool|instructions?|memory|memories|context|prompt)\b(?=([^>]{0,500}))\1>[\s\S]*?(?:<\/[^>]{0,100}>?|$)/gu,
  /\[\/?inst\][\s\S]*?(?:\[\/inst\]|$)/giu,
  /<\|[\s\S]*?(?:\|>|$)/gu,
  /^[ \t]*>.*$/gmu,
  /^[ \t]*(?:system|assistant|developer|tool|user|human|ai|delegate|memory|memories|recalled)[ \t]*:.*$/gimu,
  /^-{2,} ?(?:original|forwarded|begin)[\s\S]*$/gimu,
  /^[ \t]*(?:from|subject): .*$[\s\S]*/gimu,
]

/** Quoted speech. A title or a single word does not count. */
const QUOTED =
  /"([^"\n]{2,2000})"|(?<![\p{L}\p{N}])'([^'\n]{12,2000})'(?![\p{L}\p{N}])|[「『]([^「『」』\n]{2,2000})[」』]/gu
const MIN_QUOTED_WORDS = 3
const MIN_QUOTED_CHARACTERS = 6

/** "Translate this: …", "the mail says: …", "message from Bob: …". What follows the colon is not the owner's statement. */
const INTRODUCED =
  /\b(?:translate|proofread|rewrite|rephrase|summari[sz]e|correct (?:this|the following)|dictate|says?|said|reads?|wrote|writes|following|(?:message|e-?mail|letter|text|note) from)\b[^\n.!?:]{0,60}:\s+(?=\S)/giu

/** Folded, but with line breaks, which end sentences. */
export function foldLines(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .map((line) => foldText(line).trim())
    .join('\n')
}

/** A request to remember begins its line, within this. */
const REQUEST_CHARS = 200

/** The parts of a folded message in which the owner is not speaking. What the owner asks to remember stays theirs. */
export function foreignRanges(text: string): Range[] {
  const ranges: Range[] = []
  const add = (start: number, end: number) => void ranges.push({ start, end })
  for (const pattern of BLOCKS) {
    for (const match of text.matchAll(pattern)) add(match.index, match.index + match[0].length)
  }
  for (const match of text.matchAll(QUOTED)) {
    const isSpeech =
      (match[1] ?? match[2] ?? '').split(/\s+/).length >= MIN_QUOTED_WORDS ||
      (match[3] ?? '').length >= MIN_QUOTED_CHARACTERS
    const isWhole = match[0].length >= text.trim().length
    if (isSpeech && !isWhole) add(match.index, match.index + match[0].length)
  }
  // Each match ends a line or a paragraph, so that a long message takes linear time.
  for (let from = 0; from < text.length; ) {
    INTRODUCED.lastIndex = from
    const match = INTRODUCED.exec(text)
    if (!match) break
    const start = match.index + match[0].length
    const line = text.lastIndexOf('\n', match.index) + 1
    const isRequest = asksToRemember(text.slice(line, line + REQUEST_CHARS))
    const end = text.indexOf(isRequest ? '\n' : '\n\n', start)
    from = end < 0 ? text.length : end
    if (!isRequest) add(start, from)
  }
  return ranges
}
