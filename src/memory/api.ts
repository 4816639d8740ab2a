import * as z from 'zod'
import type { UtteranceQueries } from '../../projections/utterances.ts'
import type { MemoryConfig } from './config.ts'
import type { DeduplicationCounts } from './counters.ts'
import { type MemoryStore, memoryStoreSchema, recentEventSchema } from './insights.ts'
import type { MemoryList, MemoryListQuery } from './listing.ts'
import type { EmbeddingState } from './recall/embedding.ts'
import type { RecallRuntime } from './recall/passive-recall.ts'

/** Response of `GET /api/memories/insights`. */
export const memoryInsightsSchema = z.object({
  store: memoryStoreSchema,
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
    embedding: z.object({
      model: z.string().nullable(),
      state: z.enum(['off', 'up_to_date', 'embedding', 'waiting']),
      embedded: z.int(),
      total: z.int(),
      failures: z.int(),
      lastFailure: z.object({ at: z.string(), kind: z.string() }).nullable(),
      retryAt: z.string().nullable(),
    }),
  }),
  recentEvents: z.array(recentEventSchema),
})

export type MemoryInsights = z.output<typeof memoryInsightsSchema>

export type MemoryApi = {
  /** Newest first. `beforeSeq` comes from the `nextCursor` of the previous page. */
  list(query: {
    readonly q: string | null
    readonly limit: number
    readonly beforeSeq: number | null
  }): Promise<MemoryList>
  insights(): Promise<MemoryInsights>
}

/** Documents of the memory routes. Reading a memory here does not count as a use. */
export function createMemoryApi(options: {
  readonly utterances: Pick<UtteranceQueries, 'lastFailure'>
  /** Runs in the query thread, after the views have caught up. */
  readonly listed: (query: MemoryListQuery) => Promise<MemoryList>
  /** Runs in the query thread. */
  readonly stored: () => Promise<MemoryStore>
  readonly config: () => MemoryConfig
  readonly counts: () => DeduplicationCounts
  readonly recallRuntime: () => RecallRuntime
  readonly embeddingState: () => EmbeddingState
  readonly isExtracting: () => boolean
  readonly extractsBy: () => 'model' | 'rules'
  readonly nowMs: () => number
}): MemoryApi {
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
      const { store, unread, recentEvents } = await options.stored()
      const failure = options.utterances.lastFailure()
      return {
        store,
        deduplication: options.counts(),
        runtime: {
          extraction: {
            method: options.extractsBy(),
            running: options.isExtracting(),
            unread,
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
          embedding: options.embeddingState(),
        },
        recentEvents: [...recentEvents],
      }
    },
  }
}
