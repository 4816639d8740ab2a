import { ADAPTATIONS_DIRECTORY } from './adaptations/files.ts'
import { postgresOf } from './config.ts'
import type { BuildInfo } from './http/contract/health.ts'
import { createWaitingServer } from './http/waiting.ts'
import type { ServiceOptions } from './service.ts'
import { SETTINGS_FILE, SETTINGS_FORMAT } from './settings/store.ts'
import { openStores } from './storage/index.ts'

const WAITING = {
  standby: 'standby: takes over if the other machine stops',
  upgrading: 'upgrading: a page shows the progress',
}

/**
 * Opens the ledger and its views, which takes long for an upgrade and for a standby. Meanwhile a server says so; it is
 * left open, to be closed right before the service listens. Rejects if the stores or that server cannot be opened.
 */
export async function openWhileWaiting(
  { config, log, nowMs, onFatal }: ServiceOptions,
  newId: () => string,
  buildInfo: BuildInfo,
) {
  const waiting = createWaitingServer({
    ...config,
    newId,
    onListening: (port, code) => log.info({ port }, WAITING[code]),
  })
  const opening = openStores({
    directory: config.dataDir,
    postgres: postgresOf(config),
    upgrade: {
      build: { ...buildInfo, settings: SETTINGS_FORMAT },
      places: { database: SETTINGS_FILE, directory: ADAPTATIONS_DIRECTORY },
      withoutBackup: config.upgradeWithoutBackup,
    },
    onOpening: waiting.showOpening,
    onStandby: waiting.showStandby,
    traceEvents: config.ledgerDebug,
    nowMs,
    newId,
    log,
    onFatal,
  }).catch(async (error) => {
    await waiting.close()
    throw error
  })
  return { stores: await Promise.race([opening, waiting.failed]), waiting }
}
