import { type EntryRow, FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import { TRAIT } from '../../../projections/recall-traits.ts'
import type { Evidence } from './evidence.ts'
import { FEATURES, type Features } from './features.ts'
import type { Query } from './query.ts'

/**
 * A word that nobody ever said weighs up to this much more: what is asked was probably never told. In a short
 * timeline most words are unknown, so the factor grows with it, and reaches this at some 370 entries.
 */
const UNKNOWN = 3
const UNKNOWN_IDF = 2.2
/** A turn of which a model made no memory, or only a part, rarely answers. Without a model, turns are all there is. */
const READ_TURN = 0.5
const UNREAD_TURN = 1.3
/** Somebody who asks does not tell. */
const ASKED = 0.5
/** Relevance of anything said on a date named in the cue. */
const ON_DATE = 0.6
const DATE_FEATURES = (['dateInside', 'dateDay'] as const).map((feature) => FEATURES.indexOf(feature))

/**
 * How much of what is asked an entry itself tells, 0..1: the share of the query's words in it, where rare words
 * weigh more. Comparable between queries, unlike the score, so a threshold can mean "nothing fits". The constants
 * and the default threshold are fitted to `bench:memory`.
 */
export function relevanceOf(
  query: Query,
  evidence: Evidence,
  { id, traits }: EntryRow,
  features: Features,
): number {
  const onDate = Math.max(...DATE_FEATURES.map((feature) => features[feature] ?? 0))
  const relevance = Math.max(shareOf(query, evidence, id), ON_DATE * onDate)
  if (id >= FIRST_MEMORY_ID) return relevance
  const asks = (traits & TRAIT.asks) !== 0
  return Math.min(1, relevance * (query.isRead ? READ_TURN : UNREAD_TURN) * (asks ? ASKED : 1))
}

/**
 * The weighted share of the query's words that occur in an entry, as such or by their root. Words of the context
 * were not asked for, and count less when found: "good night" is no question about what was said before it.
 */
function shareOf({ terms }: Query, { exact, root, maxIdf }: Evidence, id: number): number {
  let found = 0
  let asked = 0
  const unknown = Math.min(UNKNOWN, Math.max(1, maxIdf / UNKNOWN_IDF))
  const own = root.masks.get(id) ?? 0
  for (const [term, { weight }] of terms.entries()) {
    const isKnown = (exact.idf[term] || root.idf[term] || 0) > 0
    const rarity = Math.sqrt(exact.idf[term] || maxIdf)
    if (weight === 1) asked += isKnown ? rarity : unknown * rarity
    if ((own >>> term) & 1) found += weight * rarity
  }
  return asked === 0 ? 0 : Math.min(1, found / asked)
}
