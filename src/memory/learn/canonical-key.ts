import { isUnspaced } from '../../../projections/recall-text.ts'
import { toAsciiDigits } from '../../text/numbers.ts'
import { foldText } from '../../text/text.ts'

/** A number with its separators, a word, or a meaningful symbol ("C++", "5 €", an emoji). */
const TOKEN = /\d+(?:[.,:/-]\d+)*|[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)?|[\p{S}#%@&*](?:\p{M}|\u200d\p{S})*/gu

/** Spaces between characters of unspaced scripts carry no meaning. */
const UNSPACED_GAP =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}])\s+(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])/gu

/** English words that differ between first and third person, or that add nothing. */
const DROPPED = new Set('the i my mine me we our ours us owner user do does please'.split(' '))
const KEPT_LAST = new Set(['me', 'us', 'mine', 'ours'])
const OPENING =
  /^(?:(?:actually|well|so|oh|ok|okay|by the way|btw|also|and|yes|yeah|hey|fyi|just so you know|remember|note)(?: that)?[ ,:;.!-]+)+/
const SAME: ReadonlyMap<string, string> = new Map(
  Object.entries({
    am: 'be',
    is: 'be',
    are: 'be',
    has: 'have',
    cannot: 'can not',
    cant: 'can not',
    dont: 'not',
    doesnt: 'not',
    didnt: 'did not',
    isnt: 'be not',
    arent: 'be not',
    wont: 'will not',
    im: 'be',
    ive: 'have',
    ...numbered('two three four five six seven eight nine ten eleven twelve'),
  }),
)

function numbered(words: string): Record<string, string> {
  return Object.fromEntries(words.split(' ').map((word, index) => [word, String(index + 2)]))
}
const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/^(.+)n't$/, '$1 not'],
  [/^(.+)'m$/, '$1 be'],
  [/^(.+)'re$/, '$1 be'],
  [/^(.+)'ve$/, '$1 have'],
  [/^(.+)'ll$/, '$1 will'],
  [/^(.+)'d$/, '$1 would'],
  [/^(it|that|there|he|she|who|what|where|here)'s$/, '$1 be'],
  [/^(.+)'s?$/, '$1'],
]

/**
 * A normal form of a statement: statements with equal keys mean the same. It ignores case, width, spacing,
 * punctuation, grammatical person, plural and third-person endings (Harman 1991, the "S" stemmer), and how a
 * negation or a small number is written. It keeps negations, numbers, accents, tense and word order. Never
 * empty for a text that is not blank, in any script.
 */
export function canonicalKey(text: string): string {
  const folded = toAsciiDigits(foldText(text)).replace(UNSPACED_GAP, '').trim()
  const words = (folded.replace(OPENING, '').match(TOKEN) ?? folded.match(TOKEN) ?? []).flatMap(expand)
  const kept = words.filter((word, index) => !DROPPED.has(word) || (KEPT_LAST.has(word) && index > 0))
  const stemmed = (kept.length > 0 ? kept : words).map(withoutS)
  return stemmed.length > 0 ? stemmed.join(' ') : folded || text
}

function expand(word: string): string[] {
  const ending = ENDINGS.find(([pattern]) => pattern.test(word))
  const whole = ending ? word.replace(ending[0], ending[1]) : word
  return whole.split(' ').flatMap((part) => (SAME.get(part) ?? part).split(' '))
}

/** Harman's "S" stemmer, for ASCII words. */
function withoutS(word: string): string {
  if (word.length <= 3 || !/^[a-z]+$/.test(word) || isUnspaced(word)) return word
  if (/(?<![ea])ies$/.test(word)) return `${word.slice(0, -3)}y`
  if (/(?<![aeo])es$/.test(word)) return word.slice(0, -1)
  return /(?<![us])s$/.test(word) ? word.slice(0, -1) : word
}

const OWNER_SUBJECTS = new Set([
  '',
  'owner',
  'user',
  'i',
  'me',
  'myself',
  'self',
  'you',
  'the owner',
  'the user',
  'speaker',
])

/** Whether a candidate's subject is the owner, however a model names them. */
export function isOwner(subject: string): boolean {
  return OWNER_SUBJECTS.has(foldText(subject).trim())
}

/** Subject and slot of a statement; empty if it has no slot. */
export function slotKeyOf({ subject, slot }: { readonly subject: string; readonly slot: string }): string {
  if (slot.trim() === '') return ''
  return `${isOwner(subject) ? 'owner' : canonicalKey(subject)} / ${canonicalKey(slot.replaceAll('_', ' '))}`
}

/** Subject, slot and value of a statement; empty if it has no slot or no value. */
export function statementKeyOf(statement: {
  readonly subject: string
  readonly slot: string
  readonly value: string
  readonly isNegated: boolean
}): string {
  const slotKey = slotKeyOf(statement)
  if (slotKey === '' || statement.value.trim() === '') return ''
  return `${slotKey} ${statement.isNegated ? '≠' : '='} ${canonicalKey(statement.value)}`
}
