import { type EntryRow, FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import { TRAIT } from '../../../projections/recall-traits.ts'
import { wallClockMs } from '../../lib/time.ts'
import { fitDates } from './dates.ts'
import type { Evidence, Occurrences } from './evidence.ts'
import type { Query } from './query.ts'

/** Weights of the features of an entry, which are about 0..1 each. Lexical ones are relative to the best entry. */
export const WEIGHTS = {
  /** BM25 of the query's words in the entry. */
  own: 0.9,
  /** `own`, including other words of the same root. */
  root: 1.2,
  /** `own`, including the surrounding turns; nearer ones count more. */
  window: 1.9,
  /** `window`, including other words of the same root. */
  rootWindow: 1.6,
  /** Words of the same root in the entry and the three turns before it, which it may answer. */
  before: 1.1,
  /** The best `own` in its sitting. */
  sittingBest: 1.6,
  /** Follows a question by the other speaker with words of the query. */
  answers: 1.6,
  /** Said by the person whom the query is about. */
  speaker: 2.6,
  /** In the month named by the query, on or near the day, shortly after. */
  dateInside: 3.4,
  dateDay: 1.6,
  dateAfter: 1.4,
  /** The query asks when, how many, who or where, and the entry has a time, a number, a name. */
  tellsTime: 1.7,
  tellsNumber: 1,
  tellsName: 2,
  quotesTitle: 0.8,
  endsAsking: -0.6,
  acknowledges: -0.3,
  /** Near the start of its sitting, where people tell their news. */
  opening: 0.6,
  memory: 0.5,
}

export type Feature = keyof typeof WEIGHTS
export type Weights = Readonly<Record<Feature, number>>
export const FEATURES = Object.keys(WEIGHTS) as Feature[]

/** A memory is a sitting of its own. */
export type SittingSpan = { readonly firstId: number; readonly lastId: number }

export type Candidate = {
  readonly entry: EntryRow
  readonly sitting: SittingSpan
  /** The previous turn of the sitting, if it has an entry. */
  readonly before: EntryRow | undefined
}

/** BM25 saturation and length normalisation, tuned for turns of dialogue. */
const K1 = 0.9
const B = 0.4

/** Weights of the turns around an entry, the first of them for the turn at `from`. */
type Shape = { readonly from: number; readonly weights: readonly number[] }
const AROUND: Shape = { from: -4, weights: [0.5, 0.7, 1, 1, 1, 1, 1, 0.7, 0.5] }
const BEFORE: Shape = { from: -3, weights: [0.5, 0.7, 1, 1] }
/** Number of turns that count as the opening of a sitting. */
const OPENING_TURNS = 20

/** The features of one candidate, in the order of FEATURES. */
export type Features = readonly number[]

/** One row of features per candidate. Pure. */
export function computeFeatures(
  query: Query,
  evidence: Evidence,
  candidates: readonly Candidate[],
): Features[] {
  const { exact, root } = evidence
  const own = scoreOwn(candidates, exact)
  const best = new Map<number, number>()
  candidates.forEach(({ sitting }, index) => {
    best.set(sitting.firstId, Math.max(best.get(sitting.firstId) ?? 0, own.scores[index] ?? 0))
  })
  const before = candidates.map(({ entry, before }) => {
    const isAnswer = before && before.speaker !== entry.speaker && (before.traits & TRAIT.asks) !== 0
    return isAnswer ? before : undefined
  })
  const columns: Record<Feature, readonly number[]> = {
    own: relative(own.scores),
    root: relative(scoreOwn(candidates, root).scores),
    window: relative(scoreShape(candidates, exact, AROUND)),
    rootWindow: relative(scoreShape(candidates, root, AROUND)),
    before: relative(scoreShape(candidates, root, BEFORE)),
    sittingBest: candidates.map(({ sitting }) => (best.get(sitting.firstId) ?? 0) / own.best),
    answers: before.map((turn) => (turn ? own.of(turn) / own.best : 0)),
    speaker: candidates.map(({ entry }) =>
      query.subject === null ? 0.5 : Number(entry.speaker === query.subject),
    ),
    ...dated(query, candidates),
    ...ofTraits(query, candidates),
    opening: candidates.map(
      ({ entry, sitting }) => 1 - Math.min(1, (entry.id - sitting.firstId) / OPENING_TURNS),
    ),
    memory: candidates.map(({ entry }) => Number(entry.id >= FIRST_MEMORY_ID)),
  }
  return candidates.map((_, index) => FEATURES.map((feature) => columns[feature][index] ?? 0))
}

/** BM25 of single entries. A term counts once, because turns are short. */
function scoreOwn(candidates: readonly Candidate[], { masks, idf }: Occurrences) {
  const lengths = candidates.reduce((sum, { entry }) => sum + entry.length, 0)
  const meanLength = lengths / candidates.length
  const of = ({ id, length }: EntryRow) =>
    (sumOf(idf, masks.get(id) ?? 0) * (K1 + 1)) / (1 + K1 * (1 - B + (B * length) / meanLength))
  const scores = candidates.map(({ entry }) => of(entry))
  return { scores, of, best: Math.max(...scores, Number.MIN_VALUE) }
}

/** The terms around an entry in its sitting. Repetitions of a term count less and less. */
function scoreShape(candidates: readonly Candidate[], { masks, idf }: Occurrences, shape: Shape): number[] {
  return candidates.map(({ entry, sitting }) => {
    const counts = idf.map(() => 0)
    for (const [index, weight] of shape.weights.entries()) {
      const id = entry.id + shape.from + index
      if (id < sitting.firstId || id > sitting.lastId) continue
      for (let rest = masks.get(id) ?? 0; rest !== 0; rest &= rest - 1) {
        const term = 31 - Math.clz32(rest & -rest)
        counts[term] = (counts[term] ?? 0) + weight
      }
    }
    return counts.reduce((sum, count, term) => sum + ((idf[term] ?? 0) * count * (K1 + 1)) / (count + K1), 0)
  })
}

function dated({ dates, timezone }: Query, candidates: readonly Candidate[]) {
  const fits = candidates.map(({ entry }) => fitDates(dates, wallClockMs(entry.atMs, timezone)))
  return {
    dateInside: fits.map(({ inside }) => inside),
    dateDay: fits.map(({ day }) => day),
    dateAfter: fits.map(({ after }) => after),
  }
}

function ofTraits({ kinds }: Query, candidates: readonly Candidate[]) {
  const having = (trait: number, isAsked = true) =>
    candidates.map(({ entry }) => Number(isAsked && (entry.traits & trait) !== 0))
  return {
    tellsTime: having(TRAIT.tellsTime, kinds.has('time')),
    tellsNumber: having(TRAIT.tellsNumber, kinds.has('count')),
    tellsName: having(TRAIT.names, kinds.has('name')),
    quotesTitle: having(TRAIT.quotesTitle),
    endsAsking: having(TRAIT.endsAsking),
    acknowledges: having(TRAIT.acknowledges),
  }
}

/** Sum of the weights of the terms in a mask. */
function sumOf(idf: readonly number[], mask: number): number {
  let sum = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) sum += idf[31 - Math.clz32(rest & -rest)] ?? 0
  return sum
}

function relative(scores: readonly number[]): number[] {
  const best = Math.max(...scores, Number.MIN_VALUE)
  return scores.map((score) => score / best)
}
