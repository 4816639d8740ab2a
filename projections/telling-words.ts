import { normalizeText } from './normalize-text.ts'

/** Scripts without spaces between words: pairs of adjacent characters serve as words. */
const UNSPACED =
  '[[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]&&\\p{L}]'
const TOKEN = new RegExp(`(?:${UNSPACED}\\p{M}*)+|(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{M}])+`, 'gv')
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, 'v')
const UNSPACED_CHARACTER = new RegExp(`${UNSPACED}\\p{M}*`, 'gv')
const HAS_DIGIT = /\p{N}/u

/** Shorter words are mostly function words, in any language. */
const TELLING_CHARS = 3

/** Common English words. In other languages only the length decides. */
const COMMON = new Set(
  `about after again all also and any are because been before being but can could did does doing done don for from get
  got had has have her here him his how into isn its itself just know let like lot made make may might more most much
  must myself name need new not note now off okay one only other our out over own please really remember remind said say
  see set she should some something such than thanks that the their them then there these they thing things this those
  time timer told too two under until upon use very wait want was way well were what when where which while who why will
  with won would yes yet you your yours`.split(/\s+/),
)

/** A case-folded word and its position in the text. */
export type Token = { readonly word: string; readonly start: number; readonly end: number }

/** The words of a text in order. Scripts without spaces yield overlapping pairs of characters. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (const { 0: found, index } of text.matchAll(TOKEN)) {
    if (!STARTS_UNSPACED.test(found)) {
      tokens.push({ word: foldWord(found), start: index, end: index + found.length })
      continue
    }
    const characters = [...found.matchAll(UNSPACED_CHARACTER)]
    for (const [place, first] of characters.entries()) {
      const last = characters[place + 1]
      if (!last && characters.length > 1) break
      const end = last ? last.index + last[0].length : found.length
      const start = index + first.index
      tokens.push({ word: foldWord(found.slice(first.index, end)), start, end: index + end })
    }
  }
  return tokens
}

function foldWord(word: string): string {
  return normalizeText(word, 'NFC').toLowerCase()
}

/** Whether a folded word is distinctive: long and uncommon, with a digit, or of an unspaced script. */
export function isTelling(word: string): boolean {
  if (HAS_DIGIT.test(word) || STARTS_UNSPACED.test(word)) return true
  return word.length >= TELLING_CHARS && !COMMON.has(word)
}

/** The distinctive words of a text, case-folded. */
export function tellingWords(text: string): Set<string> {
  const words = new Set<string>()
  for (const { word } of tokensOf(text)) if (isTelling(word)) words.add(word)
  return words
}
