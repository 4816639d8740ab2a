import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { cutOf, isErased, isRedacted } from './event-kinds.ts'
import { joinTrees, proposalIdOf, type Segment, treeOfPart } from './tree.ts'

/**
 * All events that this page has seen, in any order of arrival, and their tree. The tree equals `timelineTree`
 * over all events. It is built in parts, so that an update does not rebuild everything.
 */
export type TimelineStore = {
  /** Returns true if something changed. */
  add(events: readonly TimelineEvent[]): boolean
  /** Removes the words of loaded events. Unlike an `erased` event, it does not affect events loaded later. */
  hide(seqs: readonly number[]): boolean
  /** Sets `wholeFromSeq`. The tree omits segments wholly before it until the gap is closed. */
  setWholeFrom(seq: number): void
  get(seq: number): TimelineEvent | undefined
  findLast(test: (event: TimelineEvent) => boolean): TimelineEvent | undefined
  /** Keeps its identity until something changes, and so does each segment. */
  readonly tree: readonly Segment[]
  /** From this `seq` on, all events are loaded; 0 if the whole timeline is. */
  readonly wholeFromSeq: number
  /** The highest `seq` seen, 0 before any. */
  readonly lastSeq: number
}

/** A range of events that shares no span, turn or proposal with another part. Ranges do not overlap. */
type Part = { readonly events: readonly TimelineEvent[]; tree: readonly Segment[] | null }

/** From this size on, the newest part takes no further unrelated events. */
const fullPartEvents = 600

export function createTimelineStore(): TimelineStore {
  const bySeq = new Map<number, TimelineEvent>()
  /** Seqs from `erased` events, including those of events not loaded yet. */
  const erasedSeqs = new Set<number>()
  /** Redacted copies of replies, by the replies' `seq`. */
  const redactions = new Map<number, string>()
  /** The part of each span, turn and proposal. */
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

  /** The parts that must be merged with the new events. */
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

  /** Adds the parts that lie between those to be merged. */
  function withOverlaps(found: ReadonlySet<Part>, from: number, to: number): ReadonlySet<Part> {
    const low = Math.min(from, ...[...found].map(first))
    const high = Math.max(to, ...[...found].map(last))
    const all = new Set(parts.filter((part) => found.has(part) || (first(part) <= high && last(part) >= low)))
    return all.size === found.size ? all : withOverlaps(all, low, high)
  }

  function insert(added: readonly TimelineEvent[]): void {
    const fresh = added.toSorted(bySeqOrder)
    const touched = partsOf(fresh)
    setPart(
      [...touched]
        .flatMap((part) => part.events)
        .concat(fresh)
        .toSorted(bySeqOrder),
      touched,
    )
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
    return removeWords(seq)
  }

  /** Returns true if there were words to remove. */
  function removeWords(seq: number): boolean {
    const event = bySeq.get(seq)
    if (!event || isErased(event)) return false
    replace(withoutWords(event))
    const { replySeq } = event.payload
    if (event.type !== 'reply.redacted' || typeof replySeq !== 'number') return true
    // The redacted copy is erased too.
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
      for (const seq of seqs) changed = removeWords(seq) || changed
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
 * Whether a segment reaches into the range without gaps. Activities count only if there is nothing else: they
 * may be recorded long after their exchange, as when a memory is found in it.
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

/** The span, turn and proposal of an event. Events that share one must be in the same part. */
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

/** An erased copy replaces any other, and a whole one replaces an excerpt, in any order of arrival. */
function rank(event: TimelineEvent): number {
  if (isErased(event)) return 2
  return cutOf(event) === null ? 1 : 0
}

/** Fields that survive an erasure, among those that this page uses. */
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

const bySeqOrder = (a: TimelineEvent, b: TimelineEvent): number => a.seq - b.seq
