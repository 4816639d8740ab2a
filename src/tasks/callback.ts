import { createHmac, randomBytes } from 'node:crypto'
import type { TaskRow } from '../../projections/tasks.ts'
import { parseJson } from '../lib/parse-json.ts'
import { oneLine, shorten } from '../lib/shorten.ts'
import { cleanText } from './clean-text.ts'
import { outcomeFact, progressFact, type TaskOutcome } from './task-facts.ts'
import type { TaskStore } from './task-store.ts'

/** A report from a hook of the coding assistant. `payload` is untrusted. */
export type HookReport = {
  readonly hookType: string
  readonly taskId: string
  readonly payload: Readonly<Record<string, unknown>>
}

export type CallbackAction = 'recorded' | 'ignored'

/** Progress reports kept per task. */
export const MAX_PROGRESS = 500
const MAX_PROGRESS_CHARS = 500
/** Reasons of `sessionEnd` that mean failure, by the assistant's hook reference. */
const FAILED_REASONS = new Set(['error', 'abort', 'timeout'])
/** Fields that may hold the outcome, by precedence. */
const RESULT_FIELDS = ['result', 'summary', 'text', 'message', 'output', 'finalMessage']

/**
 * Accepts the reports of hooks for running tasks; others are ignored. The task id authenticates a report,
 * because only the task's process and the owner know it.
 */
export function createCallback(options: {
  readonly store: Pick<TaskStore, 'tasks' | 'append'>
  /** The output of a task's process so far. */
  readonly outputOf: (taskId: string) => string
  /** Called once when a callback has ended a task. Its process may still be running. */
  readonly onEnded: (taskId: string) => void
  /** Removes the service's secrets. */
  readonly mask: (text: string) => string
  readonly nowMs: () => number
}) {
  const { tasks, append } = options.store
  const textOf: TextOf = (value) => (typeof value === 'string' ? options.mask(cleanText(value)) : '')
  // Ledger keys outlive an erasure, so an unkeyed digest would let anybody guess the report. The key need not last: no
  // task outlives this process.
  const hashKey = randomBytes(32)

  async function progress(row: TaskRow, report: HookReport): Promise<CallbackAction> {
    if (row.progressCount >= MAX_PROGRESS) return 'ignored'
    const text = shorten(oneLine(progressText(report, textOf)), MAX_PROGRESS_CHARS)
    // A hook that got no response sends the same report again.
    const digest = createHmac('sha256', hashKey).update(JSON.stringify(report)).digest('hex')
    const key = `task-progress:${digest}`
    const result = await append(row.taskId, [progressFact(row, 'callback', text, { key })])
    return result.status === 'appended' ? 'recorded' : 'ignored'
  }

  async function end(row: TaskRow, outcome: TaskOutcome): Promise<CallbackAction> {
    const result = await append(row.taskId, [outcomeFact(row, outcome, options.nowMs())])
    if (result.status === 'duplicate') return 'ignored'
    options.onEnded(row.taskId)
    return 'recorded'
  }

  return {
    /** Looks up the task first: the sender may be a stranger, and the payload large. */
    async receive(report: HookReport): Promise<CallbackAction> {
      const { hookType, taskId, payload } = report
      const row = tasks.byId(taskId)
      if (row?.status !== 'running') return 'ignored'
      if (hookType === 'postToolUse') return progress(row, report)
      if (hookType === 'errorOccurred') {
        // The assistant reports errors that it recovers from as well.
        if (payload.recoverable === true) return progress(row, report)
        const text = errorText(payload, textOf) || options.outputOf(taskId)
        return end(row, { status: 'failed', kind: 'callback', exitCode: null, text })
      }
      if (hookType === 'sessionEnd') {
        const text = resultText(payload, textOf) || options.outputOf(taskId)
        return end(
          row,
          FAILED_REASONS.has(textOf(payload.reason))
            ? { status: 'failed', kind: 'callback', exitCode: null, text: errorText(payload, textOf) || text }
            : { status: 'finished', source: 'callback', exitCode: null, text },
        )
      }
      return 'ignored'
    },
  }
}

/** A value of a payload without secrets and control characters; empty if it is no text. */
type TextOf = (value: unknown) => string

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined
}

function resultText(payload: HookReport['payload'], textOf: TextOf): string {
  for (const field of RESULT_FIELDS) {
    const text = textOf(payload[field])
    if (text.trim() !== '') return text
  }
  return ''
}

function errorText(payload: HookReport['payload'], textOf: TextOf): string {
  const { error } = payload
  return textOf(error) || textOf(fieldOf(error, 'message')) || resultText(payload, textOf)
}

/** A line such as "bash: npm test (failure)", or the error that the assistant recovered from. */
function progressText({ hookType, payload }: HookReport, textOf: TextOf): string {
  if (hookType === 'errorOccurred')
    return `Went on after an error: ${errorText(payload, textOf) || 'unknown'}`
  const tool = textOf(payload.toolName) || textOf(payload.tool_name) || 'A tool was used'
  const args = payload.toolArgs ?? payload.tool_input
  // An object, its JSON, or a command as it is.
  const given = typeof args === 'string' ? (parseJson(args) ?? { command: args }) : args
  const command = textOf(fieldOf(given, 'command')) || textOf(fieldOf(given, 'path'))
  const kind = textOf(fieldOf(payload.toolResult, 'resultType'))
  return [
    tool,
    command === '' ? '' : `: ${shorten(command, 300)}`,
    kind === '' || kind === 'success' ? '' : ` (${kind})`,
  ].join('')
}
