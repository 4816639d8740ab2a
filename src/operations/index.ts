import type { Log } from '../lib/log.ts'
import type { Settings } from '../settings/settings.ts'
import type { Storage } from '../storage/storage.ts'
import { createBudgets, type DailyLimits } from './budgets.ts'
import { buildMoney } from './money/index.ts'
import { createPagingCounters } from './paging-counters.ts'
import { createReactorWatch, type ReactorName } from './readiness/reactor-watch.ts'
import { createReadiness, type ReadinessSources } from './readiness/readiness.ts'
import { createOperationsReport, createOperationsSeries, type ReportSources } from './report.ts'
import { checkSecurity, type SecuritySources, type Seen } from './security/security.ts'

export type Operations = ReturnType<typeof buildOperations>

/** Wires operations: budgets, money, the watch over the reactors, readiness and the report. */
export function buildOperations(options: {
  readonly storage: Storage
  readonly settings: Settings
  readonly limits: DailyLimits
  readonly isHalted: () => boolean
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: Log
}) {
  const { storage, settings, nowMs, log } = options
  const { views } = storage
  const reactors = createReactorWatch({ nowMs })
  const paging = createPagingCounters(new Date(nowMs()).toISOString())

  return {
    budgets: createBudgets({ ...options, guestTotal: () => settings.get('GUEST_DAILY_MESSAGES') }),
    money: buildMoney({
      ...options,
      onFault: (error) => log.error({ err: error }, 'the cost of a call could not be recorded'),
    }),
    paging,
    failuresOf: reactors.failuresOf,
    /** Returns a function that logs a reactor's failures and reports them to readiness and storage. */
    faultsOf(name: ReactorName, message = 'a reactor failed') {
      const failed = reactors.failuresOf(name)
      return (error: unknown) => {
        log.error({ err: error, reactor: name }, message)
        failed(error)
        storage.reportFault(error)
      }
    },
    series: createOperationsSeries({ views, nowMs }),
    report: (sources: ReportSources) => createOperationsReport({ ...sources, views, paging, nowMs }),
    /** Returns a function that runs all security checks. */
    security: (sources: Omit<SecuritySources, 'settings'>) => (seen: Seen) =>
      checkSecurity({ ...sources, settings }, seen),
    readiness: (sources: ReadinessSources) => createReadiness({ ...options, ...sources, reactors }),
  }
}
