import * as z from 'zod'
import type { LedgerEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { MemoryCount, MemoryQueries, MemoryRow } from '../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../projections/utterances.ts'
import type { MemoryConfig } from './config.ts'
import type { DeduplicationCounts } from './counters.ts'
import type { MemoryList, MemoryListQuery } from './listing.ts'
import type { RecallRuntime } from './passive-recall.ts'

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

export type MemoryInsights = z.output<typeof memoryInsightsSchema>

export type MemoryApi = {
  /** Newest first. `cursor` is the `nextCursor` of the page before. */
  list(query: {
    readonly q: string | null
    readonly limit: number
    readonly beforeSeq: number | null
  }): Promise<MemoryList>
  insights(): Promise<MemoryInsights>
}

const RECENT_EVENTS = 50

/** The documents of the memory routes. Reading them is a use of nothing. */
export function createMemoryApi(options: {
  readonly ledger: LedgerReader
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
  /** In the query thread, once the views are caught up. */
  readonly listed: (query: MemoryListQuery) => Promise<MemoryList>
  readonly counted: () => Promise<readonly MemoryCount[]>
  readonly config: () => MemoryConfig
  readonly counts: () => DeduplicationCounts
  readonly recallRuntime: () => RecallRuntime
  readonly isExtracting: () => boolean
  readonly extractsBy: () => 'model' | 'rules'
  readonly nowMs: () => number
}): MemoryApi {
  const { ledger, queries, utterances } = options

  /** The words that a recent event is about, as far as they are still there. */
  function wordsOf(event: LedgerEvent): { readonly text?: string } {
    if (event.type === 'memory.stored') return event.body ? { text: event.body.text } : {}
    const about =
      event.type === 'memory.merged'
        ? event.facts.mergedId
        : event.type === 'memory.overridden' || event.type === 'memory.retired'
          ? event.facts.memoryId
          : null
    const memory = about === null ? undefined : queries.byId(about)
    // Once it holds again there is nothing more to be said of that.
    return memory?.text && memory.status !== 'active' ? { text: memory.text } : {}
  }

  return {
    list: ({ q, limit, beforeSeq }) =>
      options.listed({
        q,
        limit,
        beforeSeq,
        nowMs: options.nowMs(),
        halfLifeDays: options.config().strengthHalfLifeDays,
      }),
    async insights() {
      const counts = await options.counted()
      const of = (status: MemoryRow['status']) =>
        counts.reduce((sum, row) => sum + (row.status === status ? row.count : 0), 0)
      const current = counts.filter(({ status }) => status === 'active' || status === 'contested')
      const byKind: Record<string, number> = {}
      for (const { kind, count } of current) byKind[kind] = (byKind[kind] ?? 0) + count
      const failure = utterances.lastFailure()
      return {
        store: {
          total: of('active') + of('contested'),
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
                    ...wordsOf(event),
                  },
                },
              ],
        ),
      }
    },
  }
}
