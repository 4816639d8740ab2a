import type { TimelineEvent } from '../data/timeline.ts'
import { cutOf, isErased, isRedacted } from './event-kinds.ts'
import { joinTrees, proposalIdOf, type Segment, treeOfPart } from './tree.ts'

/**
 * Every event that this page has seen, once each, in whatever order and however often the service delivered
 * them, and the tree that they make. The tree is that of `timelineTree` over all events; it is kept in parts, so
 * that a page or a live event costs what it holds, not what was loaded before.
 */
export type TimelineStore = {
  /** True where something changed. */
  add(events: readonly TimelineEvent[]): boolean
  /** Takes the words away of those that are here; unlike `erased`, says nothing of what is still to come. */
  hide(seqs: readonly number[]): boolean
  /** From this `seq` on everything is here; what lies wholly before it is in no tree until the gap is closed. */
  setWholeFrom(seq: number): void
  get(seq: number): TimelineEvent | undefined
  /** The last event that `test` accepts. */
  findLast(test: (event: TimelineEvent) => boolean): TimelineEvent | undefined
  /** The same array until something changes; segments that did not change are the same objects. */
  readonly tree: readonly Segment[]
  /** From here on everything is here; 0 where there is nothing before. */
  readonly wholeFromSeq: number
  /** The highest `seq` seen, 0 before any. */
  readonly lastSeq: number
}

/** Events that share no span and no turn with those of other parts, in a range of `seq` of their own. */
type Part = { readonly events: readonly TimelineEvent[]; tree: readonly Segment[] | null }

/** Above this many events the newest part takes no further ones that do not belong to it. */
const fullPartEvents = 600

export function createTimelineStore(): TimelineStore {
  const bySeq = new Map<number, TimelineEvent>()
  /** Named by an `erased` fact, whether or not the event itself has been seen yet. */
  const erasedSeqs = new Set<number>()
  /** What is left of replies, by their `seq`. */
  const redactions = new Map<number, string>()
  /** The part of each span and turn. */
  const partByGroup = new Map<string, Part>()
  /** Ascending by `seq`. */
  let parts: readonly Part[] = []
  let joined: readonly Segment[] | null = null
  let wholeFromSeq = 0

  function setPart(events: readonly TimelineEvent[], replaced: ReadonlySet<Part>): void {
    const part: Part = { events, tree: null }
    for (const event of events) for (const group of groupsOf(event)) partByGroup.set(group, part)
    parts = [...parts.filter((other) => !replaced.has(other)), part].toSorted((a, b) => first(a) - first(b))
    joined = null
  }

  /** The parts that these new events must become one with. */
  function partsOf(added: readonly TimelineEvent[]): ReadonlySet<Part> {
    const found = new Set<Part>()
    for (const event of added) {
      for (const group of groupsOf(event)) {
        const part = partByGroup.get(group)
        if (part) found.add(part)
      }
    }
    const newest = parts.at(-1)
    const [from, to] = [added[0]?.seq ?? 0, added.at(-1)?.seq ?? 0]
    if (newest && from > last(newest) && newest.events.length < fullPartEvents) found.add(newest)
    return withOverlaps(found, from, to)
  }

  /** What lies between parts that become one becomes part of it too. */
  function withOverlaps(found: ReadonlySet<Part>, from: number, to: number): ReadonlySet<Part> {
    const low = Math.min(from, ...[...found].map(first))
    const high = Math.max(to, ...[...found].map(last))
    const all = new Set(parts.filter((part) => found.has(part) || (first(part) <= high && last(part) >= low)))
    return all.size === found.size ? all : withOverlaps(all, low, high)
  }

  function insert(added: readonly TimelineEvent[]): void {
    const fresh = added.toSorted((a, b) => a.seq - b.seq)
    const touched = partsOf(fresh)
    const events = [...touched].flatMap((part) => part.events)
    setPart(events.length === 0 ? fresh : merge(events, fresh), touched)
  }

  function replace(event: TimelineEvent): void {
    bySeq.set(event.seq, event)
    const part = parts.find((candidate) => first(candidate) <= event.seq && last(candidate) >= event.seq)
    if (!part) return
    const events = part.events.map((other) => (other.seq === event.seq ? event : other))
    setPart(events, new Set([part]))
  }

  function erase(seq: number): boolean {
    erasedSeqs.add(seq)
    return takeWords(seq)
  }

  /** True where there were words to take. */
  function takeWords(seq: number): boolean {
    const event = bySeq.get(seq)
    if (!event || isErased(event)) return false
    replace(withoutWords(event))
    const { replySeq } = event.payload
    if (event.type !== 'reply.redacted' || typeof replySeq !== 'number') return true
    // What was left of the reply goes as well.
    redactions.delete(replySeq)
    const reply = bySeq.get(replySeq)
    if (reply && isRedacted(reply)) replace(erasedCopy(reply))
    return true
  }

  function withoutWords(event: TimelineEvent): TimelineEvent {
    const text = redactions.get(event.seq)
    const { payload, ...rest } = erasedCopy(event)
    if (text === undefined) return { ...rest, payload }
    const { erased: _, ...kept } = payload
    return { ...rest, payload: { ...kept, text, redacted: true } }
  }

  function takeRedaction({ type, payload: { replySeq, text } }: TimelineEvent): void {
    if (type === 'reply.redacted' && typeof replySeq === 'number' && typeof text === 'string')
      redactions.set(replySeq, text)
  }

  return {
    add(events) {
      const added: TimelineEvent[] = []
      let changed = false
      for (const event of events) takeRedaction(event)
      for (const event of events) {
        const known = bySeq.get(event.seq)
        if (known === undefined) {
          const stored = erasedSeqs.has(event.seq) ? withoutWords(event) : event
          bySeq.set(event.seq, stored)
          added.push(stored)
        } else if (rank(event) > rank(known)) {
          const position = added.indexOf(known)
          if (position >= 0) added[position] = event
          replace(event)
          changed = true
        }
      }
      if (added.length > 0) insert(added)
      for (const seq of events.flatMap(erasedBy)) changed = erase(seq) || changed
      return changed || added.length > 0
    },
    hide(seqs) {
      let changed = false
      for (const seq of seqs) changed = takeWords(seq) || changed
      return changed
    },
    setWholeFrom(seq) {
      wholeFromSeq = seq
      joined = null
    },
    get: (seq) => bySeq.get(seq),
    findLast(test) {
      for (const part of parts.toReversed()) {
        const found = part.events.findLast(test)
        if (found) return found
      }
      return undefined
    },
    get tree() {
      joined ??= joinTrees(
        parts.map((part) => {
          part.tree ??= treeOfPart(part.events)
          return part.tree
        }),
      ).filter((segment) => reaches(segment, wholeFromSeq))
      return joined
    },
    get wholeFromSeq() {
      return wholeFromSeq
    },
    get lastSeq() {
      const newest = parts.at(-1)
      return newest ? last(newest) : 0
    },
  }
}

/**
 * Whether a segment belongs to what is here without a gap. By its words, where it has any: what is told of an exchange
 * long after it (a memory found in it) stands with it, and does not bring it before its time.
 */
function reaches({ entries }: Segment, fromSeq: number): boolean {
  if (fromSeq === 0) return true
  const last = entries.findLast((entry) => entry.kind !== 'activity') ?? entries.at(-1)
  if (!last) return false
  return (last.kind === 'activity' ? (last.events.at(-1)?.seq ?? 0) : last.event.seq) >= fromSeq
}

function first(part: Part): number {
  return part.events[0]?.seq ?? 0
}

function last(part: Part): number {
  return part.events.at(-1)?.seq ?? 0
}

/** What an event belongs to, and so cannot be told apart from. */
function groupsOf(event: TimelineEvent): readonly string[] {
  const { spanId, turnId } = event
  const proposalId = proposalIdOf(event)
  return [
    ...(spanId === null ? [] : [`span:${spanId}`]),
    ...(turnId === null ? [] : [`turn:${turnId}`]),
    ...(proposalId === null ? [] : [`proposal:${proposalId}`]),
  ]
}

function erasedBy({ type, payload }: TimelineEvent): readonly number[] {
  if (type !== 'erased' || !Array.isArray(payload.seqs)) return []
  return payload.seqs.filter((seq: unknown) => typeof seq === 'number')
}

/** An erased copy replaces any other; a whole one replaces an excerpt. The outcome depends on no order. */
function rank(event: TimelineEvent): number {
  if (isErased(event)) return 2
  return cutOf(event) === null ? 1 : 0
}

/** What stays when the words go: the structural part of the facts that this page makes use of. */
const permanent = [
  'party',
  'kind',
  'callId',
  'tool',
  'outcome',
  'reason',
  'durationMs',
  'usage',
  'trigger',
  'ids',
]

function erasedCopy(event: TimelineEvent): TimelineEvent {
  const kept = Object.entries(event.payload).filter(([field]) => permanent.includes(field))
  return { ...event, payload: { ...Object.fromEntries(kept), erased: true } }
}

/** One ascending list of two; linear. */
function merge(a: readonly TimelineEvent[], b: readonly TimelineEvent[]): readonly TimelineEvent[] {
  const merged: TimelineEvent[] = []
  let next = 0
  for (const event of a.toSorted((x, y) => x.seq - y.seq)) {
    for (let other = b[next]; other && other.seq < event.seq; other = b[next]) {
      merged.push(other)
      next += 1
    }
    merged.push(event)
  }
  return [...merged, ...b.slice(next)]
}
