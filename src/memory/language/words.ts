import { charactersOf, fold, isUnspaced, runsOf, stemOf, wordsOf } from '../../../projections/recall-text.ts'
import { type LanguageCode, languageCodes, lexiconOf } from './lexicon.ts'
import { languageOf } from './text.ts'

/** How a memory's text speaks of the owner, in whatever language a model writes it. */
const OWNER_WORDS = `owner owners user users speaker he she his her they their them person s
  besitzer besitzerin nutzer nutzerin benutzer inhaber eigentümer utilisateur utilisatrice propriétaire usuario usuaria
  dueño dueña propietario utente proprietario proprietaria usuário usuária dono dona eigenaar gebruiker ägaren användaren
  właściciel właścicielka użytkownik użytkowniczka sahibi kullanıcı владелец владелица пользователь власник користувач
  ιδιοκτήτης χρήστης المالك المستخدم הבעלים המשתמש मालिक उपयोगकर्ता 主人 用户 用戶 主 人 사용자 주인 소유자`

const ownerWords: ReadonlySet<string> = new Set(OWNER_WORDS.split(/\s+/).flatMap(wordsOf))

/** The words without content of each language, folded as recall folds them. */
const functionWords: ReadonlyMap<LanguageCode, ReadonlySet<string>> = new Map(
  languageCodes.map((code) => [
    code,
    // A word of several characters of an unspaced script would take each of them out of every other word.
    new Set(lexiconWords(code).flatMap((word) => (wordsOf(word).length === 1 ? wordsOf(word) : []))),
  ]),
)

function lexiconWords(code: LanguageCode): string[] {
  // The patterns hold the lists themselves, between their bars.
  return lexiconOf(code).common.source.match(/[\p{L}\p{M}']+/gu) ?? []
}

/** Whether a folded word speaks of the owner, as a model would. */
export function isOwnerWord(word: string): boolean {
  return ownerWords.has(word)
}

/** The words of a text that say something, folded; of scripts without spaces each character. */
export function contentWords(text: string, language = languageOf(text)): string[] {
  const functional = functionWords.get(language ?? 'en')
  const words = wordsOf(text)
  const content = words.filter((word) => !ownerWords.has(word) && !functional?.has(word))
  // "I am who I am": a text of nothing but such words still says something.
  return content.length > 0 ? content : words.filter((word) => !ownerWords.has(word))
}

/** Words to look others up in. */
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

/** Whether the index holds the word in any inflection: by stem, or by most of its beginning. */
export function hasWord(index: WordIndex, word: string): boolean {
  if (index.stems.has(stemOf(word))) return true
  if (isUnspaced(word)) return index.joined.includes(word)
  // Compounds: "phone number" and "phonenumber", "wi-fi" and "wifi".
  if (word.length >= 4 && index.joined.includes(word)) return true
  return index.words.some((other) => isInflected(word, other))
}

/** Whether two words are likely the same one in different forms. */
function isInflected(a: string, b: string): boolean {
  const longer = Math.max(a.length, b.length)
  const shorter = Math.min(a.length, b.length)
  const prefix = commonPrefix(a, b)
  if (prefix < 3) return false
  // Three letters of a long Latin word say little; other scripts inflect more.
  if (prefix === 3) return prefix >= longer * (/^[a-z]+$/.test(a) ? 0.75 : 0.6)
  // Four letters and most of the shorter: the beginning of a compound.
  return prefix >= longer * 0.6 || prefix >= shorter * 0.8
}

function commonPrefix(a: string, b: string): number {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1
  return length
}

/** Languages whose names change their endings. */
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

/** Whether the index holds a name: to the letter, but for a genitive and for languages that decline names. */
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

/** How much of the words the index holds, 0..1; 1 for none. */
export function coverage(index: WordIndex, words: readonly string[]): number {
  return words.length === 0 ? 1 : words.filter((word) => hasWord(index, word)).length / words.length
}

/**
 * Whether each run of an unspaced script in a text has some two characters in common with the index as they stand
 * there: one alone says little (東京 and 京都). True where there is no such run.
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
