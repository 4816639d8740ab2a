import type { MemoryRow } from '../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../projections/utterances.ts'
import type { MemoryConfig } from './config.ts'
import type { DeduplicationCounts } from './counters.ts'
import type { MemoryStore } from './insights.ts'
import type { createMemoryPresenter, MemoryList, MemoryListQuery } from './listing.ts'
import type { EmbeddingState } from './recall/embedding.ts'
import type { RecallRuntime } from './recall/passive-recall.ts'
import type { createRecallExamples } from './recall-examples.ts'

export type MemoryApi = ReturnType<typeof createMemoryApi>

/** Documents of the memory routes. Reading a memory here does not count as a use. */
export function createMemoryApi(options: {
  readonly utterances: Pick<UtteranceQueries, 'lastFailure'>
  /** Runs in the query thread, after the views have caught up. */
  readonly listed: (query: MemoryListQuery) => Promise<MemoryList>
  readonly present: ReturnType<typeof createMemoryPresenter>
  readonly pinnedTokens: () => { readonly used: number; readonly limit: number }
  /** Runs in the query thread. */
  readonly stored: () => Promise<MemoryStore>
  readonly recallExamples: ReturnType<typeof createRecallExamples>
  readonly config: () => MemoryConfig
  readonly counts: () => DeduplicationCounts
  readonly recallRuntime: () => RecallRuntime
  readonly embeddingState: () => EmbeddingState
  readonly isExtracting: () => boolean
  readonly extractsBy: () => 'model' | 'rules'
  readonly nowMs: () => number
}) {
  const now = () => ({ nowMs: options.nowMs(), halfLifeDays: options.config().strengthHalfLifeDays })

  return {
    /** Newest first. `beforeSeq` comes from the `nextCursor` of the previous page. */
    async list(
      query: Pick<MemoryListQuery, 'q' | 'limit' | 'beforeSeq'> & { readonly pinned?: boolean | null },
    ) {
      const listed = await options.listed({ pinned: null, ...query, ...now() })
      const pinnedTokens = options.pinnedTokens()
      return { ...listed, ...(pinnedTokens.used > 0 ? { pinnedTokens } : {}) }
    },
    present: (row: MemoryRow) => options.present(row, now()),
    recallExamples: options.recallExamples,
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
        recentEvents,
      }
    },
  }
}
