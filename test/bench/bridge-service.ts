import { startRelay } from './relay.ts'
import { startBenchService } from './service.ts'

/** The measured process: the whole service and, on the same event loop, a bare relay. */
const { RELAY_MODEL_URL, ...environment } = process.env
const service = await startBenchService(environment)
const relayPort = await startRelay(RELAY_MODEL_URL ?? '')
process.send?.({ port: service.port, relayPort, setupCode: service.setupCode })
