/** A seeded pseudo-random generator (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    below,
    chance: (probability: number): boolean => next() < probability,
    pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    shuffled<T>(items: readonly T[]): T[] {
      const left = [...items]
      const taken: T[] = []
      while (left.length > 0) taken.push(...left.splice(below(left.length), 1))
      return taken
    },
  }
}

export type Random = ReturnType<typeof createRandom>
