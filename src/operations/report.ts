import type { Database } from 'better-sqlite3'
import type { OperationMetric } from '../../projections/operation-metrics.ts'
import { createOperationQueries, type Grain } from '../../projections/operations.ts'
import type { PagingCounters } from './paging-counters.ts'

export type ReportSources = {
  /** The capsule of the open conversation. */
  readonly capsule: () => { readonly active: boolean; readonly updatedAt: string | null }
  /** What became of the candidates for memories since the process started. */
  readonly deduplication: () => { readonly since: string } & Readonly<
    Record<'candidates' | 'inserted' | 'reinforced' | 'merged' | 'discarded' | 'suppressed', number>
  >
}

/** The report of `GET /api/session/operations`: counts and rates, never text, a memory or a target. */
export function createOperationsReport(
  options: ReportSources & {
    readonly views: Database
    readonly paging: PagingCounters
    readonly nowMs: () => number
  },
) {
  const queries = createOperationQueries(options.views)
  return (hours: number) => {
    const { fromMs, toMs, from, to } = windowOf(hours, options.nowMs())
    const counts = queries.counts(fromMs, toMs)
    const count = (metric: OperationMetric): number => counts[metric] ?? 0
    const capsule = options.capsule()

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
      texts: {
        scope: 'window' as const,
        attempts: count('textAttempts'),
        failedAttempts: count('textFailedAttempts'),
        notSent: count('textsNotSent'),
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
      guests: {
        scope: 'window' as const,
        textsOverBudget: count('textsOverBudget'),
        callsOverBudget: count('callsOverBudget'),
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

/** Gives a window at most about 400 points. */
function grainOf(hours: number): Grain {
  if (hours <= 6) return 'minute'
  return hours <= 14 * 24 ? 'hour' : 'day'
}

/** The report's windowed counts as a series, with one point per minute, hour or day. */
export function createOperationsSeries(options: { readonly views: Database; readonly nowMs: () => number }) {
  const queries = createOperationQueries(options.views)
  return (hours: number) => {
    const { fromMs, toMs, from, to } = windowOf(hours, options.nowMs())
    const grain = grainOf(hours)
    return { window: { hours, from, to }, grain, points: queries.series(fromMs, toMs, grain) }
  }
}

/** The last `hours`. Counts are per minute, so the figures may include up to a minute before the window. */
function windowOf(hours: number, nowMs: number) {
  const minute = (ms: number) => Math.floor(ms / 60_000) * 60_000
  const startMs = nowMs - hours * 3_600_000
  return {
    fromMs: minute(startMs),
    toMs: minute(nowMs) + 60_000,
    from: new Date(startMs).toISOString(),
    to: new Date(nowMs).toISOString(),
  }
}

function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}
