import type { Registry } from 'prom-client'
import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createNotificationQueries } from '../../projections/notifications.ts'
import { DAY_MS } from '../lib/time.ts'
import type { EngineStatus } from '../storage/messages.ts'
import type { Storage, StorageStatus } from '../storage/storage.ts'

/** What the gauges read at each scrape. */
export type GaugeSources = {
  readonly storage: Pick<Storage, 'ledger' | 'views' | 'pendingRequests' | 'reportFault'>
  /** What was spent and may be spent in each window. */
  readonly allowance: () => readonly {
    readonly window: 'day' | 'month'
    readonly spentMicros: number
    readonly limitMicros: number
  }[]
  readonly isHalted: () => boolean
  /** When the last backup was made; null if none was. */
  readonly lastBackupAt: () => string | null
  readonly nowMs: () => number
}

/** What the HTTP layer knows at a scrape. */
export type Seen = {
  /** Null if the checks did not end in time. */
  readonly health: {
    readonly checks: Readonly<Record<string, { readonly ok: boolean }>>
    readonly reactors: readonly { readonly name: string; readonly state: string; readonly waiting: number }[]
    readonly freeBytes: number | null
  } | null
  readonly isReady: boolean
  /** Null if the storage did not answer in time. */
  readonly status: StorageStatus | null
  readonly openSockets: number
  readonly version: string
}

type Prom = typeof import('prom-client')

const MICROS = 1_000_000

/** Adds gauges of the present state. Returns a function that sets them. */
export function addGauges(prom: Prom, register: Registry, sources: GaugeSources): (seen: Seen) => void {
  const { storage, allowance, nowMs } = sources
  const { waiting } = createDeliveryQueries(storage.views)
  const { countUnseen } = createNotificationQueries(storage.views)
  const gauges = createGauges<Seen>(prom, register, storage.reportFault)
  const { one, each } = gauges
  const headSeq = () => storage.ledger.head().seq

  each('build_info', 'version', 'The version, as a label', ({ version }) => [[version, 1]])
  one('ready', '1 if the service is ready', ({ isReady }) => Number(isReady))
  each('health', 'check', '1 if a check passes', ({ health }) =>
    Object.entries(health?.checks ?? {}).map(([check, { ok }]) => [check, Number(ok)]),
  )
  one('halted', '1 while the delegate is halted', () => Number(sources.isHalted()))
  each('reactor_pending', 'reactor', 'Work without an outcome; learning counts to 100', ({ health }) =>
    (health?.reactors ?? []).map((reactor) => [reactor.name, reactor.waiting]),
  )
  each('reactor_ok', 'reactor', '0 if a reactor keeps failing or stands still', ({ health }) =>
    (health?.reactors ?? []).map(({ name, state }) => [name, Number(state === 'ok')]),
  )
  each('deliveries_waiting', 'channel', 'Deliveries without an outcome', () =>
    waiting().map(({ channel, count }) => [channel, count]),
  )
  one('notifications_unseen', 'Notifications of the last 24 hours that the owner has not seen', () =>
    countUnseen(new Date(nowMs() - DAY_MS).toISOString()),
  )
  each('money_spent_dollars', 'window', 'Spent and reserved in the last 24 hours and 30 days', () =>
    allowance().map(({ window, spentMicros }) => [window, spentMicros / MICROS]),
  )
  each('money_allowance_dollars', 'window', 'What may be spent in 24 hours and 30 days', () =>
    allowance().map(({ window, limitMicros }) => [window, limitMicros / MICROS]),
  )
  one('ledger_seq', 'The number of the last event', headSeq)
  each('view_lag_events', 'view', 'Events that a view has not folded yet', ({ status }) =>
    (status?.projections ?? []).map(({ name, seq }) => [name, Math.max(0, headSeq() - seq)]),
  )
  one('storage_requests', 'Requests that the storage thread has not answered', storage.pendingRequests)
  one('disk_free_bytes', 'Free space where the data is', ({ health }) => health?.freeBytes)
  one('open_sockets', 'Open WebSockets of pages and calls', ({ openSockets }) => openSockets)
  const { lastBackupAt } = sources
  one('backup_age_seconds', 'Time since the last backup; +Inf if there is none', () => {
    const at = lastBackupAt()
    return at === null ? Number.POSITIVE_INFINITY : Math.max(0, nowMs() - Date.parse(at)) / 1000
  })
  return gauges.set
}

/** Adds gauges of the ledger in PostgreSQL, which have no values without it. Returns a function that sets them. */
export function addPostgresGauges(prom: Prom, register: Registry) {
  const { one, each, set } = createGauges<EngineStatus | undefined>(prom, register)
  each('postgres_up', 'mode', '1 if PostgreSQL can be reached and used', (engine) =>
    engine ? [[engine.mode, Number(engine.fault === null)]] : [],
  )
  one('postgres_holder', '1 if this machine may write, 0 if it is a standby', (engine) =>
    engine ? Number(engine.role === 'holder') : null,
  )
  one('postgres_epoch', 'It rises with each takeover', (engine) => engine?.epoch)
  one('postgres_lag_events', 'Events that PostgreSQL, or this standby, lacks', (engine) => engine?.lag)
  return set
}

/** Gauges that are read from a state. What is not known, or cannot be read, has no value. */
function createGauges<State>({ Gauge }: Prom, register: Registry, onFault?: (error: unknown) => void) {
  const setters: ((state: State) => void)[] = []
  const registers = [register]
  return {
    one(name: string, help: string, read: (state: State) => number | null | undefined): void {
      const gauge = new Gauge({ name: `delegate_${name}`, help, registers })
      setters.push((state) => {
        gauge.remove()
        const value = read(state)
        if (typeof value === 'number') gauge.set(value)
      })
    },
    /** One value for each label. */
    each(
      name: string,
      label: string,
      help: string,
      read: (state: State) => readonly (readonly [label: string, value: number])[],
    ): void {
      const gauge = new Gauge({ name: `delegate_${name}`, help, labelNames: [label], registers })
      setters.push((state) => {
        gauge.reset()
        for (const [is, value] of read(state)) gauge.set({ [label]: is.replaceAll(' ', '_') }, value)
      })
    },
    set(state: State): void {
      for (const setOne of setters) {
        try {
          setOne(state)
        } catch (error) {
          onFault?.(error)
        }
      }
    },
  }
}
