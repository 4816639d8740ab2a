import type { Database } from 'better-sqlite3'
import { createContextQueries } from '../../../projections/context.ts'

/** Reads the state of the open conversation on each call, for `GET /api/session/context`. */
export function createSessionContext(options: {
  readonly views: Database
  readonly openConversationId: () => string | undefined
  readonly isBusy: () => boolean
  readonly thresholdTokens: () => number
}) {
  const queries = createContextQueries(options.views)
  return () => {
    // Without a conversation, nothing is found.
    const conversationId = options.openConversationId() ?? ''
    const chain = queries.chain(conversationId)
    const latest = queries.latestCompaction(conversationId)
    const base = queries.base(conversationId)
    const capsule = queries.capsule(conversationId)
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
