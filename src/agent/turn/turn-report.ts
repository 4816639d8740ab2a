import type { AnyEvent } from '../../../ledger/reader.ts'
import { createMemoryQueries, isHidden, isKept } from '../../../projections/memory-queries.ts'
import { createSignalQueries } from '../../../projections/signals.ts'
import { createTurnQueries } from '../../../projections/turns.ts'
import type { ModelId } from '../../model/port.ts'
import type { Storage } from '../../storage/storage.ts'

/** What a turn on a model cost, in millionths of a dollar; null if nothing was recorded. */
export type CostOf = (turnId: string, model: ModelId | null) => number | null

/**
 * Reports what a turn was given and what it did, from its facts, for `GET /api/turns/:id`. Undefined for an
 * unknown turn.
 */
export function createTurnReport({
  ledger,
  views,
  costOf,
}: Pick<Storage, 'ledger' | 'views'> & { readonly costOf: CostOf }) {
  const turns = createTurnQueries(views)
  const memories = createMemoryQueries(views)
  const { seqOf } = createSignalQueries(views)

  /** A memory as it is now. The text is null if it is forgotten. */
  function memory(id: string) {
    const row = memories.byId(id)
    if (row === undefined || isHidden(row)) return { id, text: null }
    const { status, supersededBy } = row
    const successor =
      status === 'superseded' && supersededBy !== null ? memories.byId(supersededBy) : undefined
    const replacedBy =
      successor?.text && isKept(successor.status)
        ? { replacedBy: { id: successor.memoryId, text: successor.text, at: successor.createdAt } }
        : {}
    return { id, text: row.text, ...(isKept(status) ? {} : { current: false as const }), ...replacedBy }
  }

  return (turnId: string) => {
    const turn = turns.byId(turnId)
    if (!turn) return undefined
    const events = ledger.readSeqs(turns.eventSeqs(turnId))
    const started = events.find((event) => event.type === 'turn.started')
    const completed = events.findLast((event) => event.type === 'turn.completed')
    const returned = new Map(
      events.flatMap((event) =>
        event.type === 'tool.returned' ? [[event.facts.callId, event] as const] : [],
      ),
    )
    const model = completed?.facts.model ?? started?.facts.model ?? null
    const { channel, status, startedAt, endedAt, inputTokens, outputTokens, cachedTokens } = turn
    return {
      turnId,
      channel,
      status,
      startedAt,
      completedAt: endedAt,
      model,
      failedModels: completed?.facts.failedModels ?? [],
      memories: events.flatMap((event) =>
        event.type === 'memory.recalled'
          ? event.facts.ids.map((id) => ({ ...memory(id), late: event.facts.late }))
          : [],
      ),
      suppressed: events.flatMap((event) =>
        event.type === 'memory.recall.suppressed'
          ? event.facts.ids.map((id) => ({ id, reason: event.facts.reason }))
          : [],
      ),
      signals: signalIdsOf(events).flatMap((id) => {
        const seq = seqOf(id)
        const [signal] = seq === null ? [] : ledger.readSeqs([seq])
        return signal?.type === 'signal.raised'
          ? [{ id, kind: signal.facts.kind, text: signal.body?.text ?? null }]
          : []
      }),
      adaptations: started?.facts.adaptationIds ?? [],
      tools: events.flatMap((event) => {
        if (event.type !== 'tool.called') return []
        const { callId, tool } = event.facts
        const outcome = returned.get(callId)
        return [
          {
            callId,
            tool,
            arguments: event.body?.arguments ?? null,
            outcome: outcome?.facts.outcome ?? null,
            result: outcome?.body?.result ?? null,
            durationMs: outcome?.facts.durationMs ?? null,
          },
        ]
      }),
      foreign: completed?.facts.foreignSeqs
        ? ledger
            .readSeqs(completed.facts.foreignSeqs)
            .map((event) => ({ seq: event.seq, type: event.type, tool: toolOf(event) }))
        : null,
      leftOut: completed?.facts.leftOut ?? null,
      usage: { inputTokens, outputTokens, cachedTokens },
      costMicros: costOf(turnId, model),
    }
  }
}

function toolOf(event: AnyEvent): string | null {
  return event.type === 'tool.called' || event.type === 'tool.returned' ? event.facts.tool : null
}

/** Signals that triggered or were attached to the turn, once each: a turn may be resumed. */
function signalIdsOf(events: readonly AnyEvent[]): string[] {
  const ids = events.flatMap((event) =>
    event.type === 'activation.started' || event.type === 'turn.started' ? event.facts.signalIds : [],
  )
  return [...new Set(ids)]
}
