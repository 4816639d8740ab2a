import type { Database } from 'better-sqlite3'
import { type EntryRow, FIRST_MEMORY_ID, type Speaker } from '../../../projections/recall-entries.ts'
import { timeWords } from '../../../projections/time-words.ts'
import { fromWallClock, wallClockMs } from '../../lib/time.ts'
import { stretchesOf } from './dates.ts'
import { createEntryQueries } from './entry-queries.ts'
import { clearSlots, createEvidenceGatherer, type Evidence } from './evidence.ts'
import { type Candidate, computeFeatures, FEATURES, WEIGHTS, type Weights } from './features.ts'
import { fuseRankings, LEXICAL_WEIGHT, VECTOR_WEIGHT } from './fusion.ts'
import { createPostingsReader } from './postings.ts'
import { type Cue, type Query, readQuery } from './query.ts'
import { relevanceOf } from './relevance.ts'
import { leastOf, topSlots } from './top.ts'
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
const REACH = Float64Array.of(0.2, 0.3, 1, 0.5, 0.35, 0.2)
const REACH_BACK = 2

/** Only the slots with the highest weights pass scores to their neighbours. */
const MAX_SEEDS = 3000

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
  const gatherEvidence = createEvidenceGatherer(createPostingsReader(views))
  const entries = createEntryQueries(views)

  /** By slot. Reused, because it has one slot per turn; only written slots are cleared. */
  let scores = new Float32Array(0)
  let reachedBefore: readonly number[] = []

  function weigh(request: RecallRequest) {
    const query = readQuery(request)
    if (query.terms.length === 0 && query.dates.length === 0) return []
    const { lastTurnId, lastMemoryId } = entries.lastBefore(request.beforeSeq)
    const evidence = gatherEvidence(query, lastTurnId, lastMemoryId)
    const reached = scoreCandidates(query, evidence, lastTurnId)
    for (const id of reached.length === 0 ? [] : entries.idsAt([...request.excludedSeqs])) {
      const slot = evidence.slotOf(id)
      if (slot !== undefined) scores[slot] = 0
    }
    const slots = new Set([
      ...topSlots(scores, reached, MAX_CANDIDATES),
      ...topSlots(
        scores,
        reached.filter((slot) => slot > lastTurnId),
        CERTAIN_MEMORIES,
      ),
    ])
    const candidates = candidatesOf([...slots].map(evidence.idOf), evidence)
    const features = computeFeatures(query, evidence, candidates)
    return candidates.map((candidate, index) => {
      const row = features[index] ?? []
      const { entry } = candidate
      return { entry, features: row, relevance: relevanceOf(query, evidence, candidate, row) }
    })
  }

  /**
   * Estimates the slots that the query's words or dates reach, and leaves the scores in `scores`. Other slots
   * cost nothing.
   */
  function scoreCandidates(
    query: Query,
    { weights: own, touched }: Evidence,
    lastTurnId: number,
  ): readonly number[] {
    if (own.length > scores.length) scores = new Float32Array(own.length)
    else clearSlots(scores, reachedBefore)
    const reached: number[] = []
    reachedBefore = reached
    let best = 0
    function add(slot: number, score: number): void {
      const before = scores[slot] ?? 0
      if (before === 0) reached.push(slot)
      const after = before + score
      scores[slot] = after
      if (after > best) best = after
    }
    // Plain loops: this runs tens of thousands of times.
    const least = leastOf(own, touched, MAX_SEEDS)
    for (let at = 0; at < touched.length; at += 1) {
      const slot = touched[at] ?? 0
      const weight = own[slot] ?? 0
      if (weight < least) continue
      const isTurn = slot <= lastTurnId
      for (let step = 0; step < REACH.length; step += 1) {
        const id = slot + step - REACH_BACK
        if (isTurn ? id >= 1 && id <= lastTurnId : id === slot) add(id, (REACH[step] ?? 0) * weight)
      }
    }
    const bonus = DATE_SHARE * (best || 1)
    for (const { firstId, lastId } of sittingsNamed(query)) {
      for (let id = firstId; id <= Math.min(lastId, lastTurnId); id += 1) add(id, bonus)
    }
    return reached
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

  function candidatesOf(ids: readonly number[], { slotOf }: Evidence): Candidate[] {
    const rows = new Map(entries.byIds(ids.flatMap((id) => [id - 1, id])).map((row) => [row.id, row]))
    const found = ids.flatMap((id) => rows.get(id) ?? [])
    const sittings = entries.sittings(found.map(({ sitting }) => sitting))
    return found.map((entry) => {
      const { id, sitting } = entry
      const turnBefore = rows.get(id - 1)
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
