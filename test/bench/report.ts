import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { createSessionContext } from '../../src/agent/context/session-context.ts'
import { createPagingCounters } from '../../src/operations/paging-counters.ts'
import { createOperationsReport, createOperationsSeries } from '../../src/operations/report.ts'
import { median, quantile, round, timed } from './statistics.ts'
import type { PreparedLedger } from './views.ts'

const RUNS = 300
const HOURS = 720

/**
 * Milliseconds for the operations report over 30 days and its series, as JSON: the first call on cold caches,
 * then medians and p99, alternating between the ledgers.
 */
export function benchReports(ledgers: readonly PreparedLedger[]) {
  const opened = ledgers.map(({ size, directory }) => ({ size, ...openReport(directory) }))
  const measured = opened.map(({ size, report }) => {
    let turns = 0
    const firstMs = timed(() => {
      const first = report(HOURS)
      turns = first.model.turns
      JSON.stringify(first)
    })
    return { size, turns, firstMs: round(firstMs), samples: [] as number[], courses: [] as number[] }
  })
  for (let run = 0; run < RUNS; run += 1) {
    for (const [of, { report, series }] of opened.entries()) {
      measured[of]?.samples.push(timed(() => JSON.stringify(report(HOURS))))
      measured[of]?.courses.push(timed(() => JSON.stringify(series(HOURS))))
    }
  }
  for (const { close } of opened) close()
  const figures = measured.map(({ size, turns, firstMs, samples, courses }) => [
    size,
    {
      turns,
      firstMs,
      medianMs: round(median(samples)),
      p99Ms: round(quantile(samples, 0.99)),
      courseMs: round(median(courses)),
    },
  ])
  const [first, last] = [measured[0], measured.at(-1)]
  const ratio = round(median(last?.samples ?? []) / median(first?.samples ?? []))
  return { ...Object.fromEntries(figures), ratio }
}

function openReport(directory: string) {
  const ledgerDb = openLedgerReadOnly(directory)
  const views = openViewsReadOnly(directory)
  const ledger = createReader(ledgerDb)
  const [last] = ledger.readSeqs([ledger.head().seq])
  const nowMs = () => Date.parse(last?.at ?? '')
  const open = views.prepare<[], { id: string }>(
    'SELECT id FROM conversations WHERE endedAt IS NULL ORDER BY startSeq DESC LIMIT 1',
  )
  const since = new Date(nowMs()).toISOString()
  const sessionContext = createSessionContext({
    views,
    openConversationId: () => open.get()?.id,
    isBusy: () => false,
    thresholdTokens: () => 100_000,
  })
  const report = createOperationsReport({
    views,
    capsule: () => sessionContext().capsule,
    paging: createPagingCounters(since),
    deduplication: () => ({
      since,
      candidates: 0,
      inserted: 0,
      reinforced: 0,
      merged: 0,
      discarded: 0,
      suppressed: 0,
    }),
    nowMs,
  })
  const series = createOperationsSeries({ views, nowMs })
  const close = () => {
    views.close()
    ledgerDb.close()
  }
  return { report, series, close }
}
