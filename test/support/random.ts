/** Pseudo-random numbers: the same seed gives the same sequence. */
export type Random = {
  /** From 0 inclusive to 1 exclusive. */
  next(): number
  /** A whole number from 0 inclusive to `below` exclusive. */
  below(below: number): number
  chance(probability: number): boolean
  /** Throws if there is nothing to pick from. */
  pick<T>(from: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
}

/** Mulberry32 (Tommy Ettinger, public domain): small, fast, and random enough here. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick<T>(from: readonly T[]): T {
      const picked = from[below(from.length)]
      if (picked === undefined) throw new Error('there is nothing to pick from')
      return picked
    },
    shuffled<T>(items: readonly T[]): T[] {
      const left = [...items]
      const taken: T[] = []
      while (left.length > 0) taken.push(...left.splice(below(left.length), 1))
      return taken
    },
  }
}
