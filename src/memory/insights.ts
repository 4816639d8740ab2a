import type { LedgerEvent } from '../../ledger/event.ts'
import { createMemoryQueries, isKept, type MemoryRow } from '../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import type { Sources } from '../storage/function-thread.ts'

const RECENT_EVENTS = 50

/** Memory counts and recent memory events. Runs in the query thread, because it counts all memories. */
export function createMemoryStoreQuery({ views, ledger }: Pick<Sources, 'views' | 'ledger'>) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)

  function wordsOf(event: LedgerEvent): { readonly text?: string } {
    if (event.type === 'memory.stored') return event.body ? { text: event.body.text } : {}
    const about =
      event.type === 'memory.merged'
        ? event.facts.mergedId
        : event.type === 'memory.overridden' || event.type === 'memory.retired'
          ? event.facts.memoryId
          : null
    const memory = about === null ? undefined : queries.byId(about)
    return memory?.text && memory.status !== 'active' ? { text: memory.text } : {}
  }

  return (_none: null) => {
    const counts = queries.counts()
    const of = (status: MemoryRow['status']) =>
      counts.reduce((sum, row) => sum + (row.status === status ? row.count : 0), 0)
    const byKind: Record<string, number> = {}
    for (const { status, kind, count } of counts)
      if (isKept(status)) byKind[kind] = (byKind[kind] ?? 0) + count
    return {
      store: {
        total: of('active') + of('contested') + of('provisional'),
        active: of('active'),
        contested: of('contested'),
        ...(of('provisional') > 0 ? { provisional: of('provisional') } : {}),
        superseded: of('superseded'),
        retired: of('retired'),
        forgotten: of('deleted'),
        byKind,
      },
      /** The owner's utterances still to be read. */
      unread: utterances.unreadCount(),
      recentEvents: ledger.readSeqs(queries.latestEventSeqs(RECENT_EVENTS)).flatMap((event) => {
        if (event.type === 'unknown') return []
        const { seq, type, at, conversationId, facts } = event
        const payload: Record<string, unknown> = { ...facts, ...wordsOf(event) }
        return [{ seq, type, at, conversationId, payload }]
      }),
    }
  }
}
