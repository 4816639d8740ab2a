import { loadConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { startService } from '../../src/service.ts'
import { startRelay } from './relay.ts'

/** The process under measurement: the whole service and, on the same event loop, a bare relay. */
const { RELAY_MODEL_URL, ...environment } = process.env
const config = loadConfig({ PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'error', ...environment })
const { log, lines } = createLog({
  level: 'error',
  write: (line) => process.stderr.write(line),
  secretValues: () => [],
})
const service = await startService({
  config,
  log,
  logLines: lines,
  nowMs: Date.now,
  random: Math.random,
  onSettings: () => undefined,
  onFatal: (error) => {
    throw error
  },
})
const relayPort = await startRelay(RELAY_MODEL_URL ?? '')
process.send?.({ port: service.port, relayPort })
