import type { Evidence } from './evidence.ts'
import { type Candidate, FEATURES } from './features.ts'
import type { Query } from './query.ts'

/** Weights of a match by root, and of a match a few turns away. */
const LOOSE = 0.6
const DISTANT = 0.3
const DISTANT_TURNS = 4
/** Relevance of anything said on a date named in the cue. */
const ON_DATE = 0.6
const DATE_FEATURES = (['dateInside', 'dateDay'] as const).map((feature) => FEATURES.indexOf(feature))

/**
 * Weighted share of the query's terms that occur in a candidate or in the turns beside it, 0..1. Comparable
 * between queries, unlike the score, so a threshold can mean "nothing fits".
 */
export function relevanceOf(
  { terms }: Query,
  { exact, root, maxIdf }: Evidence,
  { entry: { id }, slot, sitting: { firstId, lastId } }: Candidate,
  features: Float64Array,
): number {
  const within = (turns: number, masks: Uint32Array) => {
    let found = 0
    const last = Math.min(turns, lastId - id)
    for (let offset = Math.max(-turns, firstId - id); offset <= last; offset += 1)
      found |= masks[slot + offset] ?? 0
    return found
  }
  const strict = within(1, exact.masks)
  const loose = within(1, root.masks)
  const distant = within(DISTANT_TURNS, root.masks)
  let found = 0
  let asked = 0
  for (let term = 0; term < terms.length; term += 1) {
    // A word that occurs nowhere weighs as much as the rarest one.
    const weight = exact.idf[term] || maxIdf * (terms[term]?.weight ?? 1)
    asked += weight
    if ((strict >>> term) & 1) found += weight
    else if ((loose >>> term) & 1) found += LOOSE * weight
    else if ((distant >>> term) & 1) found += DISTANT * weight
  }
  const onDate = Math.max(...DATE_FEATURES.map((feature) => features[feature] ?? 0))
  return Math.max(asked === 0 ? 0 : found / asked, ON_DATE * onDate)
}
