/**
 * The slots with the highest scores above zero, the best first; of equals the one with the higher number, which
 * is the newer. One pass, and no memory but the result's.
 */
export function topSlots(scores: Float32Array, count: number): number[] {
  // A binary heap with the worst on top.
  const heap: number[] = []
  const scoreAt = (position: number) => scores[heap[position] ?? -1] ?? 0
  const isWorse = (a: number, b: number) =>
    scoreAt(a) < scoreAt(b) || (scoreAt(a) === scoreAt(b) && (heap[a] ?? 0) < (heap[b] ?? 0))
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

  // Descending, so that an equal never takes the place of one that is in.
  for (let slot = scores.length - 1; slot >= 0; slot -= 1) {
    const score = scores[slot] ?? 0
    if (score <= 0) continue
    if (heap.length < count) {
      heap.push(slot)
      for (let at = heap.length - 1; at > 0 && isWorse(at, (at - 1) >> 1); at = (at - 1) >> 1)
        swap(at, (at - 1) >> 1)
    } else if (score > scoreAt(0)) {
      heap[0] = slot
      sink()
    }
  }
  return heap.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || b - a)
}
