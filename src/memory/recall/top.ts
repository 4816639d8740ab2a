/**
 * The slots with the highest scores above zero, best first. `slots` must be unique. Ties go to the higher, that is
 * newer, slot.
 */
export function topSlots(scores: Float32Array, slots: readonly number[], count: number): number[] {
  const least = leastOf(scores, slots, count)
  const scoreOf = (slot: number) => scores[slot] ?? 0
  return slots
    .filter((slot) => scoreOf(slot) > 0 && scoreOf(slot) >= least)
    .sort((a, b) => scoreOf(b) - scoreOf(a) || b - a)
    .slice(0, count)
}

const BINS = 1024

/**
 * A score that at least `count` of the slots reach, or 0 if there are not more slots than that. Uses a
 * histogram instead of sorting.
 */
export function leastOf(scores: Float32Array, slots: readonly number[], count: number): number {
  if (slots.length <= count) return 0
  let highest = 0
  for (const slot of slots) highest = Math.max(highest, scores[slot] ?? 0)
  if (highest === 0) return 0
  const bins = new Uint32Array(BINS + 1)
  const scale = BINS / highest
  for (const slot of slots) {
    const bin = Math.floor((scores[slot] ?? 0) * scale)
    bins[bin] = (bins[bin] ?? 0) + 1
  }
  let reached = 0
  for (let bin = BINS; bin > 0; bin -= 1) {
    reached += bins[bin] ?? 0
    // One bin lower, to allow for rounding.
    if (reached >= count) return (bin - 1) / scale
  }
  return 0
}
