import type { TalkLine } from '../../../src/http/contract/calls.ts'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { dayKey } from '../design/format.ts'
import { type Step, stepsOf } from './activity.ts'
import { wordsOf } from './event-kinds.ts'
import type { Activity, Message, Proposal, Segment } from './tree.ts'

/** Streamed words of a running turn. */
export type Preview = { readonly turnId: string; readonly text: string }
/** A message of this tab that is not on the timeline yet. */
export type Pending = {
  readonly clientMessageId: string
  readonly text: string
  readonly at: string
  readonly status: 'waiting' | 'sent' | 'failed'
  readonly reason: string | null
}

/** One row of the timeline: a line, a message or a heading. Its key is stable. */
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

/** An ended call with more messages than this is folded. */
const longCallEntries = 6

/** Whether a segment starts unfolded. */
function opensByDefault(segment: Segment): boolean {
  if (segment.firstVisibleSeq === null) return false
  if (segment.kind !== 'call' || segment.closedReason === null) return true
  return segment.entries.filter(({ kind }) => kind === 'message').length <= longCallEntries
}

export type RowsInput = {
  readonly segments: readonly Segment[]
  /** Keys of the rows that the owner has toggled from their default. */
  readonly toggled: ReadonlySet<string>
  /** Live lines of the phone call in progress. */
  readonly talk: readonly TalkLine[]
  readonly previews: readonly Preview[]
  readonly pending: readonly Pending[]
}

/** The rows of one segment, without the day heading before it. */
type SegmentRows = {
  readonly toggled: ReadonlySet<string>
  readonly rows: readonly Row[]
  readonly lastDay: string
}

/**
 * Builds the rows of the timeline, top to bottom. The result depends only on the input. Rows of unchanged
 * segments are cached and keep their identity, so that a new event is cheap on a long timeline.
 */
export function createTimelineRows(): (input: RowsInput) => readonly Row[] {
  // WeakMaps would make garbage collection slow enough to disturb scrolling, so keep Maps of the last result.
  let cached = new Map<Segment, SegmentRows>()
  let firstDays = new Map<Segment, DayRow>()

  function rowsOf(segment: Segment, toggled: ReadonlySet<string>, writing: ReadonlySet<string>): SegmentRows {
    const known = cached.get(segment)
    if (known && sameToggles(segment, known.rows, known.toggled, toggled)) return known
    return segmentRows(segment, toggled, writing)
  }

  return ({ segments, toggled, talk, previews, pending }) => {
    const rows: Row[] = []
    /** Messages that wait for the running reply, shown below it. */
    const waiting: Row[] = []
    const writing = new Set(previews.filter(({ text }) => text !== '').map(({ turnId }) => turnId))
    const nextCached = new Map<Segment, SegmentRows>()
    const nextFirstDays = new Map<Segment, DayRow>()
    let lastDay = ''
    for (const segment of segments) {
      const day = firstDays.get(segment) ?? dayRow(segment.at, segment)
      nextFirstDays.set(segment, day)
      if (day.day !== lastDay) rows.push(day)
      const made = rowsOf(segment, toggled, writing)
      // The rows of a running turn also depend on its preview, so do not cache them.
      if (made === cached.get(segment) || !isRunning(segment)) nextCached.set(segment, made)
      for (const row of made.rows) (isWaiting(row) ? waiting : rows).push(row)
      lastDay = made.lastDay
    }
    cached = nextCached
    firstDays = nextFirstDays
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

/** A running turn is among this many last segments. */
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

/** Turns that were stopped after some words. Those words replace the failure row. */
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

/** Keys of the rows that must be unfolded to show an event. */
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

/** Index of the row that shows an event, or -1. */
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

/** The row that folds the one at `at`: the activity of a step, or the span heading of any other row. */
export function holderOf(rows: readonly Row[], at: number): Row | undefined {
  const row = rows[at]
  if (!row || row.kind === 'span') return undefined
  const kind = row.kind === 'step' ? 'activity' : 'span'
  return rows.slice(0, at).findLast((other) => other.kind === kind && other.segment === row.segment)
}

/** The first words of a segment, for its folded heading. */
export function excerptOf(segment: Segment): string {
  for (const entry of segment.entries) {
    if (entry.kind === 'message') {
      const words = wordsOf(entry.event).replaceAll(/\s+/g, ' ').trim()
      if (words !== '') return words.slice(0, 160)
    }
  }
  return ''
}
