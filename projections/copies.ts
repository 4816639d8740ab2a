import type { Database } from 'better-sqlite3'
import { toIndexed } from './search-text.ts'

/** Words in a row that make a copy: fewer are common speech. */
const RUN_WORDS = 4
/** Letters from which a word carries meaning of its own; a run needs two such words. */
const TELLING_LETTERS = 5
/** A word with a digit in it, or this long, is told by nobody twice by chance. */
const UNIQUE_CHARS = 14
const MAX_TERMS = 400
const HITS_A_TERM = 200

const WORD = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]+/gu

/** Words of scripts without the spaces that part words are short, and each tells something. */
const SPACED_SCRIPT = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+$/u
const TELLING_DIGITS = 3

/** The words of texts that tell what they are about. */
export function tellingWords(texts: readonly string[]): ReadonlySet<string> {
  const words = texts.flatMap((text) => toIndexed(text).match(WORD) ?? [])
  return new Set(words.filter(isTelling))
}

function isTelling(word: string): boolean {
  if (/\p{N}/u.test(word)) return word.length >= TELLING_DIGITS
  return word.length >= TELLING_LETTERS || !SPACED_SCRIPT.test(word)
}

/** The lines of a text that have one of the words: of a summary what tells of the matter, without what stands beside it. */
export function linesTelling(text: string, words: ReadonlySet<string>): string {
  const lines = text.split(/\n|(?<=[.!?])\s/)
  return lines.filter((line) => [...tellingWords([line])].some((word) => words.has(word))).join('\n')
}

/** The stretches of a text by which a copy of it is known: runs of telling words, and words that stand alone. */
function tellingTerms(text: string): string[] {
  const words = toIndexed(text).match(WORD) ?? []
  const terms = new Set<string>()
  for (const [index, word] of words.entries()) {
    if ((/\p{N}/u.test(word) && word.length >= 4) || word.length >= UNIQUE_CHARS) terms.add(`"${word}"`)
    const run = words.slice(index, index + RUN_WORDS)
    const telling = run.filter((each) => each.length >= TELLING_LETTERS || /\p{N}/u.test(each))
    if (run.length === RUN_WORDS && telling.length >= 2) terms.add(`"${run.join(' ')}"`)
  }
  return [...terms].slice(0, MAX_TERMS)
}

/**
 * Later events whose indexed words repeat a stretch of the given texts, ascending. A model is given the whole
 * conversation and may quote any of it, which no record of what a reply was derived from can tell.
 */
export function findCopies(
  views: Database,
  texts: readonly { readonly seq: number; readonly text: string }[],
): number[] {
  const find = views.prepare<[string, number, number], { seq: number }>(
    'SELECT rowid AS seq FROM search_index WHERE search_index MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?',
  )
  const found = new Set<number>()
  for (const { seq, text } of texts) {
    for (const term of tellingTerms(text)) {
      for (const hit of find.all(term, seq, HITS_A_TERM)) found.add(hit.seq)
    }
  }
  return [...found].sort((a, b) => a - b)
}
