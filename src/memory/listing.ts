import { memoryKinds } from '../../ledger/events/memory.ts'
import {
  createMemoryQueries,
  isKept,
  type MemoryRow,
  searchMemories,
} from '../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import type { Sources } from '../storage/function-thread.ts'
import type { MemoryKind } from './learn/candidate.ts'
import { strengthOf } from './learn/strength.ts'

export type MemoryListQuery = {
  /** Words to search for; null for all memories. */
  readonly q: string | null
  readonly limit: number
  readonly beforeSeq: number | null
  readonly nowMs: number
  readonly halfLifeDays: number
}

export type MemoryList = ReturnType<ReturnType<typeof createMemoryListing>>

/** Older uses change the strength too little to show. */
const STRENGTH_USES = 64
const SHOWN_SOURCES = 50

/**
 * Memories for the routes, newest first. Runs in the query thread, because it counts thousands of them.
 * Reading a memory here is not a use.
 */
export function createMemoryListing({ views, ledger }: Pick<Sources, 'views' | 'ledger'>) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)

  /** Searched by recall alone, so no view has them. */
  function keywordsOf({ storedSeq }: MemoryRow): { readonly keywords?: string[] } {
    const [event] = ledger.readSeqs([storedSeq])
    const keywords = event?.type === 'memory.stored' ? event.body?.keywords : undefined
    return keywords?.length ? { keywords } : {}
  }

  function present(row: MemoryRow, { nowMs, halfLifeDays }: MemoryListQuery) {
    const kind = kindOf(row.kind)
    const uses = queries.uses(row.memoryId, STRENGTH_USES).map(({ at }) => ({ atMs: Date.parse(at) }))
    const sourceSeqs = queries.sources(row.memoryId).slice(0, SHOWN_SOURCES)
    return {
      id: row.memoryId,
      text: row.text ?? '',
      kind,
      status: isKept(row.status) ? row.status : ('active' as const),
      subject: row.subject ?? '',
      slot: row.slot ?? '',
      value: row.value ?? '',
      quote: row.quote ?? '',
      ...keywordsOf(row),
      strength: strengthOf(uses, { kind, nowMs, halfLifeDays }),
      reinforcements: row.reinforcements,
      createdAt: row.createdAt,
      lastReinforcedAt: row.lastReinforcedAt,
      lastSurfacedAt: row.lastSurfacedAt,
      eventTime: row.eventTime,
      validFrom: row.validFrom,
      validUntil: row.validUntil,
      contestedWith: queries.contestedWith(row.memoryId),
      sources: sourceSeqs.map((seq) => ({
        seq,
        conversationId: utterances.bySeq(seq)?.conversationId ?? null,
      })),
    }
  }

  return (query: MemoryListQuery) => {
    const { q, limit, beforeSeq } = query
    const words = q?.trim() ?? ''
    const { rows, count } =
      words === ''
        ? { rows: queries.current(beforeSeq ?? Number.MAX_SAFE_INTEGER, limit + 1), count: queries.count() }
        : searchMemories(views, { query: words, limit: limit + 1, beforeSeq })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      memories: page.map((row) => present(row, query)),
      count,
      nextCursor: rows.length > limit && last ? String(last.storedSeq) : null,
    }
  }
}

function kindOf(kind: string): MemoryKind {
  return memoryKinds.find((known) => known === kind) ?? 'episode'
}
