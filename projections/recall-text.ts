import { stemmer } from 'stemmer'
import { normalizeText } from './normalize-text.ts'
import { STOP_WORDS } from './stop-words.ts'

/**
 * Scripts without spaces between words, and Hangul, whose words include particles: each character is a token,
 * and a query matches runs of them.
 */
const CHARACTER =
  '[[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]&&[\\p{L}\\p{Nl}]][\\p{Mn}\\p{Mc}]*'
const UNSPACED = new RegExp(CHARACTER, 'gv')
const UNSPACED_RUN = new RegExp(`(?:${CHARACTER})+`, 'gv')
const STARTS_UNSPACED = new RegExp(`^${CHARACTER}`, 'v')

/** Scripts whose marks are optional accents, points or vowels. In other scripts, marks are letters. */
const ACCENTED =
  /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}])\p{Mn}+/gu

const WORD = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]+/gu

/** Spelling variants of letters. */
const SAME: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ł: 'l',
  ı: 'i',
  ς: 'σ',
  ة: 'ه',
  ى: 'ي',
  ک: 'ك',
  ی: 'ي',
  ـ: '',
}
const ASCII = /^[\0-\x7f]*$/
const SAME_OR_DIGIT = /[ßæœøđłıςةىکیـ٠-٩۰-۹०-९๐-๙]/gu
const DIGIT_ZEROS = [0x660, 0x6f0, 0x966, 0xe50]

/** Removes differences of case, width, accents and spelling variants. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  const lower = normalizeText(text, 'NFKC').toLowerCase()
  return normalizeText(lower, 'NFD')
    .replace(ACCENTED, '$1')
    .normalize('NFC')
    .replace(SAME_OR_DIGIT, (character) => SAME[character] ?? toAsciiDigit(character))
}

function toAsciiDigit(character: string): string {
  const code = character.charCodeAt(0)
  const zero = DIGIT_ZEROS.find((start) => code >= start && code < start + 10)
  return zero === undefined ? character : String(code - zero)
}

/** Whether each character of the word is a token. */
export function isUnspaced(word: string): boolean {
  return STARTS_UNSPACED.test(word)
}

/** The folded words of a text in order; unspaced scripts yield single characters. */
export function wordsOf(text: string): string[] {
  return fold(text).replace(UNSPACED, ' $& ').match(WORD) ?? []
}

/** The folded words of a text in order; unspaced scripts yield whole runs. */
export function runsOf(text: string): string[] {
  return fold(text).replace(UNSPACED_RUN, ' $& ').match(WORD) ?? []
}

/** The index tokens of an unspaced run. */
export function charactersOf(run: string): string[] {
  return run.match(UNSPACED) ?? []
}

/** The index tokens of a text, in order. */
export function tokensOf(text: string): string[] {
  return wordsOf(text).map(stemOf)
}

/** Irregular forms that no rule of a stemmer finds: those of verbs and plurals, each group with its base first. */
const IRREGULAR = new Map(
  `become became; begin began begun; break broke broken; bring brought; build built; buy bought;
  catch caught; child children; choose chose chosen; come came; dig dug; draw drew drawn; drink drank drunk;
  drive drove driven; eat ate eaten; fall fell fallen; feel felt; find found; fly flew flown; foot feet;
  forget forgot forgotten; freeze froze frozen; get got gotten; give gave given; go goes went gone; grow grew grown;
  hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew known; leave left; lend lent; lose lost;
  make made; man men; meet met; mouse mice; pay paid; person people; ride rode ridden; ring rang rung; run ran;
  see saw seen; sell sold; send sent; shoot shot; sing sang sung; sit sat; sleep slept; speak spoke spoken;
  spend spent; stand stood; steal stole stolen; swim swam swum; take took taken; teach taught; tell told;
  think thought; throw threw thrown; tooth teeth; wake woke woken; wear wore worn; win won; woman women;
  write wrote written`
    .split(';')
    .flatMap((group) => {
      const [base = '', ...forms] = group.trim().split(/\s+/)
      return forms.map((form) => [form, base] as const)
    }),
)

/** Whether a folded word is such a form: "went". */
export const isIrregular = (word: string): boolean => IRREGULAR.has(word)

const ASCII_WORD = /^[a-z]+$/
const CYRILLIC = /^\p{Script=Cyrillic}/u
const GREEK = /^\p{Script=Greek}/u
const ARABIC = /^\p{Script=Arabic}/u
const HEBREW = /^\p{Script=Hebrew}/u
const DEVANAGARI = /^\p{Script=Devanagari}/u

/**
 * Stems a folded word, for index and query alike. Latin: irregular forms of English, then Porter (1980). Other
 * scripts: light affix stripping; for Arabic "light10" of Larkey, Ballesteros and Connell (2002).
 */
export function stemOf(word: string): string {
  if (ASCII_WORD.test(word)) return englishStem(IRREGULAR.get(word) ?? word)
  if (CYRILLIC.test(word)) return word.replace(CYRILLIC_ENDING, '$1')
  if (GREEK.test(word)) return word.replace(GREEK_ENDING, '$1')
  if (ARABIC.test(word)) return word.replace(ARABIC_PREFIX, '$1').replace(ARABIC_ENDING, '$1')
  if (HEBREW.test(word)) return word.replace(HEBREW_PREFIXES, '').replace(HEBREW_ENDING, '$1')
  if (DEVANAGARI.test(word)) return word.replace(DEVANAGARI_ENDING, '$1')
  return word
}

/** Porter's stem, marked if that is a stop word: each "in" would match "Ines", each "us" "use". */
function englishStem(word: string): string {
  const stem = stemmer(word)
  return STOP_WORDS.has(stem) && stem !== word ? `${stem}0` : stem
}

const CYRILLIC_ENDING =
  /^(\p{L}{3,}?)(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|иях|ях|ах|ов|ев|еи|ои|ыи|ии|ом|ем|ам|ям|ая|яя|ое|ее|ые|ие|ую|юю|ою|ею|ия|ию|ью|ла|ло|ли|ть|[аяоеыиуюьл])$/u
const GREEK_ENDING = /^(\p{L}{3,}?)(?:ουσ|ων|οσ|ου|εσ|ασ|ησ|οι|ει|[αοηιυε])$/u
const ARABIC_PREFIX = /^(?:وال|بال|كال|فال|لل|ال|و)(\p{L}{3,})$/u
const ARABIC_ENDING = /^(\p{L}{2,}?)(?:ها|ان|ات|ون|ين|يه|ه|ي)$/u
const HEBREW_PREFIXES = /^[והבלמשכ]+(?=\p{L}{3})/u
const HEBREW_ENDING = /^(\p{L}{3,}?)(?:ים|ות)$/u
const DEVANAGARI_ENDING = /^(\p{L}[\p{L}\p{Mn}\p{Mc}]+?)(?:ियों|ियां|ाओं|ाएं|ों|ें|[ािीुूेैोौं])$/u
