import { stemOf } from '../../../projections/recall-text.ts'
import { STOP_WORDS } from '../../../projections/stop-words.ts'

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’][\p{L}]+)?/gu

/** Words of a request to recall something. */
const ASKING_WORDS = new Set('anything know recall remember remembered something tell told'.split(' '))

/** "I'm" and "don't" count as their first part, and so does "whats". */
export const isStopWord = (word: string) =>
  STOP_WORDS.has(word.split("'", 1).join('')) ||
  /^(?:what|when|where|who|how|that|there)s$/.test(word) ||
  ASKING_WORDS.has(word)

/** Words for an aspect rather than a thing. A matching statement may lack them. */
const ASPECTS = new Set(
  `name call birthday born age old live address number phone date time day year favourite favorite prefer kind type
  colour color job work thing again currently`
    .split(/\s+/)
    .map(stemOf),
)

/** Whether a word names an aspect ("colour", "name") rather than a thing. */
export function isAspect(word: string): boolean {
  return ASPECTS.has(stemOf(word))
}

/** Lower-case words, without a possessive ending. */
export function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).map((word) => word.replace(/['’]s$/u, ''))
}

/** Search words without duplicates. A matching statement must contain `keys` but may paraphrase `aspects`. */
export function queryWords(text: string) {
  const plain = text.replace(/\bfor (?:a|his|her|my|their) living\b/gi, 'job')
  const words = [...new Set(wordsOf(plain))].filter((word) => !isStopWord(word))
  const keys = words.filter((word) => !isAspect(word))
  const aspects = words.filter(isAspect)
  return keys.length > 0 ? { keys, aspects } : { keys: aspects, aspects: [] }
}

/**
 * Groups of synonyms. The first word is the slot of a memory. A word after "=" has no other form: "moved to" answers
 * "where do I live?", and "thinking of moving" does not.
 */
const SYNONYMS = [
  'residence live =moved reside =relocated =settled based',
  'employer work job employed profession',
  'name call',
  'birthday born birth birthdate',
  'phone telephone mobile cell cellphone',
  'kids children child',
  'car drive',
  'mother mum mom mama',
  'father dad papa',
  'doctor gp physician',
  'colour color',
  'favourite favorite',
  'licence license',
  'allergy allergic',
  'like love hate dislike enjoy',
]
const slotOf = new Map(
  SYNONYMS.flatMap((line) => {
    const [slot = '', ...others] = line.split(' ')
    return [slot, ...others].map((word) => [word.startsWith('=') ? word : stemOf(word), slot] as const)
  }),
)

/** The form for comparison: the first synonym, else the stem. */
export function senseOf(word: string): string {
  const stem = stemOf(word)
  return slotOf.get(`=${word}`) ?? slotOf.get(stem) ?? stem
}
