import type { TimelineEvent } from '../data/timeline.ts'
import { cutOf, isErased } from './event-kinds.ts'

/**
 * Every event that this page has seen, once each, in the order of `seq`, in whatever order and however often the
 * service delivered them.
 */
export type TimelineStore = {
  /** True where something changed. */
  add(events: readonly TimelineEvent[]): boolean
  get(seq: number): TimelineEvent | undefined
  /** Ascending by `seq`; a new array after each change. */
  readonly events: readonly TimelineEvent[]
  /** The highest `seq` seen, 0 before any. */
  readonly lastSeq: number
}

/** An erased copy replaces any other; a whole one replaces an excerpt. The outcome depends on no order. */
function rank(event: TimelineEvent): number {
  if (isErased(event)) return 2
  return cutOf(event) === null ? 1 : 0
}

export function createTimelineStore(): TimelineStore {
  const bySeq = new Map<number, TimelineEvent>()
  /** Named by an `erased` fact, whether or not the event itself has been seen yet. */
  const erasedSeqs = new Set<number>()
  let sorted: readonly TimelineEvent[] = []

  function erase(seq: number): boolean {
    erasedSeqs.add(seq)
    const event = bySeq.get(seq)
    if (!event || isErased(event)) return false
    bySeq.set(seq, erasedCopy(event))
    return true
  }

  return {
    add(events) {
      const added: TimelineEvent[] = []
      let replaced = false
      for (const event of events) {
        const known = bySeq.get(event.seq)
        if (known === undefined) {
          bySeq.set(event.seq, erasedSeqs.has(event.seq) ? erasedCopy(event) : event)
          added.push(event)
        } else if (rank(event) > rank(known)) {
          bySeq.set(event.seq, event)
          replaced = true
        }
        if (event.type === 'erased' && Array.isArray(event.payload.seqs)) {
          for (const seq of event.payload.seqs) if (typeof seq === 'number') replaced = erase(seq) || replaced
        }
      }
      if (added.length === 0 && !replaced) return false
      sorted = merge(sorted, added, bySeq)
      return true
    },
    get: (seq) => bySeq.get(seq),
    get events() {
      return sorted
    },
    get lastSeq() {
      return sorted.at(-1)?.seq ?? 0
    },
  }
}

function erasedCopy(event: TimelineEvent): TimelineEvent {
  const { party, kind } = event.payload
  return { ...event, payload: { erased: true, ...(party ? { party } : {}), ...(kind ? { kind } : {}) } }
}

/** Linear: a page of events is merged into the ones that are there. */
function merge(
  sorted: readonly TimelineEvent[],
  added: readonly TimelineEvent[],
  bySeq: ReadonlyMap<number, TimelineEvent>,
): readonly TimelineEvent[] {
  const fresh = added.toSorted((a, b) => a.seq - b.seq)
  const merged: TimelineEvent[] = []
  let next = 0
  const push = (seq: number) => {
    const event = bySeq.get(seq)
    if (event) merged.push(event)
  }
  for (const { seq } of sorted) {
    for (let event = fresh[next]; event && event.seq < seq; event = fresh[next]) {
      push(event.seq)
      next += 1
    }
    push(seq)
  }
  for (const event of fresh.slice(next)) push(event.seq)
  return merged
}
