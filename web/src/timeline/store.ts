import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { replacedBy } from './branches.ts'
import { cutOf, isErased, isRedacted } from './event-kinds.ts'
import { createReminderStates } from './reminder-states.ts'
import { type Segment, timelineTree } from './tree.ts'

export type TimelineStore = ReturnType<typeof createTimelineStore>

/** All events that this page has seen, in any order of arrival, and their tree. */
export function createTimelineStore() {
  const bySeq = new Map<number, TimelineEvent>()
  /** Seqs from `erased` events, including those of events not loaded yet. */
  const erasedSeqs = new Set<number>()
  /** Seqs of messages that the owner asked not to keep in memory. */
  const barredSeqs = new Set<number>()
  /** Seqs of those that the owner keeps after all, including those whose request is not loaded yet. */
  const keptSeqs = new Set<number>()
  const reminders = createReminderStates()
  /** Redacted copies of replies, by the replies' `seq`. */
  const redactions = new Map<number, string>()
  let sorted: readonly TimelineEvent[] | null = null
  let tree: readonly Segment[] | null = null
  let wholeFromSeq = 0

  function set(event: TimelineEvent): void {
    bySeq.set(event.seq, event)
    sorted = null
    tree = null
  }

  function removeWords(seq: number): void {
    const event = bySeq.get(seq)
    if (!event || isErased(event)) return
    set(withoutWords(event))
    const { replySeq } = event.payload
    if (event.type !== 'reply.redacted' || typeof replySeq !== 'number') return
    // The redacted copy is erased too.
    redactions.delete(replySeq)
    const reply = bySeq.get(replySeq)
    if (reply && isRedacted(reply)) set(erasedCopy(reply))
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

  function isBarred(seq: number): boolean {
    if (keptSeqs.has(seq)) return false
    const event = bySeq.get(seq)
    const replaced = event ? replacedBy(event) : null
    return barredSeqs.has(seq) || (replaced?.sameWords === true && isBarred(replaced.seq))
  }

  return {
    add(events: readonly TimelineEvent[]): void {
      for (const event of events) {
        takeRedaction(event)
        reminders.take(event)
      }
      for (const event of events) {
        const known = bySeq.get(event.seq)
        if (known === undefined) set(erasedSeqs.has(event.seq) ? withoutWords(event) : event)
        else if (rank(event) > rank(known)) set(event)
      }
      for (const seq of events.filter(isForSecrecy).flatMap((event) => seqsIn(event, BARRED, 'sourceSeqs')))
        barredSeqs.add(seq)
      for (const seq of events.flatMap((event) => seqsIn(event, 'memory.sources.kept', 'sourceSeqs')))
        keptSeqs.add(seq)
      for (const seq of events.flatMap((event) => seqsIn(event, 'erased', 'seqs'))) {
        erasedSeqs.add(seq)
        removeWords(seq)
      }
    },
    /** Removes the words of loaded events. Unlike an `erased` event, it does not affect events loaded later. */
    hide(seqs: readonly number[]): void {
      for (const seq of seqs) removeWords(seq)
    },
    /** Sets `wholeFromSeq`. The tree omits segments wholly before it until the gap is closed. */
    setWholeFrom(seq: number): void {
      wholeFromSeq = seq
      tree = null
    },
    get: (seq: number): TimelineEvent | undefined => bySeq.get(seq),
    /**
     * Whether the owner asked not to keep what the message says. The request comes after it, so it is loaded. It
     * holds for the same words asked again, too.
     */
    isBarred,
    /** What became of a reminder. Whatever settles it comes after it, so it is loaded. */
    reminderState: reminders.of,
    /** In order of `seq`. */
    get events(): readonly TimelineEvent[] {
      sorted ??= [...bySeq.values()].toSorted((a, b) => a.seq - b.seq)
      return sorted
    },
    /** Keeps its identity until something changes. */
    get tree(): readonly Segment[] {
      if (tree === null) {
        const opened = new Set(
          this.events.flatMap((each) => (each.type === 'span.opened' ? each.spanId : [])),
        )
        const isOpened = ({ spanId }: Segment) => spanId === null || opened.has(spanId)
        tree = timelineTree(this.events).filter((each) => reaches(each, wholeFromSeq, isOpened))
      }
      return tree
    },
    /** From this `seq` on, all events are loaded; 0 if the whole timeline is. */
    get wholeFromSeq(): number {
      return wholeFromSeq
    },
    /** The highest `seq` seen, 0 before any. */
    get lastSeq(): number {
      return this.events.at(-1)?.seq ?? 0
    },
  }
}

/**
 * Whether a segment reaches into the range without gaps. Activities count only if there is nothing else, and if the
 * beginning of their span is loaded: they may be recorded long after their exchange, as when a memory is found in it.
 */
function reaches(segment: Segment, fromSeq: number, isOpened: (segment: Segment) => boolean): boolean {
  if (fromSeq === 0) return true
  const words = segment.entries.findLast((entry) => entry.kind !== 'activity')
  if (words) return words.event.seq >= fromSeq
  const last = segment.entries.at(-1)
  return last?.kind === 'activity' && isOpened(segment) && (last.events.at(-1)?.seq ?? 0) >= fromSeq
}

const BARRED = 'memory.sources.barred'

/** Earlier builds barred words for forgetting too, which cannot be undone. */
const isForSecrecy = ({ actor, payload }: TimelineEvent) => actor === 'service' && payload.by === 'owner'

function seqsIn(event: TimelineEvent, type: string, field: string): readonly number[] {
  const seqs = event.type === type ? event.payload[field] : null
  return Array.isArray(seqs) ? seqs.filter((seq: unknown) => typeof seq === 'number') : []
}

/** An erased copy replaces any other, and a whole one replaces an excerpt, in any order of arrival. */
function rank(event: TimelineEvent): number {
  if (isErased(event)) return 2
  return cutOf(event) === null ? 1 : 0
}

/** Fields that survive an erasure, among those that this page uses. */
const stays = [
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
  'replaces',
]

function erasedCopy(event: TimelineEvent): TimelineEvent {
  const kept = Object.entries(event.payload).filter(([field]) => stays.includes(field))
  return { ...event, payload: { ...Object.fromEntries(kept), erased: true } }
}
