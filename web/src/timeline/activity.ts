import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { capitalised, durationText, plural, wordsText } from '../design/format.ts'
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

function tally(events: readonly TimelineEvent[], type: string): number {
  return events.filter((event) => event.type === type).length
}

/** One line for a folded activity: "Recalled 2 memories · used note create · 0.4 s". */
export function summaryOf(events: readonly TimelineEvent[], isRunning = false): string {
  const parts: string[] = []
  const recalled = new Set(events.flatMap((event) => idsOf(event)))
  if (recalled.size > 0) parts.push(`recalled ${plural(recalled.size, 'memory', 'memories')}`)
  const tools = [...new Set(events.filter((e) => e.type === 'tool.called').map((e) => textField(e, 'tool')))]
  if (tools.length > 0 && tools.length <= 2) parts.push(`used ${tools.map(wordsText).join(' and ')}`)
  if (tools.length > 2) parts.push(`used ${plural(tools.length, 'tool')}`)
  for (const [type, verb, one, many] of counted) {
    const times = tally(events, type)
    if (times > 0) parts.push(`${verb} ${plural(times, one, many)}`)
  }
  if (events.some((event) => event.type === 'context.compaction.succeeded'))
    parts.push('compacted the context')
  if (parts.length === 0) parts.push(quietSummary(events, isRunning))
  const completed = events.find((event) => event.type === 'turn.completed')
  const durationMs = completed ? countField(completed, 'durationMs') : null
  if (durationMs !== null) parts.push(durationText(durationMs))
  return capitalised(parts.join(' · '))
}

const counted: readonly (readonly [string, string, string, string])[] = [
  ['memory.stored', 'learned', 'memory', 'memories'],
  ['memory.reinforced', 'strengthened', 'memory', 'memories'],
  ['memory.merged', 'merged', 'memory', 'memories'],
  ['memory.conflicted', 'found', 'contradiction', 'contradictions'],
  ['memory.deleted', 'forgot', 'memory', 'memories'],
  ['signal.raised', 'noticed', 'thing', 'things'],
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
  if (events.some((event) => event.type === 'turn.completed')) return 'thought it through'
  const latest = events.findLast(({ type }) => taskProgress.has(type))
  if (latest) return titleOf(latest)
  if (events.some((event) => event.type === 'turn.started'))
    return isRunning ? 'answering…' : 'did not finish'
  const titles = [...new Set(events.map(titleOf))]
  return titles.length <= 2 ? titles.join(' · ') : plural(events.length, 'background step')
}

/** What the delegate is doing now, for a running turn. */
export function progressOf(events: readonly TimelineEvent[]): string {
  const last = stepsOf(events).findLast((step) => step.tool)
  if (last?.outcome === 'running') return `Using ${wordsText(last.title)}…`
  return 'Thinking…'
}
