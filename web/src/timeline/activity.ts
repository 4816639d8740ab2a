import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { capitalised, durationText, listText, plural, wordsText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { countField, textField } from './event-kinds.ts'
import { titleOf } from './titles.ts'

/** One step of an activity: an internal event, or a tool call with its return. */
export type Step = {
  readonly key: string
  readonly title: string
  readonly tool: boolean
  /** `running` until a tool returns; empty for other events. */
  readonly outcome: string
  readonly durationMs: number | null
  readonly events: readonly TimelineEvent[]
}

function toolStep(called: TimelineEvent, returned: TimelineEvent | undefined): Step {
  return {
    key: `step:${called.seq}`,
    title: textField(called, 'tool') || 'tool',
    tool: true,
    outcome: returned ? textField(returned, 'outcome') : 'running',
    durationMs: returned ? countField(returned, 'durationMs') : null,
    events: returned ? [called, returned] : [called],
  }
}

/** The steps, in the order in which they started. */
export function stepsOf(events: readonly TimelineEvent[]): readonly Step[] {
  const returns = new Map<string, TimelineEvent>()
  const called = new Set<string>()
  for (const event of events) {
    if (event.type === 'tool.returned') returns.set(textField(event, 'callId'), event)
    if (event.type === 'tool.called') called.add(textField(event, 'callId'))
  }
  return events.flatMap((event): Step[] => {
    if (event.type === 'tool.called') return [toolStep(event, returns.get(textField(event, 'callId')))]
    if (event.type === 'tool.returned' && called.has(textField(event, 'callId'))) return []
    return [
      {
        key: `step:${event.seq}`,
        title: titleOf(event),
        tool: false,
        outcome: '',
        durationMs: countField(event, 'durationMs'),
        events: [event],
      },
    ]
  })
}

/** One line for a folded activity: "Recalled 2 memories · used note create · 0.4 s". */
export function summaryOf(events: readonly TimelineEvent[], isRunning = false): string {
  const parts: string[] = []
  const recalled = new Set(events.flatMap((event) => idsOf(event)))
  if (recalled.size > 0) parts.push(msg`recalled ${plural(recalled.size, msg`memory`, msg`memories`)}`)
  const calls = stepsOf(events).filter(({ tool }) => tool)
  const isUsed = ({ outcome }: Step) => outcome !== 'refused' && outcome !== 'failed'
  const used = [...new Set(calls.filter(isUsed).map(({ title }) => title))]
  const tried = new Set(calls.map(({ title }) => title).filter((title) => !used.includes(title)))
  if (used.length > 0 && used.length <= 2) parts.push(msg`used ${listText(used.map(wordsText))}`)
  if (used.length > 2) parts.push(msg`used ${plural(used.length, msg`tool`, msg`tools`)}`)
  if (tried.size > 0) parts.push(msg`tried ${listText([...tried].map(wordsText))}`)
  for (const [type, phrase, one, many] of counted) {
    const times = events.filter((event) => event.type === type).length
    if (times > 0) parts.push(phrase(plural(times, one, many)))
  }
  if (events.some((event) => event.type === 'context.compaction.succeeded'))
    parts.push(msg`compacted the context`)
  if (parts.length === 0) parts.push(quietSummary(events, isRunning))
  const completed = events.find((event) => event.type === 'turn.completed')
  const durationMs = completed ? countField(completed, 'durationMs') : null
  if (durationMs !== null) parts.push(durationText(durationMs))
  return capitalised(parts.join(' · '))
}

const counted: readonly (readonly [string, (counted: string) => string, string, string])[] = [
  ['memory.stored', (what) => msg`learned ${what}`, msg`memory`, msg`memories`],
  ['memory.reinforced', (what) => msg`strengthened ${what}`, msg`memory`, msg`memories`],
  ['memory.merged', (what) => msg`merged ${what}`, msg`memory`, msg`memories`],
  ['memory.conflicted', (what) => msg`found ${what}`, msg`contradiction`, msg`contradictions`],
  ['memory.deleted', (what) => msg`forgot ${what}`, msg`memory`, msg`memories`],
  ['signal.raised', (what) => msg`noticed ${what}`, msg`thing`, msg`things`],
]

function idsOf(event: TimelineEvent): string[] {
  if (event.type !== 'memory.recalled' || !Array.isArray(event.payload.ids)) return []
  return event.payload.ids.filter((id: unknown) => typeof id === 'string')
}

/** The newest of these shows the progress of a task and its delivery. */
const taskProgress = new Set([
  'task.progressed',
  'delivery.succeeded',
  'delivery.failed',
  'delivery.requested',
])

function quietSummary(events: readonly TimelineEvent[], isRunning: boolean): string {
  if (events.some((event) => event.type === 'turn.completed')) return msg`thought it through`
  const latest = events.findLast(({ type }) => taskProgress.has(type))
  if (latest) return titleOf(latest)
  if (events.some((event) => event.type === 'turn.started'))
    return isRunning ? msg`answering…` : msg`did not finish`
  const titles = [...new Set(events.map(titleOf))]
  return titles.length <= 2
    ? titles.join(' · ')
    : plural(events.length, msg`background step`, msg`background steps`)
}

/** What the delegate is doing now, for a running turn. */
export function progressOf(events: readonly TimelineEvent[]): string {
  const last = stepsOf(events).findLast((step) => step.tool)
  if (last?.outcome === 'running') return msg`Using ${wordsText(last.title)}…`
  return msg`Thinking…`
}
