/** A ranking and its weight in the fusion. */
export type WeightedRanking = { readonly seqs: readonly number[]; readonly weight: number }

/** Measured: words are more reliable than vectors. The constant is the one of the method's authors. */
export const LEXICAL_WEIGHT = 2
export const VECTOR_WEIGHT = 1
const RANK_CONSTANT = 60

/**
 * Weighted reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): Σ weight ÷ (60 + rank), ranks from 1.
 * Ties keep the order of the first ranking. Returns seqs with fused scores, best first.
 */
export function fuseRankings(rankings: readonly WeightedRanking[]): { seq: number; score: number }[] {
  const scores = new Map<number, number>()
  for (const { seqs, weight } of rankings) {
    seqs.forEach((seq, index) => {
      scores.set(seq, (scores.get(seq) ?? 0) + weight / (RANK_CONSTANT + index + 1))
    })
  }
  return [...scores].map(([seq, score]) => ({ seq, score })).sort((a, b) => b.score - a.score)
}
