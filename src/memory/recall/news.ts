import type { Database } from 'better-sqlite3'

/** Recent additions to the index, which extend cached postings without a query to FTS5. */
export type IndexNews = {
  /** Ids in `[from, to]` where the expression occurs, ascending; null if `from` is older than the cache. */
  occurrences(match: string, from: number, to: number): number[] | null
  /** Call it when something was removed from the index. */
  reset(): void
}

type Row = { readonly id: number; readonly tokens: readonly string[] }
type Matcher = (tokens: readonly string[]) => boolean

const MAX_ROWS = 256
const MAX_MATCHERS = 5000

/**
 * Caches the newest rows of one range of ids, which only grows at its end. FTS5 reads several pages per word
 * and query, while a turn adds one or two rows and asks for a hundred words.
 */
export function createIndexNews(views: Database): IndexNews {
  const after = views.prepare<[number, number], { id: number; terms: string }>(
    'SELECT rowid AS id, terms FROM recall_index WHERE rowid BETWEEN ? AND ? ORDER BY rowid',
  )
  const matchers = new Map<string, Matcher>()
  let rows: Row[] = []
  /** `rows` holds every entry in `[first, last]`. Null before the first call. */
  let covered: { first: number; last: number } | null = null

  function cover(to: number): { first: number; last: number } {
    // The index answers for what exists already.
    covered ??= { first: to + 1, last: to }
    if (to <= covered.last) return covered
    for (const { id, terms } of after.all(covered.last + 1, to)) rows.push({ id, tokens: terms.split(' ') })
    covered.last = to
    if (rows.length > MAX_ROWS) {
      rows = rows.slice(-MAX_ROWS)
      covered.first = rows[0]?.id ?? to + 1
    }
    return covered
  }

  function matcherOf(match: string): Matcher {
    const known = matchers.get(match)
    if (known) return known
    if (matchers.size >= MAX_MATCHERS) matchers.clear()
    const matcher = toMatcher(match)
    matchers.set(match, matcher)
    return matcher
  }

  return {
    occurrences(match, from, to) {
      if (cover(to).first > from) return null
      const found: number[] = []
      let matches: Matcher | null = null
      for (let at = rows.length - 1; at >= 0; at -= 1) {
        const row = rows[at]
        if (!row || row.id < from) break
        if (row.id > to) continue
        matches ??= matcherOf(match)
        if (matches(row.tokens)) found.push(row.id)
      }
      return found.reverse()
    },
    reset() {
      rows = []
      covered = null
    },
  }
}

/** Parses the FTS5 queries that recall writes: phrases, optionally as prefixes, joined by OR. */
function toMatcher(match: string): Matcher {
  const parts = match.split(' OR ').map((part) => {
    const isPrefix = part.endsWith(' *')
    const phrase = part.slice(1, isPrefix ? -3 : -1).replaceAll('""', '"')
    return { tokens: phrase.split(' '), isPrefix }
  })
  return (tokens) =>
    parts.some(({ tokens: wanted, isPrefix }) =>
      tokens.some((_, start) =>
        wanted.every((word, offset) => {
          const token = tokens[start + offset]
          return isPrefix && offset === wanted.length - 1 ? token?.startsWith(word) === true : token === word
        }),
      ),
    )
}
