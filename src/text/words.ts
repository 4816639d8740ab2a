import { charactersOf, fold, isUnspaced, runsOf, stemOf, wordsOf } from '../../projections/recall-text.ts'
import { type LanguageCode, languageCodes, lexiconOf } from './lexicon.ts'
import { languageOf } from './text.ts'

/** Words for the owner in a memory's text, in any language. */
const OWNER_WORDS = `owner owners user users speaker he she his her they their them person s
  besitzer besitzerin nutzer nutzerin benutzer inhaber eigentümer utilisateur utilisatrice propriétaire usuario usuaria
  dueño dueña propietario utente proprietario proprietaria usuário usuária dono dona eigenaar gebruiker ägaren användaren
  właściciel właścicielka użytkownik użytkowniczka sahibi kullanıcı владелец владелица пользователь власник користувач
  ιδιοκτήτης χρήστης المالك المستخدم הבעלים המשתמש मालिक उपयोगकर्ता 主人 用户 用戶 主 人 사용자 주인 소유자`

const ownerWords: ReadonlySet<string> = new Set(OWNER_WORDS.split(/\s+/).flatMap(wordsOf))

/** Function words of each language, folded as recall folds them. */
const functionWords: ReadonlyMap<LanguageCode, ReadonlySet<string>> = new Map(
  languageCodes.map((code) => [
    code,
    // A longer unspaced word would remove each of its characters from every other word.
    new Set(lexiconWords(code).flatMap((word) => (wordsOf(word).length === 1 ? wordsOf(word) : []))),
  ]),
)

function lexiconWords(code: LanguageCode): string[] {
  // The source of a pattern contains its word list.
  return lexiconOf(code).common.source.match(/[\p{L}\p{M}']+/gu) ?? []
}

/** Whether a folded word refers to the owner. */
export function isOwnerWord(word: string): boolean {
  return ownerWords.has(word)
}

/** The content words of a text, folded. Unspaced scripts yield single characters. */
export function contentWords(text: string, language = languageOf(text)): string[] {
  const functional = functionWords.get(language ?? 'en')
  const words = wordsOf(text)
  const content = words.filter((word) => !ownerWords.has(word) && !functional?.has(word))
  // "I am who I am" has only function words, so keep those.
  return content.length > 0 ? content : words.filter((word) => !ownerWords.has(word))
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

/** Whether the index has the word in any inflection, by stem or by a long common prefix. */
export function hasWord(index: WordIndex, word: string): boolean {
  if (index.stems.has(stemOf(word))) return true
  if (isUnspaced(word)) return index.joined.includes(word)
  // Compounds: "phone number" and "phonenumber", "wi-fi" and "wifi".
  if (word.length >= 4 && index.joined.includes(word)) return true
  return index.words.some((other) => isInflected(word, other))
}

/** Whether two words are probably forms of the same word. */
function isInflected(a: string, b: string): boolean {
  const longer = Math.max(a.length, b.length)
  const shorter = Math.min(a.length, b.length)
  const prefix = commonPrefix(a, b)
  if (prefix < 3) return false
  // A prefix of three letters is weak evidence in a long Latin word; other scripts inflect more.
  if (prefix === 3) return prefix >= longer * (/^[a-z]+$/.test(a) ? 0.75 : 0.6)
  return prefix >= longer * 0.6 || prefix >= shorter * 0.8
}

function commonPrefix(a: string, b: string): number {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1
  return length
}

/** Languages that inflect names. */
const INFLECTS_NAMES: ReadonlySet<LanguageCode> = new Set([
  'pl',
  'ru',
  'uk',
  'el',
  'tr',
  'ar',
  'he',
  'hi',
  'ko',
])

/** Whether the index has a name, exactly or with a genitive ending; inflected in INFLECTS_NAMES. */
export function hasName(index: WordIndex, name: string, language: LanguageCode | null): boolean {
  const folded = fold(name).replace(/['’]s?$/u, '')
  if (index.words.includes(folded) || index.joined.includes(` ${folded} `)) return true
  const parts = wordsOf(name)
  if (parts.length > 1) return parts.every((part) => hasName(index, part, language))
  if (index.words.some((word) => word === `${folded}s` || folded === `${word}s`)) return true
  if (folded.length >= 4 && index.joined.includes(folded)) return true
  if (language === null || !INFLECTS_NAMES.has(language)) return false
  return index.words.some((word) => {
    const prefix = commonPrefix(word, folded)
    return prefix >= 3 && prefix >= Math.max(word.length, folded.length) - 3
  })
}

/** Share of the words that the index has, 0..1; 1 if there are none. */
export function coverage(index: WordIndex, words: readonly string[]): number {
  return words.length === 0 ? 1 : words.filter((word) => hasWord(index, word)).length / words.length
}

/**
 * Whether each unspaced run of a text shares two adjacent characters with the index. One alone is weak
 * evidence (東京 and 京都).
 */
export function sharesPair(index: WordIndex, text: string): boolean {
  return runsOf(text)
    .filter(isUnspaced)
    .map(charactersOf)
    .every((characters) => {
      const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
      return pairs.length === 0 || pairs.some((pair) => index.joined.includes(pair))
    })
}
