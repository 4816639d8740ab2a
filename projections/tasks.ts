import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type TaskRow = {
  taskId: string
  /** The event with its title and prompt. */
  dispatchedSeq: number
  status: 'queued' | 'running' | 'finished' | 'failed' | 'cancelled'
  notify: 'chat' | 'sms' | 'webhook'
  timeoutMinutes: number
  by: 'owner' | 'delegate'
  retryOf: string | null
  dispatchedAt: string
  startedAt: string | null
  /** Null if unknown, or if the process has ended. */
  pid: number | null
  /** What kept its program from the service's data; null if it has not started, or if unknown. */
  isolation: 'bubblewrap' | 'user' | 'none' | null
  endedAt: string | null
  /** The event with its outcome. */
  endedSeq: number | null
  /** Why it failed. */
  kind: string | null
  exitCode: number | null
  durationMs: number | null
  progressCount: number
  lastProgressSeq: number | null
  lastAt: string
  /** Its open span on the timeline, and the number of its events in that span. */
  spanId: string | null
  spanEvents: number
  conversationId: string | null
  /** Whether a delivery of its outcome was requested: 0 or 1. */
  announced: number
}

/** Tasks from their dispatch to their outcome. */
export const tasksProjection = defineProjection({
  name: 'tasks',
  version: 2,
  tables: ['tasks'],
  schema: `
    CREATE TABLE tasks (
      taskId TEXT PRIMARY KEY, dispatchedSeq INTEGER NOT NULL, status TEXT NOT NULL, notify TEXT NOT NULL,
      timeoutMinutes INTEGER NOT NULL, by TEXT NOT NULL, retryOf TEXT, dispatchedAt TEXT NOT NULL, startedAt TEXT,
      pid INTEGER, isolation TEXT, endedAt TEXT, endedSeq INTEGER, kind TEXT, exitCode INTEGER, durationMs INTEGER,
      progressCount INTEGER NOT NULL DEFAULT 0, lastProgressSeq INTEGER, lastAt TEXT NOT NULL,
      spanId TEXT, spanEvents INTEGER NOT NULL DEFAULT 1, conversationId TEXT, announced INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX tasks_by_seq ON tasks (dispatchedSeq);
    CREATE INDEX tasks_open ON tasks (dispatchedSeq) WHERE status IN ('queued', 'running');
    CREATE INDEX tasks_unannounced ON tasks (endedSeq) WHERE announced = 0 AND status IN ('finished', 'failed');
    CREATE INDEX tasks_with_span ON tasks (spanId) WHERE spanId IS NOT NULL;`,
  fold(db) {
    const dispatch =
      db.prepare(`INSERT OR IGNORE INTO tasks (taskId, dispatchedSeq, status, notify, timeoutMinutes, by,
      retryOf, dispatchedAt, lastAt, spanId, conversationId)
      VALUES (@taskId, @seq, 'queued', @notify, @timeoutMinutes, @by, @retryOf, @at, @at, @spanId, @conversationId)`)
    const touch = db.prepare(`UPDATE tasks SET lastAt = @at,
      spanEvents = CASE WHEN spanId IS @spanId THEN spanEvents + 1 ELSE 1 END, spanId = @spanId,
      conversationId = @conversationId WHERE taskId = @taskId`)
    const begin = db.prepare(`UPDATE tasks SET status = 'running', startedAt = coalesce(startedAt, @at),
      pid = coalesce(@pid, pid), isolation = coalesce(@isolation, isolation) WHERE taskId = @taskId AND status IN ('queued', 'running')`)
    const progress = db.prepare(`UPDATE tasks SET progressCount = progressCount + 1, lastProgressSeq = @seq
      WHERE taskId = @taskId`)
    const end = db.prepare(`UPDATE tasks SET status = @status, endedAt = @at, endedSeq = @seq, kind = @kind,
      exitCode = @exitCode, durationMs = @durationMs, pid = NULL
      WHERE taskId = @taskId AND status IN ('queued', 'running')`)
    const closeSpan = db.prepare('UPDATE tasks SET spanId = NULL WHERE spanId = ?')
    const announce = db.prepare('UPDATE tasks SET announced = 1 WHERE taskId = ?')
    type Placed = {
      readonly at: string
      readonly spanId: string | null
      readonly conversationId: string | null
    }
    const touched = (taskId: string, { at, spanId, conversationId }: Placed): void =>
      void touch.run({ taskId, at, spanId, conversationId })
    return {
      handlers: {
        'task.dispatched': ({ seq, at, spanId, conversationId, facts }) => {
          const { taskId, notify, timeoutMinutes, by, retryOf = null } = facts
          dispatch.run({ seq, at, spanId, conversationId, taskId, notify, timeoutMinutes, by, retryOf })
        },
        'task.progressed': (event) => {
          const { taskId, source, pid = null, isolation = null } = event.facts
          touched(taskId, event)
          if (source === 'started') begin.run({ taskId, at: event.at, pid, isolation })
          else progress.run({ taskId, seq: event.seq })
        },
        'task.finished': (event) => {
          const { taskId, exitCode, durationMs } = event.facts
          touched(taskId, event)
          const { seq, at } = event
          end.run({ taskId, seq, at, status: 'finished', kind: null, exitCode, durationMs })
        },
        'task.failed': (event) => {
          const { taskId, kind, exitCode, durationMs } = event.facts
          touched(taskId, event)
          end.run({ taskId, seq: event.seq, at: event.at, status: 'failed', kind, exitCode, durationMs })
        },
        'task.cancelled': (event) => {
          const { taskId } = event.facts
          touched(taskId, event)
          const { seq, at } = event
          end.run({ taskId, seq, at, status: 'cancelled', kind: null, exitCode: null, durationMs: null })
        },
        'delivery.requested': (event) => {
          const { taskId } = event.facts
          if (taskId === null) return
          touched(taskId, event)
          announce.run(taskId)
        },
        'span.closed': ({ spanId }) => void closeSpan.run(spanId),
      },
    }
  },
})

export function createTaskQueries(views: Database) {
  const byId = views.prepare<[string], TaskRow>('SELECT * FROM tasks WHERE taskId = ?')
  const queued = views.prepare<[], TaskRow>(
    "SELECT * FROM tasks WHERE status IN ('queued', 'running') AND status = 'queued' ORDER BY dispatchedSeq",
  )
  const running = views.prepare<[], TaskRow>(
    "SELECT * FROM tasks WHERE status IN ('queued', 'running') AND status = 'running' ORDER BY dispatchedSeq",
  )
  const unannounced = views.prepare<[], TaskRow>(
    "SELECT * FROM tasks WHERE announced = 0 AND status IN ('finished', 'failed') ORDER BY endedSeq",
  )
  const withSpan = views.prepare<[], TaskRow>('SELECT * FROM tasks WHERE spanId IS NOT NULL')
  const page = views.prepare<[number, number], TaskRow>(
    'SELECT * FROM tasks WHERE dispatchedSeq < ? ORDER BY dispatchedSeq DESC LIMIT ?',
  )
  return {
    byId: (taskId: string) => byId.get(taskId),
    /** In the order of their dispatch. */
    queued: () => queued.all(),
    /** Running, or interrupted by a crash. */
    running: () => running.all(),
    /** Ended without a requested delivery. */
    unannounced: () => unannounced.all(),
    withOpenSpan: () => withSpan.all(),
    /** Newest first, dispatched before `beforeSeq`. */
    page: (limit: number, beforeSeq: number | null) => page.all(beforeSeq ?? Number.MAX_SAFE_INTEGER, limit),
  }
}
