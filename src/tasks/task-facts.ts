import type { EventOf, NewEvent } from '../../ledger/event.ts'
import type { TaskRow } from '../../projections/tasks.ts'
import { cleanText, endOf } from './clean-text.ts'

export type FailureKind = EventOf<'task.failed'>['facts']['kind']

type Cancelled = { readonly status: 'cancelled'; readonly by: TaskRow['by'] }

/** How a task ended. `text` comes from the assistant and is untrusted. */
export type TaskOutcome =
  | Cancelled
  | ({ readonly exitCode: number | null; readonly text: string } & (
      | { readonly status: 'finished'; readonly source: 'callback' | 'exit' }
      | { readonly status: 'failed'; readonly kind: FailureKind }
    ))

const MAX_OUTCOME_CHARS = 20_000

/** The idempotency key for the end of a task. The first report wins: process, callback, owner or restart. */
const endKey = (taskId: string) => `task-ended:${taskId}`

export function outcomeFact(row: TaskRow, outcome: TaskOutcome, nowMs: number): NewEvent {
  if (outcome.status === 'cancelled') return cancelledFact(row, outcome.by)
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

/** The fact of a cancelled task. It has no words. */
export function cancelledFact({ taskId, dispatchedSeq }: TaskRow, by: Cancelled['by']): NewEvent {
  return {
    type: 'task.cancelled',
    actor: by,
    channel: 'system',
    key: endKey(taskId),
    causedBy: dispatchedSeq,
    facts: { taskId, by },
  }
}

type Started = Pick<EventOf<'task.progressed'>['facts'], 'pid' | 'isolation'> & { readonly key?: string }

export function progressFact(
  { taskId, dispatchedSeq }: TaskRow,
  source: EventOf<'task.progressed'>['facts']['source'],
  text: string,
  { key, ...facts }: Started = {},
): NewEvent {
  return {
    type: 'task.progressed',
    actor: 'service',
    channel: 'system',
    key,
    causedBy: dispatchedSeq,
    derivedFrom: [dispatchedSeq],
    facts: { taskId, source, ...facts },
    body: { text },
  }
}
