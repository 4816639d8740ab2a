import type { NewEvent } from '../../ledger/event.ts'
import type { TaskRow } from '../../projections/tasks.ts'
import { cleanText, endOf } from './clean-text.ts'

/** How a task came to its end. `text` is what the assistant said of it, and is never trusted. */
export type TaskOutcome =
  | {
      readonly status: 'finished'
      readonly source: 'callback' | 'exit'
      readonly exitCode: number | null
      readonly text: string
    }
  | {
      readonly status: 'failed'
      readonly kind: 'callback' | 'exit' | 'timeout' | 'spawn' | 'interrupted' | 'not_configured'
      readonly exitCode: number | null
      readonly text: string
    }

/** Of an outcome so much is kept. */
const MAX_OUTCOME_CHARS = 20_000

/** The one key under which a task ends, whoever says so first: its process, its callback, the owner, a restart. */
export const endKey = (taskId: string) => `task-ended:${taskId}`

/** The fact of an outcome. */
export function outcomeFact(row: TaskRow, outcome: TaskOutcome, nowMs: number): NewEvent {
  const { taskId, dispatchedSeq } = row
  const startedMs = row.startedAt === null ? nowMs : Date.parse(row.startedAt)
  const durationMs = Math.max(0, Math.round(nowMs - startedMs))
  const common = {
    actor: 'service' as const,
    channel: 'system' as const,
    key: endKey(taskId),
    causedBy: dispatchedSeq,
    derivedFrom: [dispatchedSeq],
    body: { text: endOf(cleanText(outcome.text), MAX_OUTCOME_CHARS) },
  }
  const { exitCode } = outcome
  return outcome.status === 'finished'
    ? { type: 'task.finished', ...common, facts: { taskId, source: outcome.source, exitCode, durationMs } }
    : { type: 'task.failed', ...common, facts: { taskId, kind: outcome.kind, exitCode, durationMs } }
}
