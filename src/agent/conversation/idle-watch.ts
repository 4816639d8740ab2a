import type { Database } from 'better-sqlite3'
import type { Append } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import type { Ending } from './ending.ts'

export type IdleWatch = { start(): void; close(): Promise<void> }

const LOOK_EVERY_MS = 15_000

/**
 * Closes idle interactions and records a checkpoint over the turns since the last one, from which memories
 * are extracted. The conversation stays open.
 */
export function createIdleWatch(options: {
  readonly append: Append
  readonly ending: Ending
  readonly ledger: LedgerReader
  readonly views: Database
  readonly idleMs: () => number
  readonly onFault: (error: unknown) => void
  readonly lookEveryMs?: number | undefined
}): IdleWatch {
  const { append, ending, lookEveryMs = LOOK_EVERY_MS } = options
  const lastCheckpoint = options.views.prepare<[string], { toSeq: number | null }>(
    'SELECT max(toSeq) AS toSeq FROM memory_checkpoints WHERE conversationId = ?',
  )
  const turnsBetween = options.views.prepare<[string, number], { turns: number; toSeq: number | null }>(
    `SELECT count(*) AS turns, max(endedSeq) AS toSeq FROM turns
     WHERE conversationId = ? AND endedSeq > ? AND status IN ('completed', 'stopped')`,
  )
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function closeIdle(): Promise<void> {
    for (const { conversationId, spanId } of await ending.closeIdleSpans(options.idleMs())) {
      if (conversationId === null) continue
      const fromSeq = (lastCheckpoint.get(conversationId)?.toSeq ?? 0) + 1
      const since = turnsBetween.get(conversationId, fromSeq - 1)
      if (!since || since.toSeq === null) continue
      await append([
        {
          type: 'memory.checkpoint.created',
          actor: 'service',
          channel: 'inner',
          conversationId,
          spanId,
          key: `checkpoint:${conversationId}:${since.toSeq}`,
          facts: { fromSeq, toSeq: since.toSeq, turns: since.turns, reason: 'idle' },
        },
      ])
    }
  }

  return {
    start() {
      const tick = () => {
        running = running.then(closeIdle).catch(options.onFault)
      }
      tick()
      timer = setInterval(tick, lookEveryMs)
      timer.unref()
    },
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
