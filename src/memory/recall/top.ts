/**
 * The slots with the highest scores above zero, best first. `slots` must be unique. Ties go to the higher,
 * that is newer, slot. One pass; allocates only the result.
 */
export function topSlots(scores: Float32Array, slots: readonly number[], count: number): number[] {
  // A binary heap with the worst on top.
  const heap: number[] = []
  const scoreAt = (position: number) => scores[heap[position] ?? -1] ?? 0
  const isLess = (score: number, slot: number, position: number) =>
    score < scoreAt(position) || (score === scoreAt(position) && slot < (heap[position] ?? 0))
  const isWorse = (a: number, b: number) => isLess(scoreAt(a), heap[a] ?? 0, b)
  const swap = (a: number, b: number) => {
    const slot = heap[a] ?? 0
    heap[a] = heap[b] ?? 0
    heap[b] = slot
  }
  function sink(): void {
    for (let at = 0; ; ) {
      let worst = at
      if (2 * at + 1 < heap.length && isWorse(2 * at + 1, worst)) worst = 2 * at + 1
      if (2 * at + 2 < heap.length && isWorse(2 * at + 2, worst)) worst = 2 * at + 2
      if (worst === at) return
      swap(at, worst)
      at = worst
    }
  }

  // From the end: with ties, each newer slot would otherwise replace an older one.
  for (let index = slots.length - 1; index >= 0; index -= 1) {
    const slot = slots[index] ?? -1
    const score = scores[slot] ?? 0
    if (score <= 0) continue
    if (heap.length < count) {
      heap.push(slot)
      for (let at = heap.length - 1; at > 0 && isWorse(at, (at - 1) >> 1); at = (at - 1) >> 1)
        swap(at, (at - 1) >> 1)
    } else if (count > 0 && !isLess(score, slot, 0)) {
      heap[0] = slot
      sink()
    }
  }
  return heap.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || b - a)
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
