import { createRandom } from '../support/random.ts'

const WORDS = 8000
const CONSONANTS = 'b c d f g h k l m n p r s t v w br ch gr pl sh st tr'.split(' ')
const VOWELS = 'a e i o u ai ea ou'.split(' ')

/** Made-up, pronounceable words. The most frequent come first and are short. */
const vocabulary = [
  ...(function* () {
    const random = createRandom(3).next
    const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? ''
    const made = new Set<string>()
    while (made.size < WORDS) {
      const syllables = 1 + Math.floor(random() * Math.log10(made.size + 10))
      const word = Array.from({ length: syllables }, () => pick(CONSONANTS) + pick(VOWELS)).join('')
      const ending = syllables > 1 && random() < 0.5 ? pick(CONSONANTS.slice(0, 15)) : ''
      if (!made.has(word + ending)) yield word + ending
      made.add(word + ending)
    }
  })(),
]

/** The most frequent word that a search matches by prefix (`toMatch`). */
export const FREQUENT_WORD = vocabulary.find(({ length }) => length === 3) ?? ''

/** Text whose words follow Zipf's law: the k-th most frequent occurs about 1/k as often as the first. */
export function createText(random: () => number): (words: number) => string {
  const word = () => vocabulary[Math.floor((WORDS + 1) ** random()) - 1] ?? ''
  return (words) => Array.from({ length: words }, word).join(' ')
}
