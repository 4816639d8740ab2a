import type { Database } from 'better-sqlite3'
import { type EntryRow, FIRST_MEMORY_ID, type Speaker } from '../../../projections/recall-entries.ts'
import { stretchesOf } from './dates.ts'
import { createEntryQueries } from './entry-queries.ts'
import { type Evidence, gatherEvidence } from './evidence.ts'
import { type Candidate, computeFeatures, FEATURES } from './features.ts'
import { fuseRankings, LEXICAL_WEIGHT, VECTOR_WEIGHT } from './fusion.ts'
import { createPostingsReader } from './postings.ts'
import { type Cue, createQueryReader, type Query, type QueryReader } from './query.ts'
import { relevanceOf } from './relevance.ts'
import { topSlots } from './top.ts'
import type { VectorCandidates } from './vectors.ts'
import { WEIGHTS, type Weights } from './weights.ts'

export type RecallRequest = Cue & {
  /** Only what was said, or stored, before this may surface. */
  readonly beforeSeq: number
  /** What must not surface: the context holds it anyway. */
  readonly excludedSeqs: ReadonlySet<number>
  /** The cue's embedding, where there is one by now: recall never waits for it. */
  readonly vector?: Float32Array | null
}

export type Hit = {
  readonly seq: number
  readonly kind: 'turn' | 'memory'
  readonly speaker: Speaker
  readonly atMs: number
  /** Comparable within one answer only. */
  readonly score: number
  /** How much of what was asked for occurs in it or beside it, 0..1; comparable between queries. */
  readonly relevance: number
}

export type Inspected = { readonly seq: number; readonly features: Float64Array }

export type RecallRanker = {
  /** The best first, at most MAX_CANDIDATES. Empty for a cue that asks for nothing. */
  recall(request: RecallRequest): readonly Hit[]
  /** The candidates before they are weighed, each with its features in the order of FEATURES. For tuning. */
  inspect(request: RecallRequest): readonly Inspected[]
}

export const MAX_CANDIDATES = 200
const MAX_VECTOR_CANDIDATES = 50
/** What fitting a date makes for becoming a candidate, of the best turn's words. */
const DATE_SHARE = 0.4

type Weighed = { readonly entry: EntryRow; readonly features: Float64Array; readonly relevance: number }

/**
 * Recall over the views: candidates from the full-text index, ranked by a weighted sum of features; where vectors
 * are to be had, fused with those by rank. Synchronous and deterministic: the same views and request give the same
 * hits. Belongs in a worker thread.
 */
export function createRecallRanker(options: {
  readonly views: Database
  readonly weights?: Weights
  readonly vectors?: VectorCandidates | null
  readonly readQuery?: QueryReader
}): RecallRanker {
  const { views, vectors = null } = options
  const weights = FEATURES.map((feature) => (options.weights ?? WEIGHTS)[feature])
  const readQuery = options.readQuery ?? createQueryReader()
  const postings = createPostingsReader(views)
  const entries = createEntryQueries(views)

  function weigh(request: RecallRequest): Weighed[] {
    const query = readQuery(request)
    if (query.terms.length === 0 && query.dates.length === 0) return []
    const { lastTurnId, lastMemoryId } = entries.lastBefore(request.beforeSeq)
    const evidence = gatherEvidence(query, postings, lastTurnId, lastMemoryId)
    const scores = candidateScores(query, evidence, lastTurnId)
    for (const { id } of entries.bySeqs([...request.excludedSeqs])) {
      const slot = evidence.slotOf(id)
      if (slot !== undefined) scores[slot] = 0
    }
    const candidates = candidatesOf(
      entries.byIds(topSlots(scores, MAX_CANDIDATES).map(evidence.idOf)),
      evidence,
    )
    const features = computeFeatures(query, evidence, candidates)
    return candidates.map((candidate, index) => {
      const row = features[index] ?? new Float64Array(FEATURES.length)
      return {
        entry: candidate.entry,
        features: row,
        relevance: relevanceOf(query, evidence, candidate, row),
      }
    })
  }

  /** A first estimate for every slot: its words, some of its neighbours', and whether its date fits. */
  function candidateScores(query: Query, evidence: Evidence, lastTurnId: number): Float32Array {
    const own = evidence.weights
    const scores = new Float32Array(own)
    let best = 0
    // The weights around a turn slide past it: this runs over all turns. Behind the last there is a gap of zeros.
    let [third, second, first, here, next] = [0, 0, 0, 0, own[1] ?? 0]
    for (let id = 1; id <= lastTurnId; id += 1) {
      third = second
      second = first
      first = here
      here = next
      next = own[id + 1] ?? 0
      const score = here + 0.5 * first + 0.35 * second + 0.2 * third + 0.3 * next + 0.2 * (own[id + 2] ?? 0)
      scores[id] = score
      if (score > best) best = score
    }
    const bonus = DATE_SHARE * (best || 1)
    for (const { firstId, lastId } of sittingsNamed(query)) {
      for (let id = firstId; id <= Math.min(lastId, lastTurnId); id += 1)
        scores[id] = (scores[id] ?? 0) + bonus
    }
    return scores
  }

  /** Sittings in the stretches of time that the query names. */
  function sittingsNamed({ dates, zoneOffsetMs }: Query) {
    const period = dates.length === 0 ? null : entries.period()
    if (!period) return []
    return stretchesOf(dates, period.fromMs + zoneOffsetMs, period.toMs + zoneOffsetMs).flatMap(
      ({ fromMs, toMs }) => entries.sittingsWithin(fromMs - zoneOffsetMs, toMs - zoneOffsetMs),
    )
  }

  function candidatesOf(found: readonly EntryRow[], { slotOf }: Evidence): Candidate[] {
    const before = new Map(entries.byIds(found.map(({ id }) => id - 1)).map((entry) => [entry.id, entry]))
    const sittings = entries.sittings(found.map(({ sitting }) => sitting))
    return found.map((entry) => {
      const { id, sitting } = entry
      const turnBefore = before.get(id - 1)
      return {
        entry,
        slot: slotOf(id) ?? 0,
        sitting: sittings.get(sitting) ?? { firstId: id, lastId: id },
        before: turnBefore?.sitting === sitting ? turnBefore : undefined,
      }
    })
  }

  function hitOf({ seq, id, speaker, atMs }: EntryRow, score: number, relevance: number): Hit {
    return { seq, kind: id < FIRST_MEMORY_ID ? 'turn' : 'memory', speaker, atMs, score, relevance }
  }

  function fuseWithVectors(lexical: readonly Hit[], vector: Float32Array, request: RecallRequest): Hit[] {
    const near = new Map(
      (vectors?.nearest(vector, MAX_VECTOR_CANDIDATES) ?? [])
        .filter(({ seq }) => seq < request.beforeSeq && !request.excludedSeqs.has(seq))
        .map(({ seq, similarity }) => [seq, similarity]),
    )
    const known = new Map(lexical.map((hit) => [hit.seq, hit]))
    // Vectors may outlive their entries by a moment: only what is indexed surfaces.
    for (const entry of entries.bySeqs([...near.keys()].filter((seq) => !known.has(seq))))
      known.set(entry.seq, hitOf(entry, 0, 0))
    const fused = fuseRankings([
      { seqs: lexical.map(({ seq }) => seq), weight: LEXICAL_WEIGHT },
      { seqs: [...near.keys()].filter((seq) => known.has(seq)), weight: VECTOR_WEIGHT },
    ])
    return fused.flatMap(({ seq, score }) => {
      const hit = known.get(seq)
      return hit ? [{ ...hit, score, relevance: Math.max(hit.relevance, near.get(seq) ?? 0) }] : []
    })
  }

  return {
    recall(request) {
      const hits = weigh(request).map(({ entry, features, relevance }) => {
        const score = weights.reduce((sum, weight, index) => sum + weight * (features[index] ?? 0), 0)
        return hitOf(entry, score, relevance)
      })
      hits.sort((a, b) => b.score - a.score || b.seq - a.seq)
      return request.vector ? fuseWithVectors(hits, request.vector, request) : hits
    },
    inspect: (request) => weigh(request).map(({ entry, features }) => ({ seq: entry.seq, features })),
  }
}
