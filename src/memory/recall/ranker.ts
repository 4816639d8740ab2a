import type { Database } from 'better-sqlite3'
import { type EntryRow, FIRST_MEMORY_ID, type Speaker } from '../../../projections/recall-entries.ts'
import { timeWords } from '../../../projections/time-words.ts'
import { fromWallClock, wallClockMs } from '../../lib/time.ts'
import { stretchesOf } from './dates.ts'
import { createEntryQueries } from './entry-queries.ts'
import { createEvidenceGatherer, type Evidence } from './evidence.ts'
import { type Candidate, computeFeatures, FEATURES, WEIGHTS, type Weights } from './features.ts'
import { fuseRankings, LEXICAL_WEIGHT, VECTOR_WEIGHT } from './fusion.ts'
import { type Cue, type Query, readQuery } from './query.ts'
import { relevanceOf } from './relevance.ts'
import type { Near } from './vectors.ts'

export type RecallRequest = Cue & {
  /** Only events before this seq may surface. */
  readonly beforeSeq: number
  /** Seqs to leave out because the context has them. */
  readonly excludedSeqs: Iterable<number>
  /** Neighbours by embedding, nearest first, if known already. */
  readonly near?: readonly Near[]
}

export type Hit = {
  readonly seq: number
  readonly kind: 'turn' | 'memory'
  /** Of a memory, once it is looked up. */
  readonly memoryId?: string | undefined
  readonly speaker: Speaker
  readonly atMs: number
  /** Comparable within one answer only. */
  readonly score: number
  /** How much of what is asked it tells, 0..1. Comparable between queries. */
  readonly relevance: number
}

export type RecallRanker = ReturnType<typeof createRecallRanker>

export const MAX_CANDIDATES = 200
/** This many memories are candidates in any case: turns get scores from their neighbours, and memories have none. */
const CERTAIN_MEMORIES = 20
/** Bonus of a turn on a named date, as a share of the best candidate's score. */
const DATE_SHARE = 0.4
/** Limit of sittings examined per period. */
const MAX_SITTINGS = 60
/**
 * Share of a turn's score that its neighbours receive, starting `REACH_BACK` turns before it. The answer
 * after it receives the most.
 */
const REACH = [0.2, 0.3, 1, 0.5, 0.35, 0.2]
const REACH_BACK = 2
/** Only the entries with the highest weights pass scores to their neighbours. */
const MAX_SEEDS = 1000

/**
 * Recall over the views. Takes candidates from the full-text index, ranks them by a weighted sum of features,
 * and fuses the ranking with neighbours by embedding, if any. Synchronous, so run it in a worker thread.
 * Deterministic: equal views and requests give equal hits.
 */
export function createRecallRanker(options: { readonly views: Database; readonly weights?: Weights }) {
  const { views } = options
  const weights = FEATURES.map((feature) => (options.weights ?? WEIGHTS)[feature])
  // Now, so that the first query does not wait for it.
  timeWords()
  const gatherEvidence = createEvidenceGatherer(views)
  const entries = createEntryQueries(views)

  function weigh(request: RecallRequest) {
    const query = readQuery(request)
    if (query.terms.length === 0 && query.dates.length === 0) return []
    const evidence = gatherEvidence(query, entries.lastTurnBefore(request.beforeSeq))
    const scores = estimate(query, evidence)
    for (const id of entries.idsAt([...request.excludedSeqs])) scores.delete(id)
    const ranked = best(scores)
    const memories = ranked.filter((id) => id >= FIRST_MEMORY_ID)
    const ids = new Set([...ranked.slice(0, MAX_CANDIDATES), ...memories.slice(0, CERTAIN_MEMORIES)])
    const candidates = candidatesOf([...ids], request.beforeSeq)
    const features = computeFeatures(query, evidence, candidates)
    return candidates.map((candidate, index) => {
      const row = features[index] ?? []
      const { entry } = candidate
      return { entry, features: row, relevance: relevanceOf(query, evidence, entry, row) }
    })
  }

  /** Scores of the entries that the query's words or dates reach, by id. */
  function estimate(query: Query, { weights }: Evidence): Map<number, number> {
    const scores = new Map<number, number>()
    function add(id: number, score: number): void {
      scores.set(id, (scores.get(id) ?? 0) + score)
    }
    for (const id of best(weights).slice(0, MAX_SEEDS)) {
      const weight = weights.get(id) ?? 0
      if (id >= FIRST_MEMORY_ID) {
        add(id, weight)
        continue
      }
      for (const [step, share] of REACH.entries()) add(id + step - REACH_BACK, share * weight)
    }
    const highest = [...scores.values()].reduce((high, score) => Math.max(high, score), 0)
    const bonus = DATE_SHARE * (highest || 1)
    for (const { firstId, lastId } of sittingsNamed(query)) {
      for (let id = firstId; id <= lastId; id += 1) add(id, bonus)
    }
    return scores
  }

  /** Sittings in the periods that the query names. */
  function sittingsNamed({ dates, timezone }: Query) {
    const period = dates.length === 0 ? null : entries.period()
    if (!period) return []
    const wallOf = (atMs: number) => wallClockMs(atMs, timezone)
    const atOf = (wallMs: number) => fromWallClock(wallMs, timezone).getTime()
    return stretchesOf(dates, wallOf(period.fromMs), wallOf(period.toMs)).flatMap(({ fromMs, toMs }) =>
      entries.sittingsWithin(atOf(fromMs), atOf(toMs), MAX_SITTINGS),
    )
  }

  function candidatesOf(ids: readonly number[], beforeSeq: number): Candidate[] {
    const rows = new Map(entries.byIds(ids.flatMap((id) => [id - 1, id])).map((row) => [row.id, row]))
    const found = ids.flatMap((id) => rows.get(id) ?? []).filter(({ seq }) => seq < beforeSeq)
    const sittings = entries.sittings(found.map(({ sitting }) => sitting))
    return found.map((entry) => {
      const { id, sitting } = entry
      const turnBefore = rows.get(id - 1)
      return {
        entry,
        sitting: sittings.get(sitting) ?? { firstId: id, lastId: id },
        before: turnBefore?.sitting === sitting ? turnBefore : undefined,
      }
    })
  }

  function hitOf({ seq, id, speaker, atMs }: EntryRow, score: number, relevance: number): Hit {
    return { seq, kind: id < FIRST_MEMORY_ID ? 'turn' : 'memory', speaker, atMs, score, relevance }
  }

  function fuseWithNear(lexical: readonly Hit[], found: readonly Near[], request: RecallRequest): Hit[] {
    const excluded = new Set(request.excludedSeqs)
    const near = new Map(
      found
        .filter(({ seq }) => seq < request.beforeSeq && !excluded.has(seq))
        .map(({ seq, similarity }) => [seq, similarity]),
    )
    const known = new Map(lexical.map((hit) => [hit.seq, hit]))
    // A vector may briefly outlive its entry. Only indexed entries surface.
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
    /** Best first, at most MAX_CANDIDATES and a few memories. Empty for a cue without search terms. */
    recall(request: RecallRequest): readonly Hit[] {
      const hits = weigh(request).map(({ entry, features, relevance }) => {
        const score = weights.reduce((sum, weight, index) => sum + weight * (features[index] ?? 0), 0)
        return hitOf(entry, score, relevance)
      })
      hits.sort((a, b) => b.score - a.score || b.seq - a.seq)
      return request.near?.length ? fuseWithNear(hits, request.near, request) : hits
    },
    /** The candidates with their features, before weighting. For tuning. */
    inspect: (request: RecallRequest) =>
      weigh(request).map(({ entry, features }) => ({ seq: entry.seq, features })),
  }
}

/** Ids by score, best first. Ties go to the newer entry. */
function best(scores: ReadonlyMap<number, number>): number[] {
  return [...scores].sort(([a, ofA], [b, ofB]) => ofB - ofA || b - a).map(([id]) => id)
}
