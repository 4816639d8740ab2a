import type { Database } from 'better-sqlite3'
import { countOperations, type OperationMetric } from '../../projections/operations.ts'
import type { SessionContext } from '../agent/session-context.ts'
import type { PagingCounters } from './paging-counters.ts'

/** Counters of what the memory did since the process began. */
export type DeduplicationCounters = {
  readonly since: string
  readonly candidates: number
  readonly inserted: number
  readonly reinforced: number
  readonly merged: number
  readonly discarded: number
  readonly suppressed: number
}

/** The report of `GET /api/session/operations`: counts and rates; never text, a memory or a target. */
export function createOperationsReport(options: {
  readonly views: Database
  readonly sessionContext: () => SessionContext
  readonly paging: PagingCounters
  readonly deduplication: () => DeduplicationCounters
  readonly nowMs: () => number
}) {
  return (hours: number) => {
    const nowMs = options.nowMs()
    const to = new Date(nowMs).toISOString()
    // Whole minutes: the figures are exact for the window as it is stated.
    const fromMs = Math.floor((nowMs - hours * 3_600_000) / 60_000) * 60_000
    const from = new Date(fromMs).toISOString()
    const counts = countOperations(options.views, from, to)
    const count = (metric: OperationMetric): number => counts[metric] ?? 0
    const { capsule } = options.sessionContext()

    const manualSuccesses = count('manualCompactionSuccesses')
    const manualFailures = count('manualCompactionFailures')
    const attempts = count('deliveryAttempts')
    return {
      window: { hours, from, to },
      context: {
        scope: 'window' as const,
        usage: {
          records: count('usageRecords'),
          inputTokens: count('inputTokens'),
          outputTokens: count('outputTokens'),
          cachedTokens: count('cachedTokens'),
        },
        capsule: { written: count('capsulesWritten'), active: capsule.active, updatedAt: capsule.updatedAt },
        manualCompaction: {
          attempts: manualSuccesses + manualFailures,
          successes: manualSuccesses,
          failures: manualFailures,
          successRate: rate(manualSuccesses, manualSuccesses + manualFailures),
        },
        automaticCompactions: count('automaticCompactions'),
      },
      copilotDelivery: {
        scope: 'window' as const,
        attempts,
        successes: count('deliverySuccesses'),
        failedAttempts: count('deliveryFailedAttempts'),
        retriedAttempts: count('deliveryRetries'),
        finalFailures: count('deliveryFinalFailures'),
        attemptSuccessRate: rate(count('deliverySuccesses'), attempts),
        retryRate: rate(count('deliveryRetries'), attempts),
      },
      timelinePaging: { scope: 'process_runtime' as const, ...options.paging.read() },
      memory: {
        scope: 'window' as const,
        surfaced: count('memoriesSurfaced'),
        suppressed: count('memoriesSuppressed'),
        lateResults: {
          surfaced: count('lateSurfaced'),
          duplicate: count('lateDuplicate'),
          irrelevant: count('lateIrrelevant'),
          expired: count('lateExpired'),
        },
        deduplication: { scope: 'process_runtime' as const, ...options.deduplication() },
      },
      model: {
        scope: 'window' as const,
        turns: count('turns'),
        failures: count('turnFailures'),
        inputTokens: count('inputTokens'),
        outputTokens: count('outputTokens'),
        cachedTokens: count('cachedTokens'),
      },
    }
  }
}

function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}
