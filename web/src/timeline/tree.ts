import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { classify, type EventClass, type Role, wordsOf } from './event-kinds.ts'

export type Message = {
  readonly kind: 'message'
  readonly role: Role
  readonly event: TimelineEvent
  /** True for the delegate's first words in its turn. */
  readonly firstReply: boolean
  /** True for a message of the owner that waits until the running reply is finished. */
  readonly waiting: boolean
}
/** The delegate's work on a turn, or on its own if `turnId` is null. Shown folded. */
export type Activity = {
  readonly kind: 'activity'
  readonly key: string
  readonly turnId: string | null
  readonly events: TimelineEvent[]
  /** True while the turn is in progress. */
  running: boolean
}
/** Something that needs, or needed, the owner's confirmation. */
export type Proposal = {
  readonly kind: 'proposal'
  readonly event: TimelineEvent
  word: 'confirmed' | 'declined' | null
  /** Outcome of a confirmed deed; null until known. */
  outcome: ProposalOutcome | null
}
export type ProposalOutcome = { readonly isDone: boolean; readonly text: string }
export type Entry =
  | Message
  | Activity
  | Proposal
  | { readonly kind: 'failure' | 'notice' | 'boundary'; readonly event: TimelineEvent }

/**
 * Consecutive entries of one span. If another span's words come in between, the span continues in a new
 * segment, so that words stay in the order in which they were said.
 */
export type Segment = {
  readonly key: string
  readonly spanId: string | null
  /** The span's kind from `span.opened`. Without a span: `background` for internal events, else `loose`. */
  readonly kind: string
  /** True for a later segment of the same span. */
  readonly continued: boolean
  channel: string | null
  /** Why the span ended; null while it is open. */
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
  /** Its message, if received while another turn of the same span was running. */
  queued: TimelineEvent | null
}

const turnEnds = new Set(['turn.completed', 'turn.failed', 'chat.reply.stopped'])

/**
 * The timeline as shown, from events in ascending order of `seq`. Pure. Every event that is not structure is
 * in the tree exactly once. Internal events are placed with their turn, not by their own `seq`.
 */
export function timelineTree(events: readonly TimelineEvent[]): readonly Segment[] {
  const spans = new Map<string, Span>()
  const turns = new Map<string, Turn>()
  /** The running turn of each span. */
  const running = new Map<string, Turn>()
  const words = new Map<string, 'confirmed' | 'declined'>()
  const outcomes = new Map<string, ProposalOutcome>()
  const order: Segment[] = []
  let lastVisible: Segment | null = null
  /** The last segment in display order. */
  let newest: Segment | null = null

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

  /** The segment for an event without a span: the last one if it is of the same kind, else a new one. */
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

  /** Places a queued message where its own turn begins, below the reply that it waited for. */
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

  /** Places an entry in the order of `cause`, the event that makes it appear. */
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
  return joined(
    order
      .filter((segment) => segment.entries.length > 0)
      .map((segment) => (isSilent(segment) ? asBackground(segment) : segment))
      .toSorted((a, b) => (a.firstVisibleSeq ?? a.firstSeq) - (b.firstVisibleSeq ?? b.firstSeq)),
  )
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

/** True for an activation that said nothing to the owner. */
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

/** Merges adjacent segments without a span that are of the same kind. */
function joined(segments: readonly Segment[]): readonly Segment[] {
  const result: Segment[] = []
  for (const segment of segments) {
    const last = result.at(-1)
    if (last && joins(last, segment)) result[result.length - 1] = joinSegments(last, segment)
    else result.push(segment)
  }
  return result
}

function joinSegments(segment: Segment, next: Segment): Segment {
  // Invisible entries do not extend a segment.
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
function proposalIdOf({ payload }: TimelineEvent): string | null {
  return typeof payload.proposalId === 'string' ? payload.proposalId : null
}

function reasonOf(event: TimelineEvent): string {
  return typeof event.payload.reason === 'string' ? event.payload.reason : 'completed'
}
