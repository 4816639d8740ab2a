import type { Database } from 'better-sqlite3'
import { createContextQueries } from '../../../projections/context.ts'

/** The state of the current chain, as returned by `GET /api/session/context`. */
export type SessionContext = {
  readonly active: boolean
  readonly canCompact: boolean
  readonly channel: string | null
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly compactThresholdTokens: number
  readonly thresholdUtilization: number
  readonly usageRecordedAt: string | null
  readonly compactionInFlight: boolean
  readonly replacementRetained: boolean
  readonly latestCompaction: {
    readonly at: string
    readonly source: 'manual' | 'automatic'
    readonly channel: string | null
    readonly inputTokensBefore: number
    readonly inputTokensAfter: number
  } | null
  readonly capsule: {
    readonly active: boolean
    readonly source: string | null
    readonly updatedAt: string | null
    readonly throughSeq: number | null
  }
}

/** Reads the current state of the open conversation on each call. */
export function createSessionContext(options: {
  readonly views: Database
  readonly openConversationId: () => string | undefined
  readonly isBusy: () => boolean
  readonly thresholdTokens: () => number
}): () => SessionContext {
  const queries = createContextQueries(options.views)
  return () => {
    const conversationId = options.openConversationId()
    const chain = conversationId === undefined ? undefined : queries.chain(conversationId)
    const latest = conversationId === undefined ? undefined : queries.latestCompaction(conversationId)
    const base = conversationId === undefined ? undefined : queries.base(conversationId)
    const capsule = conversationId === undefined ? undefined : queries.capsule(conversationId)
    const active = chain !== undefined
    const compactionInFlight = typeof chain?.compactionId === 'string'
    const compactThresholdTokens = options.thresholdTokens()
    const used = chain?.contextTokens ?? 0
    return {
      active,
      canCompact: active && chain.completedTurns > 0 && !compactionInFlight && !options.isBusy(),
      channel: chain?.channel ?? null,
      inputTokens: chain?.inputTokens ?? 0,
      outputTokens: chain?.outputTokens ?? 0,
      cachedTokens: chain?.cachedTokens ?? 0,
      compactThresholdTokens,
      thresholdUtilization: Math.min(1, used / compactThresholdTokens),
      usageRecordedAt: chain?.usageAt ?? null,
      compactionInFlight,
      replacementRetained: base !== undefined,
      latestCompaction: latest
        ? {
            at: latest.at,
            source: latest.source,
            channel: latest.channel,
            inputTokensBefore: latest.inputTokensBefore,
            inputTokensAfter: latest.inputTokensAfter,
          }
        : null,
      capsule: {
        active: capsule !== undefined,
        source: capsule?.source ?? null,
        updatedAt: capsule?.at ?? null,
        throughSeq: capsule?.throughSeq ?? null,
      },
    }
  }
}
