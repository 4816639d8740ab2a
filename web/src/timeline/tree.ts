import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { type Branch, foldBranches, replacedBy } from './branches.ts'
import { classify, type EventClass, type Role, wordsOf } from './event-kinds.ts'

export type Message = {
  readonly kind: 'message'
  readonly role: Role
  readonly event: TimelineEvent
  /** True for the delegate's first words in its turn. */
  readonly firstReply: boolean
  /** True for a message of the owner that waits until the running reply is finished. */
  readonly waiting: boolean
  /** The note that holds the whole of a long answer, of which these words are only the beginning; else null. */
  readonly answerNoteId: string | null
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
  | Branch
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
  /** The notes that it created otherwise than by a tool, for a long answer. */
  readonly noteIds: Set<unknown>
}

const turnEnds = new Set(['turn.completed', 'turn.failed', 'chat.reply.stopped'])

/**
 * The timeline as shown, from events in ascending order of `seq`. Pure. Every event that is not structure is
 * in the tree exactly once. Internal events are placed with their turn, not by their own `seq`.
 */
export function timelineTree(events: readonly TimelineEvent[]): readonly Segment[] {
  const tree = new Tree()
  for (const event of events) tree.add(event)
  return tree.segments()
}

class Tree {
  private readonly spans = new Map<string, Span>()
  private readonly turns = new Map<string, Turn>()
  /** The running turn of each span. */
  private readonly running = new Map<string, Turn>()
  private readonly proposals = new Map<unknown, Proposal>()
  /** The turns whose message another one took the place of, and whether that one has the same words. */
  private readonly replaced = new Map<string, boolean>()
  private readonly order: Segment[] = []
  private lastVisible: Segment | null = null
  /** The last segment in display order. */
  private newest: Segment | null = null

  add(event: TimelineEvent): void {
    const is = classify(event)
    const span = this.spanOf(event)
    const turn = this.turnOf(event)
    this.endReplaced(event)
    if (this.isQueued(event, turn)) {
      turn.queued = event
      return
    }
    if (turn) this.placeQueued(turn, event)
    if (is.kind === 'structure') this.settle(event, span)
    else if (is.kind === 'internal') this.placeInternal(event, span, turn)
    else this.placeVisible(event, this.entryOf(event, is, turn), is.kind === 'boundary' ? null : span, turn)
  }

  segments(): readonly Segment[] {
    for (const turn of this.turns.values()) {
      if (turn.activity) turn.activity.running = turn.started && !turn.ended
      if (turn.queued) this.placeQueued(turn, turn.queued)
    }
    return joined(
      this.order
        .filter((segment) => segment.entries.length > 0)
        .map((segment) => (isSilent(segment) ? asBackground(segment) : segment))
        .toSorted((a, b) => (a.firstVisibleSeq ?? a.firstSeq) - (b.firstVisibleSeq ?? b.firstSeq)),
    ).map((segment) => ({ ...segment, entries: foldBranches(segment, this.replaced) }))
  }

  private newSegment(event: TimelineEvent, kind: string, span: Span | null): Segment {
    const first = span === null || span.segments.length === 0
    const key = event.spanId === null || span === null ? `${kind}:${event.seq}` : event.spanId
    const segment: Segment = {
      key: first ? key : `${key}+${event.seq}`,
      spanId: span ? event.spanId : null,
      kind,
      continued: !first,
      channel: event.channel,
      closedReason: span?.closedReason ?? null,
      entries: [],
      firstSeq: event.seq,
      firstVisibleSeq: null,
      at: event.at,
    }
    span?.segments.push(segment)
    this.order.push(segment)
    this.newest = segment
    return segment
  }

  /** The segment for an event without a span: the last one if it is of the same kind, else a new one. */
  private looseSegment(event: TimelineEvent, kind: 'loose' | 'background'): Segment {
    const { newest } = this
    return newest?.spanId === null && newest.kind === kind ? newest : this.newSegment(event, kind, null)
  }

  private spanOf({ type, spanId, payload }: TimelineEvent): Span | null {
    if (spanId === null) return null
    const known = this.spans.get(spanId)
    if (known) return known
    const kind = type === 'span.opened' && typeof payload.kind === 'string' ? payload.kind : 'interaction'
    const span: Span = { kind, closedReason: null, segments: [] }
    this.spans.set(spanId, span)
    return span
  }

  private turnOf({ type, turnId, spanId, payload }: TimelineEvent): Turn | null {
    if (turnId === null) return null
    const turn = this.turns.get(turnId) ?? newTurn()
    this.turns.set(turnId, turn)
    turn.started ||= type === 'turn.started'
    turn.ended ||= turnEnds.has(type)
    if (type === 'note.created') turn.noteIds.add(payload.noteId)
    if (type === 'tool.returned' && Array.isArray(payload.refs))
      for (const ref of payload.refs) turn.noteIds.delete(ref.id)
    if (spanId !== null && turn.started && !turn.ended) this.running.set(spanId, turn)
    else if (spanId !== null && this.running.get(spanId) === turn) this.running.delete(spanId)
    return turn
  }

  /** A turn is over once its message is replaced, even if a crash cut it off. */
  private endReplaced(event: TimelineEvent): void {
    const replaced = replacedBy(event)
    if (!replaced) return
    this.replaced.set(replaced.turnId, replaced.sameWords)
    const turn = this.turns.get(replaced.turnId)
    if (turn) turn.ended = true
    for (const [spanId, running] of this.running) if (running === turn) this.running.delete(spanId)
  }

  private entryOf(event: TimelineEvent, is: VisibleClass, turn: Turn | null): Entry {
    if (is.kind === 'message') return messageEntry(event, is.role, turn, false)
    if (is.kind !== 'proposal') return { kind: is.kind, event }
    const proposal: Proposal = { kind: is.kind, event, word: null, outcome: null }
    this.proposals.set(event.payload.proposalId, proposal)
    return proposal
  }

  /** Takes the end of a span, or what became of a proposal. */
  private settle(event: TimelineEvent, span: Span | null): void {
    const { type, payload } = event
    if (type === 'span.closed' && span) {
      span.closedReason = typeof payload.reason === 'string' ? payload.reason : 'completed'
      for (const segment of span.segments) segment.closedReason = span.closedReason
    }
    const proposal = this.proposals.get(payload.proposalId)
    if (!proposal) return
    if (type === 'proposal.confirmed') proposal.word = 'confirmed'
    if (type === 'proposal.declined') proposal.word = 'declined'
    if (type === 'proposal.completed')
      proposal.outcome = { isDone: payload.outcome === 'done', text: wordsOf(event) }
  }

  /** Places a queued message where its own turn begins, below the reply that it waited for. */
  private placeQueued(turn: Turn, cause: TimelineEvent): void {
    const { queued } = turn
    if (!queued) return
    turn.queued = null
    const entry = messageEntry(queued, 'owner', turn, cause === queued)
    this.placeVisible(queued, entry, this.spanOf(queued), turn, cause)
  }

  private isQueued(event: TimelineEvent, turn: Turn | null): turn is Turn {
    if (event.type !== 'chat.message.received' || event.spanId === null || !turn || turn.queued) return false
    const other = this.running.get(event.spanId)
    return other !== undefined && other !== turn
  }

  /** Places an entry in the order of `cause`, the event that makes it appear. */
  private placeVisible(
    event: TimelineEvent,
    entry: Entry,
    span: Span | null,
    turn: Turn | null,
    cause = event,
  ): void {
    const segment = this.segmentFor(event, span, cause)
    if (segment.firstVisibleSeq === null) {
      this.newest = segment
      segment.firstVisibleSeq = cause.seq
      segment.at = event.at
      segment.channel = event.channel ?? segment.channel
    }
    const isAnswer = entry.kind === 'failure' || (entry.kind === 'message' && entry.role === 'delegate')
    if (turn?.activity && turn.home && turn.home !== segment && isAnswer) {
      turn.home.entries.splice(turn.home.entries.indexOf(turn.activity), 1)
      segment.entries.push(turn.activity)
      turn.home = segment
    }
    segment.entries.push(entry)
    if (turn && !turn.activity) turn.home = segment
    this.lastVisible = segment
  }

  /** The last segment of the span, unless words of another one came in between. */
  private segmentFor(event: TimelineEvent, span: Span | null, cause: TimelineEvent): Segment {
    if (!span) return this.looseSegment(event, 'loose')
    const latest = span.segments.at(-1)
    const fits = latest && (latest.firstVisibleSeq === null || latest === this.lastVisible)
    return fits ? latest : this.newSegment({ ...event, seq: cause.seq }, span.kind, span)
  }

  private placeInternal(event: TimelineEvent, span: Span | null, turn: Turn | null): void {
    if (turn?.activity) {
      turn.activity.events.push(event)
      return
    }
    const segment =
      span?.segments.at(-1) ??
      (span
        ? this.newSegment(event, span.kind, span)
        : (turn?.home ?? this.looseSegment(event, 'background')))
    const last = segment.entries.at(-1)
    if (turn === null && last?.kind === 'activity' && last.turnId === null) {
      last.events.push(event)
      return
    }
    const { seq, turnId } = event
    const key = `activity:${turnId ?? seq}`
    const activity: Activity = { kind: 'activity', key, turnId, events: [event], running: false }
    segment.entries.push(activity)
    if (turn) {
      turn.activity = activity
      turn.home = segment
    }
  }
}

function newTurn(): Turn {
  return {
    activity: null,
    home: null,
    started: false,
    ended: false,
    replied: false,
    queued: null,
    noteIds: new Set(),
  }
}

type VisibleClass = Extract<EventClass, { kind: 'message' | 'failure' | 'proposal' | 'notice' | 'boundary' }>

function messageEntry(event: TimelineEvent, role: Role, turn: Turn | null, waiting: boolean): Message {
  const firstReply = role === 'delegate' && turn !== null && !turn.replied
  if (turn && firstReply) turn.replied = true
  // A long answer ends with a link to its note.
  const words = role === 'delegate' ? wordsOf(event) : ''
  const noteIds = [...(turn?.noteIds ?? [])].map(String)
  const answerNoteId = noteIds.find((id) => words.endsWith(`](/notes/${id}).`)) ?? null
  return { kind: 'message', role, event, firstReply, waiting, answerNoteId }
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
    if (last && joins(last, segment))
      result[result.length - 1] = { ...last, entries: joinEntries(last.entries, segment.entries) }
    else result.push(segment)
  }
  return result
}

function joinEntries(entries: readonly Entry[], next: readonly Entry[]): Entry[] {
  const last = entries.at(-1)
  const [first, ...rest] = next
  const areOne =
    last?.kind === 'activity' && first?.kind === 'activity' && last.turnId === null && first.turnId === null
  if (!areOne) return [...entries, ...next]
  return [...entries.slice(0, -1), { ...last, events: [...last.events, ...first.events] }, ...rest]
}
