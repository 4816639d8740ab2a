import type { Channel, TimelineEvent } from '../data/timeline.ts'
import { classify, type EventClass, type Role, wordsOf } from './event-kinds.ts'

export type Message = {
  readonly kind: 'message'
  readonly role: Role
  readonly event: TimelineEvent
  /** The delegate's first words in its turn. */
  readonly firstReply: boolean
  /** The owner's words wait until the reply that is being written is finished. */
  readonly waiting: boolean
}
/** What the delegate did for a turn (or, without one, on its own), folded beside what it said. */
export type Activity = {
  readonly kind: 'activity'
  readonly key: string
  readonly turnId: string | null
  readonly events: TimelineEvent[]
  /** The turn has begun and not yet ended. */
  running: boolean
}
/** Something that waits, or waited, for the owner's word. */
export type Proposal = {
  readonly kind: 'proposal'
  readonly event: TimelineEvent
  word: 'confirmed' | 'declined' | null
  /** What came of a confirmed deed; null while it is not known. */
  outcome: ProposalOutcome | null
}
export type ProposalOutcome = { readonly isDone: boolean; readonly text: string }
export type Entry =
  | Message
  | Activity
  | Proposal
  | { readonly kind: 'failure' | 'notice' | 'boundary'; readonly event: TimelineEvent }

/**
 * A stretch of the timeline that belongs together: a span, or the part of it up to where another span's words
 * came in between; so that words always stand in the order in which they were said.
 */
export type Segment = {
  readonly key: string
  readonly spanId: string | null
  /** The span's kind as its opening says; `loose` for what belongs to no span, `background` for inner life. */
  readonly kind: string
  /** A later part of a span that was interrupted by another. */
  readonly continued: boolean
  channel: Channel | null
  /** Why the span ended; null while it is open, or has no end. */
  closedReason: string | null
  readonly entries: Entry[]
  readonly firstSeq: number
  firstVisibleSeq: number | null
  at: string
  lastAt: string
}

type Span = { readonly kind: string; closedReason: string | null; readonly segments: Segment[] }
type Turn = {
  activity: Activity | null
  home: Segment | null
  started: boolean
  ended: boolean
  replied: boolean
  /** The message that it will answer, received while another turn of the same span was running. */
  queued: TimelineEvent | null
}

const turnEnds = new Set(['turn.completed', 'turn.failed', 'chat.reply.stopped'])

/**
 * The timeline as it is read, from events in ascending order of `seq`. Pure: the same events give the same
 * tree, and every event that is not structure is in it exactly once. Internal events stand with the turn that
 * they belong to, wherever their own place in the order is.
 */
export function timelineTree(events: readonly TimelineEvent[]): readonly Segment[] {
  return joinTrees([treeOfPart(events)])
}

/**
 * The tree of a part of the timeline, not joined yet. Parts whose ranges of `seq` do not overlap, and that share
 * no span and no turn, have the same tree together as apart: `joinTrees` of theirs is the tree of all.
 */
export function treeOfPart(events: readonly TimelineEvent[]): readonly Segment[] {
  const spans = new Map<string, Span>()
  const turns = new Map<string, Turn>()
  /** The turn that runs in each span. */
  const running = new Map<string, Turn>()
  const words = new Map<string, 'confirmed' | 'declined'>()
  const outcomes = new Map<string, ProposalOutcome>()
  const order: Segment[] = []
  let lastVisible: Segment | null = null
  /** The segment that stands last so far. */
  let newest: Segment | null = null

  /** Named and ordered by `event`. */
  function newSegment(event: TimelineEvent, kind: string, span: Span | null): Segment {
    const first = span === null || span.segments.length === 0
    const key = event.spanId === null || span === null ? `${kind}:${event.seq}` : event.spanId
    const segment: Segment = {
      key: first ? key : `${key}+${event.seq}`,
      spanId: span ? event.spanId : null,
      kind,
      continued: !first,
      channel: event.channel,
      closedReason: null,
      entries: [],
      firstSeq: event.seq,
      firstVisibleSeq: null,
      at: event.at,
      lastAt: event.at,
    }
    span?.segments.push(segment)
    order.push(segment)
    newest = segment
    return segment
  }

  /** Where an event of no span goes: to its like, where that stands last. */
  function looseSegment(event: TimelineEvent, kind: 'loose' | 'background'): Segment {
    return newest?.spanId === null && newest.kind === kind ? newest : newSegment(event, kind, null)
  }

  function spanOf(event: TimelineEvent): Span | null {
    if (event.spanId === null) return null
    const known = spans.get(event.spanId)
    if (known) return known
    const kind = event.type === 'span.opened' ? event.payload.kind : null
    const span: Span = {
      kind: typeof kind === 'string' ? kind : 'interaction',
      closedReason: null,
      segments: [],
    }
    spans.set(event.spanId, span)
    return span
  }

  function turnOf(event: TimelineEvent): Turn | null {
    if (event.turnId === null) return null
    const known = turns.get(event.turnId)
    const turn = known ?? {
      activity: null,
      home: null,
      started: false,
      ended: false,
      replied: false,
      queued: null,
    }
    if (!known) turns.set(event.turnId, turn)
    turn.started ||= event.type === 'turn.started'
    turn.ended ||= turnEnds.has(event.type)
    if (event.spanId !== null && turn.started && !turn.ended) running.set(event.spanId, turn)
    else if (event.spanId !== null && running.get(event.spanId) === turn) running.delete(event.spanId)
    return turn
  }

  /** A message that came during another turn stands where its own turn begins, below the reply that it waited for. */
  function placeQueued(turn: Turn, cause: TimelineEvent): void {
    const { queued } = turn
    if (!queued) return
    turn.queued = null
    const waiting = cause === queued
    placeVisible(queued, messageEntry(queued, 'owner', turn, waiting), spanOf(queued), turn, cause)
  }

  function isQueued(event: TimelineEvent, turn: Turn | null): turn is Turn {
    if (event.type !== 'chat.message.received' || event.spanId === null || turn === null) return false
    const other = running.get(event.spanId)
    return other !== undefined && other !== turn
  }

  /** Puts an entry behind all that `cause`, the event that brings it up, came after. */
  function placeVisible(
    event: TimelineEvent,
    entry: Entry,
    span: Span | null,
    turn: Turn | null,
    cause = event,
  ): void {
    const latest = span?.segments.at(-1)
    const fits = latest && (latest.firstVisibleSeq === null || latest === lastVisible)
    const segment = fits ? latest : span ? newSegment(cause, span.kind, span) : looseSegment(event, 'loose')
    if (segment.firstVisibleSeq === null) {
      newest = segment
      segment.firstVisibleSeq = cause.seq
      segment.at = event.at
      segment.channel = event.channel ?? segment.channel
    }
    segment.lastAt = event.at
    const isAnswer = entry.kind === 'failure' || (entry.kind === 'message' && entry.role === 'delegate')
    if (turn?.activity && turn.home && turn.home !== segment && isAnswer) {
      turn.home.entries.splice(turn.home.entries.indexOf(turn.activity), 1)
      segment.entries.push(turn.activity)
      turn.home = segment
    }
    segment.entries.push(entry)
    if (turn && !turn.activity) turn.home = segment
    lastVisible = segment
  }

  function placeInternal(event: TimelineEvent, span: Span | null, turn: Turn | null): void {
    if (turn?.activity) {
      turn.activity.events.push(event)
      return
    }
    const segment =
      span?.segments.at(-1) ??
      (span ? newSegment(event, span.kind, span) : (turn?.home ?? looseSegment(event, 'background')))
    const last = segment.entries.at(-1)
    if (turn === null && last?.kind === 'activity' && last.turnId === null) {
      last.events.push(event)
      return
    }
    const key = event.turnId === null ? `activity:${event.seq}` : `activity:${event.turnId}`
    const activity: Activity = {
      kind: 'activity',
      key,
      turnId: event.turnId,
      events: [event],
      running: false,
    }
    segment.entries.push(activity)
    if (turn) {
      turn.activity = activity
      turn.home = segment
    }
  }

  for (const event of events) {
    const is = classify(event)
    const span = spanOf(event)
    const turn = turnOf(event)
    if (isQueued(event, turn)) {
      turn.queued = event
      continue
    }
    if (turn) placeQueued(turn, event)
    if (is.kind === 'structure') {
      if (event.type === 'span.closed' && span) span.closedReason = reasonOf(event)
      const id = proposalIdOf(event)
      if (id !== null && event.type === 'proposal.completed') outcomes.set(id, outcomeOf(event))
      else if (id !== null) words.set(id, event.type === 'proposal.confirmed' ? 'confirmed' : 'declined')
    } else if (is.kind === 'internal') {
      placeInternal(event, span, turn)
    } else {
      const entry = entryOf(event, is, turn)
      placeVisible(event, entry, is.kind === 'boundary' ? null : span, turn)
    }
  }
  for (const turn of turns.values()) {
    if (turn.activity) turn.activity.running = turn.started && !turn.ended
    if (turn.queued) placeQueued(turn, turn.queued)
  }
  for (const span of spans.values()) {
    for (const segment of span.segments) segment.closedReason = span.closedReason
  }
  for (const entry of order.flatMap(({ entries }) => entries)) {
    if (entry.kind !== 'proposal') continue
    const id = proposalIdOf(entry.event) ?? ''
    entry.word = words.get(id) ?? null
    entry.outcome = outcomes.get(id) ?? null
  }
  return order
    .filter((segment) => segment.entries.length > 0)
    .map((segment) => (isSilent(segment) ? asBackground(segment) : segment))
    .toSorted((a, b) => (a.firstVisibleSeq ?? a.firstSeq) - (b.firstVisibleSeq ?? b.firstSeq))
}

type VisibleClass = Extract<EventClass, { kind: 'message' | 'failure' | 'proposal' | 'notice' | 'boundary' }>

function entryOf(event: TimelineEvent, is: VisibleClass, turn: Turn | null): Entry {
  if (is.kind === 'proposal') return { kind: is.kind, event, word: null, outcome: null }
  if (is.kind !== 'message') return { kind: is.kind, event }
  return messageEntry(event, is.role, turn, false)
}

function messageEntry(event: TimelineEvent, role: Role, turn: Turn | null, waiting: boolean): Message {
  const firstReply = role === 'delegate' && turn !== null && !turn.replied
  if (turn && firstReply) turn.replied = true
  return { kind: 'message', role, event, firstReply, waiting }
}

/** What it did on its own without a word to the owner. */
function isSilent({ kind, firstVisibleSeq }: Segment): boolean {
  return kind === 'activation' && firstVisibleSeq === null
}

function asBackground(segment: Segment): Segment {
  const events = segment.entries.flatMap((entry) => (entry.kind === 'activity' ? entry.events : []))
  const key = `activity:${segment.firstSeq}`
  return {
    ...segment,
    key: `background:${segment.firstSeq}`,
    spanId: null,
    kind: 'background',
    continued: false,
    entries: [{ kind: 'activity', key, turnId: null, events, running: false }],
  }
}

function joins(segment: Segment, next: Segment): boolean {
  return segment.spanId === null && next.spanId === null && segment.kind === next.kind
}

/** Puts trees one after the other; what belongs to no span and stands side by side becomes one segment. */
export function joinTrees(trees: readonly (readonly Segment[])[]): readonly Segment[] {
  const joined: Segment[] = []
  for (const tree of trees) {
    for (const segment of tree) {
      const last = joined.at(-1)
      if (last && joins(last, segment)) joined[joined.length - 1] = joinSegments(last, segment)
      else joined.push(segment)
    }
  }
  return joined
}

function joinSegments(segment: Segment, next: Segment): Segment {
  // What nobody sees lets no segment last longer.
  const lastAt = next.firstVisibleSeq === null ? segment.lastAt : next.lastAt
  return { ...segment, lastAt, entries: joinEntries(segment.entries, next.entries) }
}

function joinEntries(entries: readonly Entry[], next: readonly Entry[]): Entry[] {
  const last = entries.at(-1)
  const [first, ...rest] = next
  const areOne =
    last?.kind === 'activity' && first?.kind === 'activity' && last.turnId === null && first.turnId === null
  if (!areOne) return [...entries, ...next]
  return [...entries.slice(0, -1), { ...last, events: [...last.events, ...first.events] }, ...rest]
}

function outcomeOf(event: TimelineEvent): ProposalOutcome {
  return { isDone: event.payload.outcome === 'done', text: wordsOf(event) }
}

/** The proposal that an event makes or settles; null for any other event. */
export function proposalIdOf({ payload }: TimelineEvent): string | null {
  return typeof payload.proposalId === 'string' ? payload.proposalId : null
}

function reasonOf(event: TimelineEvent): string {
  return typeof event.payload.reason === 'string' ? event.payload.reason : 'completed'
}
