import type { TalkLine } from '../data/calls.ts'
import type { TimelineEvent } from '../data/timeline.ts'
import { dayKey } from '../view/format.ts'
import { type Step, stepsOf } from './activity.ts'
import { wordsOf } from './event-kinds.ts'
import type { Activity, Message, Proposal, Segment } from './tree.ts'

/** A reply that is still being written. */
export type Preview = { readonly turnId: string; readonly text: string }
/** A message of this tab that is not on the timeline yet. */
export type Pending = {
  readonly clientMessageId: string
  readonly text: string
  readonly at: string
  readonly status: 'waiting' | 'sent' | 'failed'
  readonly reason: string | null
}

/** One line, message or heading of the page, with a key that outlives changes around it. */
export type Row = { readonly key: string; readonly segment: Segment | null } & (
  | { readonly kind: 'day'; readonly at: string }
  | { readonly kind: 'span'; readonly segment: Segment; readonly open: boolean }
  | { readonly kind: 'message'; readonly message: Message }
  | {
      readonly kind: 'activity'
      readonly activity: Activity
      readonly open: boolean
      readonly working: boolean
    }
  | { readonly kind: 'step'; readonly step: Step; readonly open: boolean }
  | { readonly kind: 'failure' | 'notice' | 'boundary'; readonly event: TimelineEvent }
  | { readonly kind: 'proposal'; readonly proposal: Proposal }
  | { readonly kind: 'talk'; readonly line: TalkLine }
  | { readonly kind: 'preview'; readonly preview: Preview }
  | { readonly kind: 'pending'; readonly pending: Pending }
)

/** Above this many words entries an ended call is folded until asked for. */
const longCallEntries = 6

/** Whether a segment shows its entries unless the owner said otherwise. */
function opensByDefault(segment: Segment): boolean {
  if (segment.firstVisibleSeq === null) return false
  if (segment.kind !== 'call' || segment.closedReason === null) return true
  return segment.entries.filter(({ kind }) => kind === 'message').length <= longCallEntries
}

export type RowsInput = {
  readonly segments: readonly Segment[]
  /** The keys of what the owner has opened or closed against its default. */
  readonly toggled: ReadonlySet<string>
  /** What is being said on the phone. */
  readonly talk: readonly TalkLine[]
  readonly previews: readonly Preview[]
  readonly pending: readonly Pending[]
}

/** The rows of one segment, without the heading of the day on which it begins. */
type SegmentRows = {
  readonly toggled: ReadonlySet<string>
  readonly rows: readonly Row[]
  readonly lastDay: string
}

/**
 * Makes the rows of the page, top to bottom: a pure function of its input. Rows of segments that did not change
 * are remembered, so that a new event costs little in a long timeline, and are the same objects again.
 */
export function createTimelineRows(): (input: RowsInput) => readonly Row[] {
  // Maps of what was there the last time, not weak ones: those make each collection of garbage look at all that is
  // reachable again and again, which is felt while scrolling.
  let remembered = new Map<Segment, SegmentRows>()
  let firstDays = new Map<Segment, DayRow>()

  function rowsOf(segment: Segment, toggled: ReadonlySet<string>, writing: ReadonlySet<string>): SegmentRows {
    const known = remembered.get(segment)
    if (known && sameToggles(segment, known.rows, known.toggled, toggled)) return known
    return segmentRows(segment, toggled, writing)
  }

  return ({ segments, toggled, talk, previews, pending }) => {
    const rows: Row[] = []
    /** Messages that wait for the reply that is being written stand below it. */
    const waiting: Row[] = []
    const writing = new Set(previews.filter(({ text }) => text !== '').map(({ turnId }) => turnId))
    const nowRemembered = new Map<Segment, SegmentRows>()
    const nowFirstDays = new Map<Segment, DayRow>()
    let lastDay = ''
    for (const segment of segments) {
      const day = firstDays.get(segment) ?? dayRow(segment.at, segment)
      nowFirstDays.set(segment, day)
      if (day.day !== lastDay) rows.push(day)
      const made = rowsOf(segment, toggled, writing)
      // What a running turn shows depends on its preview too.
      if (made === remembered.get(segment) || !isRunning(segment)) nowRemembered.set(segment, made)
      for (const row of made.rows) (isWaiting(row) ? waiting : rows).push(row)
      lastDay = made.lastDay
    }
    remembered = nowRemembered
    firstDays = nowFirstDays
    for (const line of talk) rows.push({ key: `talk:${line.itemId}`, kind: 'talk', line, segment: null })
    const { replied, running } = turnsOf(segments.slice(-liveSegments))
    for (const preview of previews) {
      if (replied.has(preview.turnId) || (preview.text === '' && running.has(preview.turnId))) continue
      rows.push({ key: `reply:${preview.turnId}`, kind: 'preview', preview, segment: null })
    }
    rows.push(...waiting)
    for (const message of pending) {
      const day = dayRow(message.at, null)
      if (day.day !== lastDay) rows.push(day)
      lastDay = day.day
      rows.push({
        key: `pending:${message.clientMessageId}`,
        kind: 'pending',
        pending: message,
        segment: null,
      })
    }
    return rows
  }
}

/** A turn that is being answered stands within this many segments of the end. */
const liveSegments = 50

function turnsOf(segments: readonly Segment[]) {
  const replied = new Set<string>()
  const running = new Set<string>()
  for (const entry of segments.flatMap(({ entries }) => entries)) {
    if (entry.kind === 'activity') {
      if (entry.running && entry.turnId !== null) running.add(entry.turnId)
    } else if (entry.kind === 'message' && entry.firstReply && entry.event.turnId !== null) {
      replied.add(entry.event.turnId)
    }
  }
  return { replied, running }
}

function isWaiting(row: Row): boolean {
  return row.kind === 'message' && row.message.waiting
}

function isRunning(segment: Segment): boolean {
  return segment.entries.some((entry) => entry.kind === 'activity' && entry.running)
}

function sameToggles(
  segment: Segment,
  rows: readonly Row[],
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
): boolean {
  if (before === now || (before.size === 0 && now.size === 0)) return true
  const same = (key: string) => before.has(key) === now.has(key)
  return same(segment.key) && rows.every((row) => !('open' in row) || same(row.key))
}

type DayRow = Row & { readonly kind: 'day'; readonly day: string }

function dayRow(at: string, segment: Segment | null): DayRow {
  const day = dayKey(at)
  return { key: `day:${day}:${segment?.key ?? ''}`, kind: 'day', at, day, segment }
}

function segmentRows(
  segment: Segment,
  toggled: ReadonlySet<string>,
  writing: ReadonlySet<string>,
): SegmentRows {
  const rows: Row[] = []
  let day = dayKey(segment.at)
  const crossesMidnight = dayKey(segment.lastAt) !== day
  const isOpen = (key: string, byDefault: boolean) => (toggled.has(key) ? !byDefault : byDefault)

  if (segment.spanId !== null) {
    const open = isOpen(segment.key, opensByDefault(segment))
    rows.push({ key: `span:${segment.key}`, kind: 'span', segment, open })
    if (!open) return { toggled, rows, lastDay: day }
  }
  const stopped = stoppedTurns(segment)
  for (const entry of segment.entries) {
    if (entry.kind === 'activity') {
      const open = isOpen(entry.key, false)
      const working = entry.running && !writing.has(entry.turnId ?? '')
      rows.push({ key: entry.key, kind: 'activity', activity: entry, open, working, segment })
      for (const step of open ? stepsOf(entry.events) : []) {
        rows.push({ key: step.key, kind: 'step', step, open: toggled.has(step.key), segment })
      }
      continue
    }
    if (crossesMidnight && dayKey(entry.event.at) !== day) {
      day = dayKey(entry.event.at)
      rows.push({ ...dayRow(entry.event.at, segment), key: `day:${day}:${entry.event.seq}` })
    }
    const { seq, turnId } = entry.event
    if (entry.kind === 'message') {
      const key = entry.firstReply ? `reply:${turnId}` : `event:${seq}`
      rows.push({ key, kind: 'message', message: entry, segment })
    } else if (entry.kind === 'proposal') {
      rows.push({ key: `event:${seq}`, kind: 'proposal', proposal: entry, segment })
    } else if (entry.kind !== 'failure' || turnId === null || !stopped.has(turnId)) {
      rows.push({ key: `event:${seq}`, kind: entry.kind, event: entry.event, segment })
    }
  }
  return { toggled, rows, lastDay: day }
}

/** Turns that were stopped with something said: what was said stands for the failure too. */
function stoppedTurns(segment: Segment): ReadonlySet<string> {
  const stopped = new Set<string>()
  for (const entry of segment.entries) {
    if (
      entry.kind === 'message' &&
      entry.event.type === 'chat.reply.stopped' &&
      entry.event.turnId !== null
    ) {
      stopped.add(entry.event.turnId)
    }
  }
  return stopped
}

/** The keys that must be open for an event to be seen. */
export function keysAround(segments: readonly Segment[], seq: number): readonly string[] {
  for (const segment of segments) {
    for (const entry of segment.entries) {
      if (entry.kind !== 'activity') {
        if (entry.event.seq === seq) return [segment.key]
      } else if (entry.events.some((event) => event.seq === seq)) return [segment.key, entry.key]
    }
  }
  return []
}

/** The row in which an event is shown, or -1. */
export function rowIndexOf(rows: readonly Row[], seq: number): number {
  return rows.findIndex((row) => {
    if (row.kind === 'message') return row.message.event.seq === seq
    if (row.kind === 'proposal') return row.proposal.event.seq === seq
    if (row.kind === 'step') return row.step.events.some((event) => event.seq === seq)
    if (row.kind === 'failure' || row.kind === 'notice' || row.kind === 'boundary')
      return row.event.seq === seq
    return false
  })
}

/** The row within which the one at `at` is folded: of a step its activity, of the rest the heading of its span. */
export function holderOf(rows: readonly Row[], at: number): Row | undefined {
  const row = rows[at]
  if (!row || row.kind === 'span') return undefined
  const kind = row.kind === 'step' ? 'activity' : 'span'
  return rows.slice(0, at).findLast((other) => other.kind === kind && other.segment === row.segment)
}

/** The first words of a segment: what its folded heading says. */
export function excerptOf(segment: Segment): string {
  for (const entry of segment.entries) {
    if (entry.kind === 'message') {
      const words = wordsOf(entry.event).replaceAll(/\s+/g, ' ').trim()
      if (words !== '') return words.slice(0, 160)
    }
  }
  return ''
}
