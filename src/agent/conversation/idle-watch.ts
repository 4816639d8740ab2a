import type { Database } from 'better-sqlite3'
import type { Append, NewEvent } from '../../../ledger/event.ts'
import type { SubscribeHead } from '../../../ledger/follow.ts'
import type { OpenSpanRow } from '../../../projections/open-spans.ts'
import { createReactor, type Reactor } from '../../lib/reactor.ts'
import { spanClosed } from '../../lib/spans.ts'
import type { Ending } from './ending.ts'

const LOOK_EVERY_MS = 15_000

/**
 * Closes idle interactions and records a checkpoint over the turns since the last one, from which memories
 * are extracted. The conversation stays open.
 */
export function createIdleWatch(options: {
  readonly append: Append
  readonly ending: Ending
  readonly views: Database
  readonly onHeadMoved: SubscribeHead
  readonly idleMs: () => number
  readonly onFault: (error: unknown) => void
  readonly lookEveryMs?: number | undefined
}): Reactor {
  const { append, ending, lookEveryMs = LOOK_EVERY_MS } = options
  const lastCheckpoint = options.views.prepare<[string], { toSeq: number | null }>(
    'SELECT max(toSeq) AS toSeq FROM memory_checkpoints WHERE conversationId = ?',
  )
  const turnsBetween = options.views.prepare<[string, number], { turns: number; toSeq: number | null }>(
    `SELECT count(*) AS turns, max(endedSeq) AS toSeq FROM turns
     WHERE conversationId = ? AND endedSeq > ? AND status IN ('completed', 'stopped')`,
  )
  function checkpointOf({ conversationId, spanId }: OpenSpanRow): NewEvent[] {
    if (conversationId === null) return []
    const fromSeq = (lastCheckpoint.get(conversationId)?.toSeq ?? 0) + 1
    const since = turnsBetween.get(conversationId, fromSeq - 1)
    if (!since || since.toSeq === null) return []
    return [
      {
        type: 'memory.checkpoint.created',
        actor: 'service',
        channel: 'inner',
        conversationId,
        spanId,
        key: `checkpoint:${conversationId}:${since.toSeq}`,
        facts: { fromSeq, toSeq: since.toSeq, turns: since.turns, reason: 'idle' },
      },
    ]
  }

  return createReactor<OpenSpanRow>({
    onHeadMoved: options.onHeadMoved,
    areas: ['span'],
    next: () => ending.idleSpans(options.idleMs())[0],
    run: (span) => append([spanClosed(span, 'idle'), ...checkpointOf(span)]),
    dueInMs: () => lookEveryMs,
    onFault: options.onFault,
  })
}
