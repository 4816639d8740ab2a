import type { TalkLine } from '../../../src/http/contract/calls.ts'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { dayKey } from '../design/format.ts'
import { type Step, stepsOf } from './activity.ts'
import type { Branch } from './branches.ts'
import { isIncomplete, wordsOf } from './event-kinds.ts'
import type { Draft } from './pasted.ts'
import type { Activity, Entry, Message, Proposal, Segment } from './tree.ts'

/** Streamed words of a running turn. */
export type Preview = { readonly turnId: string; readonly text: string }
/** A message of this tab that is not on the timeline yet. */
export type Pending = Draft & {
  readonly clientMessageId: string
  readonly at: string
  /** `failed`: the service refused it. */
  readonly status: 'waiting' | 'sent' | 'unanswered' | 'failed'
  /** Why the service refused it. */
  readonly reason: string | null
}

/** One row of the timeline: a line, a message or a heading. Its key is stable. */
export type Row = {
  readonly key: string
  readonly segment: Segment | null
  /** True in an unfolded branch that another message replaced. */
  readonly replaced?: boolean
} & (
  | { readonly kind: 'day'; readonly at: string }
  | { readonly kind: 'span'; readonly segment: Segment; readonly open: boolean }
  | { readonly kind: 'message'; readonly message: Message }
  | {
      readonly kind: 'activity'
      readonly activity: Activity
      readonly open: boolean
      readonly working: boolean
    }
  | { readonly kind: 'branch'; readonly branch: Branch; readonly open: boolean }
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

/** Builds the rows of the timeline, top to bottom. The result depends only on the input. */
export function timelineRows({ segments, toggled, talk, previews, pending }: RowsInput): readonly Row[] {
  const writing = new Set(previews.filter(({ text }) => text !== '').map(({ turnId }) => turnId))
  const told = segments.flatMap((segment) => segmentRows(segment, toggled, writing))
  const { replied, running } = turnsOf(segments)
  const shownPreviews = previews.filter(
    ({ turnId, text }) => !replied.has(turnId) && (text !== '' || !running.has(turnId)),
  )
  const previewRows = (isShown: (preview: Preview) => boolean): Row[] =>
    shownPreviews
      .filter(isShown)
      .map((preview) => ({ key: `reply:${preview.turnId}`, kind: 'preview', preview, segment: null }))
  // The reply to a message may begin before the event that its turn has started arrives.
  const queued = told.filter(isWaiting)
  const queuedTurns = new Set(queued.map(turnIdOf))
  return withDays([
    ...told.filter((row) => !isWaiting(row)),
    ...talk.map((line): Row => ({ key: `talk:${line.itemId}`, kind: 'talk', line, segment: null })),
    ...previewRows(({ turnId }) => !queuedTurns.has(turnId)),
    // Messages that wait for the running reply are shown below it.
    ...queued.flatMap((row) => [row, ...previewRows(({ turnId }) => turnId === turnIdOf(row))]),
    ...pending.map(
      (message): Row => ({
        key: `pending:${message.clientMessageId}`,
        kind: 'pending',
        pending: message,
        segment: null,
      }),
    ),
  ])
}

/** Adds a heading before the first row of each day. */
function withDays(rows: readonly Row[]): readonly Row[] {
  let last = ''
  let day = ''
  return rows.flatMap((row, index): Row[] => {
    const at = momentOf(row, rows[index - 1])
    // No day begins within ten minutes of the clock: time zones differ by quarters of an hour.
    if (at === null || at.slice(0, 15) === last.slice(0, 15)) return [row]
    last = at
    if (dayKey(at) === day) return [row]
    day = dayKey(at)
    return [{ key: `day:${row.key}`, kind: 'day', at, segment: null }, row]
  })
}

/** When a row happened; null if it belongs to the one before. */
function momentOf(row: Row, before: Row | undefined): string | null {
  if (row.kind === 'pending') return row.pending.at
  const [event] = row.kind === 'step' ? [] : eventsOf(row)
  if (event) return event.at
  return row.segment === before?.segment ? null : (row.segment?.at ?? null)
}

/** The turns that have words of their reply, and those in progress. */
function turnsOf(segments: readonly Segment[]) {
  const replied = new Set<string | null>()
  const running = new Set<string | null>()
  for (const entry of segments.flatMap(({ entries }) => entries)) {
    if (entry.kind === 'activity' && entry.running) running.add(entry.turnId)
    if (entry.kind === 'branch') replied.add(entry.turnId)
    if (entry.kind === 'message' && entry.firstReply) replied.add(entry.event.turnId)
  }
  return { replied, running }
}

function isWaiting(row: Row): boolean {
  return row.kind === 'message' && row.message.waiting
}

function turnIdOf(row: Row): string | null {
  return row.kind === 'message' ? row.message.event.turnId : null
}

/** The rows of one segment, without headings of days. */
function segmentRows(
  segment: Segment,
  toggled: ReadonlySet<string>,
  writing: ReadonlySet<string>,
): readonly Row[] {
  const rows: Row[] = []
  const isOpen = (key: string, byDefault: boolean) => (toggled.has(key) ? !byDefault : byDefault)

  if (segment.spanId !== null) {
    const open = isOpen(segment.key, opensByDefault(segment))
    rows.push({ key: `span:${segment.key}`, kind: 'span', segment, open })
    if (!open) return rows
  }
  const stopped = stoppedTurns(segment)
  const add = (entry: Entry, replaced: { readonly replaced?: boolean } = {}): void => {
    if (entry.kind === 'branch') {
      const open = isOpen(entry.key, false)
      rows.push({ key: entry.key, kind: 'branch', branch: entry, open, segment })
      for (const each of open ? entry.entries : []) add(each, { replaced: true })
      return
    }
    if (entry.kind === 'activity') {
      const open = isOpen(entry.key, false)
      const working = entry.running && !writing.has(entry.turnId ?? '')
      rows.push({ key: entry.key, kind: 'activity', activity: entry, open, working, segment, ...replaced })
      for (const step of open ? stepsOf(entry.events) : []) {
        const isStepOpen = toggled.has(step.key)
        rows.push({ key: step.key, kind: 'step', step, open: isStepOpen, segment, ...replaced })
      }
      return
    }
    const { seq, turnId } = entry.event
    if (entry.kind === 'message') {
      const key = entry.firstReply ? `reply:${turnId}` : `event:${seq}`
      rows.push({ key, kind: 'message', message: entry, segment, ...replaced })
    } else if (entry.kind === 'proposal') {
      rows.push({ key: `event:${seq}`, kind: 'proposal', proposal: entry, segment })
    } else if (entry.kind !== 'failure' || !stopped.has(turnId)) {
      rows.push({ key: `event:${seq}`, kind: entry.kind, event: entry.event, segment, ...replaced })
    }
  }
  for (const entry of segment.entries) add(entry)
  return rows
}

/** Turns that the owner stopped after some words. Those words replace the failure row. */
function stoppedTurns({ entries }: Segment): ReadonlySet<string | null> {
  const stopped = entries.filter(
    (entry) =>
      entry.kind === 'message' && entry.event.type === 'chat.reply.stopped' && !isIncomplete(entry.event),
  )
  return new Set(stopped.map((entry) => (entry.kind === 'message' ? entry.event.turnId : null)))
}

/** Keys of the rows that must be unfolded to show an event. */
export function keysAround(segments: readonly Segment[], seq: number): readonly string[] {
  for (const segment of segments) {
    const keys = keysWithin(segment.entries, seq)
    if (keys) return [segment.key, ...keys]
  }
  return []
}

function keysWithin(entries: readonly Entry[], seq: number): readonly string[] | null {
  for (const entry of entries) {
    if (entry.kind === 'branch') {
      const keys = keysWithin(entry.entries, seq)
      if (keys) return [entry.key, ...keys]
    } else if (entry.kind === 'activity') {
      if (entry.events.some((event) => event.seq === seq)) return [entry.key]
    } else if (entry.event.seq === seq) return []
  }
  return null
}

/** Index of the row that shows an event, or -1. */
export function rowIndexOf(rows: readonly Row[], seq: number): number {
  return rows.findIndex((row) => eventsOf(row).some((event) => event.seq === seq))
}

/** The events that a row shows by itself. */
function eventsOf(row: Row): readonly TimelineEvent[] {
  if (row.kind === 'message') return [row.message.event]
  if (row.kind === 'proposal') return [row.proposal.event]
  if (row.kind === 'step') return row.step.events
  return 'event' in row ? [row.event] : []
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
