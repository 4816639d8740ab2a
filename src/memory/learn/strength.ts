import { DAY_MS } from '../../lib/time.ts'
import type { MemoryKind } from './candidate.ts'

/** Decay of ACT-R's base-level learning (Anderson and Schooler 1991). Identity fades more slowly. */
const DECAY = 0.5
const IDENTITY_DECAY = 0.2
/** How much the activation at a repetition adds to its decay (c in Pavlik and Anderson 2005). */
const MASSED_DECAY = 0.217
const MAX_DECAY = 1
/** Keeps the strength of a very recent use finite. */
const MIN_AGE_MS = 1000

/**
 * Strength of a memory, 0..1: ACT-R's base-level activation B = ln Σ ageᵢ^−dᵢ over its uses, squashed by the
 * logistic function. Ages are in units of `halfLifeDays`, so a single use of that age gives 0.5. The decay of
 * a repetition grows with the activation at that time, so spaced repetitions last longer than massed ones
 * (Pavlik and Anderson 2005, equation 5). Uses may be in any order; those after `nowMs` count as made now.
 */
export function strengthOf(
  usedAtMs: readonly number[],
  options: { readonly kind: MemoryKind; readonly nowMs: number; readonly halfLifeDays: number },
): number {
  const unitMs = options.halfLifeDays * DAY_MS
  const base = options.kind === 'identity' ? IDENTITY_DECAY : DECAY
  const ordered = usedAtMs.map((atMs) => Math.min(atMs, options.nowMs)).sort((a, b) => a - b)
  const decays: number[] = []
  for (const atMs of ordered) {
    const met = sumAt(ordered.slice(0, decays.length), decays, atMs, unitMs)
    decays.push(Math.min(MAX_DECAY, base + MASSED_DECAY * met))
  }
  const sum = sumAt(ordered, decays, options.nowMs, unitMs)
  // The logistic of ln x is x / (1 + x).
  return sum / (1 + sum)
}

function sumAt(
  usedAtMs: readonly number[],
  decays: readonly number[],
  nowMs: number,
  unitMs: number,
): number {
  return decays.reduce((sum, decay, index) => {
    const ageMs = Math.max(MIN_AGE_MS, nowMs - (usedAtMs[index] ?? nowMs))
    return sum + (ageMs / unitMs) ** -decay
  }, 0)
}
