import { normalizeText } from './normalize-text.ts'
import { fromIndexed } from './search-text.ts'
import { wholeCharacters } from './whole-characters.ts'

/** FTS5's snippet() is quadratic in the matches of a text, so a longer text shows its first match. */
const MAX_SNIPPET_CHARS = 2000
const SNIPPET_TOKENS = 24
const BEFORE_MATCH_CHARS = 60
const AROUND_MATCH_CHARS = 200

/** The columns of a `Found`, for an index whose text is in the column of this number. */
export function foundColumns(index: 'search_index' | 'import_search', column: number): string {
  const isLong = `length(text) > ${MAX_SNIPPET_CHARS}`
  return `iif(${isLong}, text, NULL) AS long,
    iif(${isLong}, NULL, snippet(${index}, ${column}, char(2), char(3), '…', ${SNIPPET_TOKENS})) AS short`
}

/** A long text in full, or the snippet of a short one, as indexed. */
export type Found = { readonly long: string | null; readonly short: string | null }

/** The snippet of a hit, with the matches of the pattern (`toPattern`) between U+0002 and U+0003. */
export function snippetOf({ long, short }: Found, pattern: RegExp): string {
  return fromIndexed(long === null ? (short ?? '') : aroundMatch(long, pattern))
}

function aroundMatch(text: string, pattern: RegExp): string {
  const decomposed = normalizeText(text, 'NFD')
  const before = decomposed.slice(0, Math.max(0, decomposed.search(pattern)))
  const from = Math.max(0, normalizeText(before, 'NFC').length - BEFORE_MATCH_CHARS)
  const piece = wholeCharacters(text.slice(from, from + AROUND_MATCH_CHARS))
  const marked = normalizeText(normalizeText(piece, 'NFD').replace(pattern, '\u0002$&\u0003'), 'NFC')
  return `${from > 0 ? '…' : ''}${marked}…`
}
