import * as z from 'zod'
import { memoryKinds } from '../../ledger/events/memory.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { MemoryQueries, MemoryRow, MemorySearch } from '../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../projections/utterances.ts'
import type { MemoryKind } from './candidate.ts'
import type { MemoryConfig } from './config.ts'
import type { DeduplicationCounts } from './counters.ts'
import type { RecallRuntime } from './passive-recall.ts'
import { strengthOf } from './strength.ts'

const memorySchema = z.object({
  id: z.string(),
  text: z.string(),
  kind: z.enum(memoryKinds),
  status: z.enum(['active', 'contested']),
  subject: z.string(),
  slot: z.string(),
  value: z.string(),
  quote: z.string(),
  /** 0..1. */
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

/** The answer of `GET /api/memories`. */
export const memoryListSchema = z.object({
  memories: z.array(memorySchema),
  count: z.int(),
  nextCursor: z.string().nullable(),
})

/** The answer of `GET /api/memories/insights`. */
export const memoryInsightsSchema = z.object({
  store: z.object({
    total: z.int(),
    active: z.int(),
    contested: z.int(),
    superseded: z.int(),
    retired: z.int(),
    forgotten: z.int(),
    byKind: z.record(z.string(), z.int()),
  }),
  deduplication: z.object({
    since: z.string(),
    candidates: z.int(),
    inserted: z.int(),
    reinforced: z.int(),
    merged: z.int(),
    discarded: z.int(),
    suppressed: z.int(),
  }),
  runtime: z.object({
    extraction: z.object({
      method: z.enum(['model', 'rules']),
      running: z.boolean(),
      unread: z.int(),
      lastFailure: z
        .object({
          at: z.string(),
          kind: z.string(),
          attempt: z.int(),
          final: z.boolean(),
          retryAt: z.string().nullable(),
        })
        .nullable(),
    }),
    recall: z.object({
      queries: z.int(),
      inTime: z.int(),
      late: z.int(),
      failed: z.int(),
      waiting: z.int(),
      lastDurationMs: z.number().nullable(),
    }),
  }),
  recentEvents: z.array(
    z.object({
      seq: z.int(),
      type: z.string(),
      at: z.string(),
      conversationId: z.string().nullable(),
      payload: z.record(z.string(), z.unknown()),
    }),
  ),
})

export type MemoryDocument = z.output<typeof memorySchema>
export type MemoryList = z.output<typeof memoryListSchema>
export type MemoryInsights = z.output<typeof memoryInsightsSchema>

export type MemoryApi = {
  /** Newest first. `cursor` is the `nextCursor` of the page before. */
  list(query: {
    readonly q: string | null
    readonly limit: number
    readonly beforeSeq: number | null
  }): Promise<MemoryList>
  /** One memory; undefined where it is unknown, forgotten or no longer current. */
  get(memoryId: string): MemoryDocument | undefined
  insights(): MemoryInsights
}

const STRENGTH_USES = 200
const SHOWN_SOURCES = 50
const RECENT_EVENTS = 50

/** The documents of the memory routes. Reading them is a use of nothing. */
export function createMemoryApi(options: {
  readonly ledger: LedgerReader
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
  readonly search: (
    query: MemorySearch,
  ) => Promise<{ readonly rows: readonly MemoryRow[]; readonly count: number }>
  readonly config: () => MemoryConfig
  readonly counts: () => DeduplicationCounts
  readonly recallRuntime: () => RecallRuntime
  readonly isExtracting: () => boolean
  readonly extractsBy: () => 'model' | 'rules'
  readonly nowMs: () => number
}): MemoryApi {
  const { ledger, queries, utterances } = options

  function present(row: MemoryRow): MemoryDocument {
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
      strength: strengthOf(uses, {
        kind,
        nowMs: options.nowMs(),
        halfLifeDays: options.config().strengthHalfLifeDays,
      }),
      reinforcements: row.reinforcements,
      createdAt: row.createdAt,
      lastReinforcedAt: row.lastReinforcedAt,
      lastSurfacedAt: row.lastSurfacedAt,
      eventTime: row.eventTime,
      validFrom: row.validFrom,
      validUntil: row.validUntil,
      contestedWith: queries.contestedWith(row.memoryId),
      sources: ledger.readSeqs(sourceSeqs).map(({ seq, conversationId }) => ({ seq, conversationId })),
    }
  }

  return {
    async list({ q, limit, beforeSeq }) {
      const query = q?.trim() ?? ''
      const { rows, count } =
        query === ''
          ? { rows: queries.current(beforeSeq ?? Number.MAX_SAFE_INTEGER, limit + 1), count: queries.count() }
          : await options.search({ query, limit: limit + 1, beforeSeq })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        memories: page.map(present),
        count,
        nextCursor: rows.length > limit && last ? String(last.storedSeq) : null,
      }
    },
    get(memoryId) {
      const row = queries.byId(memoryId)
      return row?.status === 'active' || row?.status === 'contested' ? present(row) : undefined
    },
    insights() {
      const counts = queries.counts()
      const of = (status: MemoryRow['status']) =>
        counts.reduce((sum, row) => sum + (row.status === status ? row.count : 0), 0)
      const current = counts.filter(({ status }) => status === 'active' || status === 'contested')
      const byKind: Record<string, number> = {}
      for (const { kind, count } of current) byKind[kind] = (byKind[kind] ?? 0) + count
      const failure = utterances.lastFailure()
      return {
        store: {
          total: queries.count(),
          active: of('active'),
          contested: of('contested'),
          superseded: of('superseded'),
          retired: of('retired'),
          forgotten: of('deleted'),
          byKind,
        },
        deduplication: options.counts(),
        runtime: {
          extraction: {
            method: options.extractsBy(),
            running: options.isExtracting(),
            unread: utterances.unreadCount(),
            lastFailure: failure
              ? {
                  at: failure.at,
                  kind: failure.kind,
                  attempt: failure.attempt,
                  final: failure.final === 1,
                  retryAt: failure.retryAt,
                }
              : null,
          },
          recall: options.recallRuntime(),
        },
        recentEvents: ledger.readSeqs(queries.latestEventSeqs(RECENT_EVENTS)).flatMap((event) =>
          event.type === 'unknown'
            ? []
            : [
                {
                  seq: event.seq,
                  type: event.type,
                  at: event.at,
                  conversationId: event.conversationId,
                  payload: {
                    ...event.facts,
                    ...(event.type === 'memory.stored' && event.body ? { text: event.body.text } : {}),
                  },
                },
              ],
        ),
      }
    },
  }
}

function kindOf(kind: string): MemoryKind {
  return memoryKinds.find((known) => known === kind) ?? 'episode'
}
