import { isUnspaced, stemOf, wordsOf } from '../../projections/recall-text.ts'
import { STOP_WORDS } from '../../projections/stop-words.ts'

/** How a model refers to the owner in a memory's text. */
const OWNER_WORDS: ReadonlySet<string> = new Set(['owner', 'owners', 'user', 'users', 'speaker'])

/** The content words of a text, folded. Unspaced scripts yield single characters. */
export function contentWords(text: string): string[] {
  const words = wordsOf(text).filter((word) => !OWNER_WORDS.has(word))
  const content = words.filter((word) => !STOP_WORDS.has(word))
  // "I am who I am" has only function words, so keep those.
  return content.length > 0 ? content : words
}

/** Words in a form that can be searched. */
export type WordIndex = {
  readonly stems: ReadonlySet<string>
  readonly words: readonly string[]
  readonly joined: string
}

export function indexWords(...texts: readonly string[]): WordIndex {
  const words = [...new Set(texts.flatMap(wordsOf))]
  return {
    words,
    stems: new Set(words.map(stemOf)),
    joined: texts.map((text) => ` ${wordsOf(text).join('')} `).join(''),
  }
}

/** Whether the index has the word in any inflection, by stem or by a long common prefix; digits exactly. */
export function hasWord(index: WordIndex, word: string): boolean {
  if (index.stems.has(stemOf(word))) return true
  if (/\d/.test(word) || isUnspaced(word)) return index.joined.includes(word)
  // Compounds: "phone number" and "phonenumber", "wi-fi" and "wifi".
  if (word.length >= 4 && index.joined.includes(word)) return true
  return index.words.some((other) => isInflected(word, other))
}

/** Whether two words are probably forms of the same word. */
function isInflected(a: string, b: string): boolean {
  const shared = Math.max(4, Math.ceil(Math.max(a.length, b.length) * 0.6))
  return Math.min(a.length, b.length) >= shared && a.startsWith(b.slice(0, shared))
}

/** Share of the words that the index has, 0..1; 1 if there are none. */
export function coverage(index: WordIndex, words: readonly string[]): number {
  return words.length === 0 ? 1 : words.filter((word) => hasWord(index, word)).length / words.length
}
