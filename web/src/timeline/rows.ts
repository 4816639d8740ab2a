import type { TimelineEvent } from '../data/timeline.ts'
import { dayKey } from '../view/format.ts'
import { type Step, stepsOf } from './activity.ts'
import { wordsOf } from './event-kinds.ts'
import type { Activity, Message, Segment } from './tree.ts'

/** A reply that is still being written. */
export type Draft = { readonly turnId: string; readonly text: string }
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
  | { readonly kind: 'draft'; readonly draft: Draft }
  | { readonly kind: 'pending'; readonly pending: Pending }
)

/** Above this many words entries an ended call is folded until asked for. */
const longCallEntries = 6

/** Whether a segment shows its entries unless the owner said otherwise. */
export function opensByDefault(segment: Segment): boolean {
  if (segment.firstVisibleSeq === null) return false
  return segment.kind !== 'call' || segment.closedReason === null || segment.entries.length <= longCallEntries
}

/**
 * The rows of the page, top to bottom. Pure. `toggled` holds the keys of what the owner has opened or closed
 * against its default.
 */
export function timelineRows(input: {
  readonly segments: readonly Segment[]
  readonly toggled: ReadonlySet<string>
  readonly drafts: readonly Draft[]
  readonly pending: readonly Pending[]
}): readonly Row[] {
  const { segments, toggled } = input
  const rows: Row[] = []
  const replied = new Set<string>()
  const running = new Set<string>()
  const writing = new Set(input.drafts.filter(({ text }) => text !== '').map(({ turnId }) => turnId))
  let day = ''

  const dayRow = (at: string, segment: Segment | null) => {
    const key = dayKey(at)
    if (key === day) return
    day = key
    rows.push({ key: `day:${key}`, kind: 'day', at, segment })
  }
  const toggledFrom = (key: string, open: boolean) => (toggled.has(key) ? !open : open)

  for (const segment of segments) {
    dayRow(segment.at, segment)
    const open = toggledFrom(segment.key, opensByDefault(segment))
    const headed = segment.spanId !== null && segment.kind !== 'background'
    if (headed) rows.push({ key: `span:${segment.key}`, kind: 'span', segment, open })
    if (headed && !open) continue
    const crossesMidnight = dayKey(segment.lastAt) !== day
    const stopped = stoppedTurns(segment)
    for (const entry of segment.entries) {
      if (entry.kind === 'activity') {
        pushActivity(entry, segment)
        continue
      }
      if (crossesMidnight) dayRow(entry.event.at, segment)
      if (entry.kind === 'failure' && entry.event.turnId !== null && stopped.has(entry.event.turnId)) continue
      if (entry.kind === 'message')
        rows.push({ key: messageKey(entry), kind: 'message', message: entry, segment })
      else rows.push({ key: `event:${entry.event.seq}`, kind: entry.kind, event: entry.event, segment })
    }
  }

  function messageKey(message: Message): string {
    const { turnId, seq } = message.event
    if (message.role !== 'delegate' || turnId === null || replied.has(turnId)) return `event:${seq}`
    replied.add(turnId)
    return `reply:${turnId}`
  }

  function pushActivity(activity: Activity, segment: Segment): void {
    if (activity.running && activity.turnId !== null) running.add(activity.turnId)
    const open = toggledFrom(activity.key, false)
    const working = activity.running && !writing.has(activity.turnId ?? '')
    rows.push({ key: activity.key, kind: 'activity', activity, open, working, segment })
    if (!open) return
    for (const step of stepsOf(activity.events)) {
      rows.push({ key: step.key, kind: 'step', step, open: toggled.has(step.key), segment })
    }
  }

  for (const draft of input.drafts) {
    if (replied.has(draft.turnId) || (draft.text === '' && running.has(draft.turnId))) continue
    rows.push({ key: `reply:${draft.turnId}`, kind: 'draft', draft, segment: null })
  }
  for (const pending of input.pending) {
    dayRow(pending.at, null)
    rows.push({ key: `pending:${pending.clientMessageId}`, kind: 'pending', pending, segment: null })
  }
  return rows
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
    if (row.kind === 'step') return row.step.events.some((event) => event.seq === seq)
    if (row.kind === 'failure' || row.kind === 'notice' || row.kind === 'boundary')
      return row.event.seq === seq
    return false
  })
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
