const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’][\p{L}]+)?/gu

const STOP_WORDS = new Set(
  `a about after again all also am an and any anything are as at be because been before but by can could did do does
  doing don't for from had has have having he her hers him his how i i'd i'll i'm i've if in into is it it's its just
  know like-to me mention mentioned mine my myself no not of off on once one or our ours out please remember remembered
  recall said same say shall she should so some something such tell than that that's the their theirs them then there
  these they this those to told too under up us very was we were what what's when where which who who's whom whose why
  will with would you your yours`.split(/\s+/),
)

/** Words for an aspect rather than a thing. A matching statement may lack them. */
const ASPECT_WORDS = new Set(
  `name named call called birthday born age old live lives address number phone date time day year favourite favorite
  prefer kind type colour color job work works thing things again currently`.split(/\s+/),
)

/** Whether a word names an aspect ("colour", "name") rather than a thing. */
export function isAspect(word: string): boolean {
  return ASPECT_WORDS.has(word)
}

/** Lower-case words, without a possessive ending. */
export function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).map((word) => word.replace(/['’]s$/u, ''))
}

/** Search words without duplicates. A matching statement must contain `keys` but may paraphrase `aspects`. */
export function queryWords(text: string) {
  const words = [...new Set(wordsOf(text.replace(/\bfor (?:a|his|her|my|their) living\b/gi, 'job')))].filter(
    (word) => !STOP_WORDS.has(word),
  )
  const keys = words.filter((word) => !ASPECT_WORDS.has(word))
  const aspects = words.filter((word) => ASPECT_WORDS.has(word))
  return keys.length > 0 ? { keys, aspects } : { keys: aspects, aspects: [] }
}

/** Groups of synonyms: "moved to" answers "where do I live?". The first word is the slot of a memory. */
const SYNONYMS = [
  'residence live lives lived living moved reside resides residing relocated settled based',
  'employer work works worked working job employed profession',
  'name named call called',
  'birthday birthdays born birth birthdate',
  'phone telephone mobile cell cellphone',
  'kids kid child children',
  'car cars drive drives',
  'mother mum mom mama',
  'father dad papa',
  'doctor gp physician',
  'colour color colours colors',
  'favourite favorite',
  'licence license',
  'allergy allergies allergic',
]
const synonymOf = new Map(
  SYNONYMS.flatMap((line) => {
    const words = line.split(' ')
    return words.map((word) => [word, words[0] ?? word] as const)
  }),
)

/** The form for comparison: the first synonym, else the stem. */
export function senseOf(word: string): string {
  return synonymOf.get(word) ?? stem(word)
}

/** A crude stem for comparison: drops plurals, common verb endings and a final e. */
function stem(word: string): string {
  if (word.length <= 3) return word
  return word.replace(/(?:ies|es|e|s|ed|ing)$/u, (ending) => (ending === 'ies' ? 'y' : '')) || word
}
