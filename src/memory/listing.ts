import type { Database } from 'better-sqlite3'
import * as z from 'zod'
import { memoryKinds } from '../../ledger/events/memory.ts'
import { createMemoryQueries, type MemoryRow, searchMemories } from '../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import type { MemoryKind } from './learn/candidate.ts'
import { strengthOf } from './learn/strength.ts'

const memorySchema = z.object({
  id: z.string(),
  text: z.string(),
  kind: z.enum(memoryKinds),
  status: z.enum(['active', 'contested']),
  subject: z.string(),
  slot: z.string(),
  value: z.string(),
  quote: z.string(),
  strength: z.number(),
  reinforcements: z.int(),
  createdAt: z.string(),
  lastReinforcedAt: z.string().nullable(),
  lastSurfacedAt: z.string().nullable(),
  eventTime: z.string().nullable(),
  validFrom: z.string(),
  validUntil: z.string().nullable(),
  contestedWith: z.array(z.string()),
  sources: z.array(z.object({ seq: z.int(), conversationId: z.string().nullable() })),
})

/** Response of `GET /api/memories`. */
export const memoryListSchema = z.object({
  memories: z.array(memorySchema),
  count: z.int(),
  nextCursor: z.string().nullable(),
})

export type MemoryDocument = z.output<typeof memorySchema>
export type MemoryList = z.output<typeof memoryListSchema>

export type MemoryListQuery = {
  /** Words to search for; null for all memories. */
  readonly q: string | null
  readonly limit: number
  readonly beforeSeq: number | null
  readonly nowMs: number
  readonly halfLifeDays: number
}

/** Older uses change the strength too little to show. */
const STRENGTH_USES = 64
const SHOWN_SOURCES = 50

/**
 * Memories for the routes, newest first. Runs in the query thread, because it counts thousands of them.
 * Reading a memory here is not a use.
 */
export function createMemoryListing(views: Database): (query: MemoryListQuery) => MemoryList {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)

  function present(row: MemoryRow, { nowMs, halfLifeDays }: MemoryListQuery): MemoryDocument {
    const kind = kindOf(row.kind)
    const uses = queries.uses(row.memoryId, STRENGTH_USES).map(({ at }) => ({ atMs: Date.parse(at) }))
    const sourceSeqs = queries.sources(row.memoryId).slice(0, SHOWN_SOURCES)
    return {
      id: row.memoryId,
      text: row.text ?? '',
      kind,
      status: row.status === 'contested' ? 'contested' : 'active',
      subject: row.subject ?? '',
      slot: row.slot ?? '',
      value: row.value ?? '',
      quote: row.quote ?? '',
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

  return (query) => {
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
