import { layFoundation, type ServiceOptions } from './foundation.ts'
import { buildHttpService } from './http/index.ts'
import { buildParts } from './parts.ts'

export type Service = {
  /** The port that the service listens on. */
  readonly port: number
  /** The code that installation asks for; null once installed. */
  readonly setupCode: string | null
  /** Accepts no new work, lets running work finish, then closes everything. */
  close(): Promise<void>
}

// These three run one after the other, so that a shutdown takes less than ten seconds.
/** How long the facts of a call that is hung up may take to become durable. */
const CALL_GRACE_MS = 1_500
/** How long running turns, activations, texts and deliveries may take, in parallel. */
const WORK_GRACE_MS = 6_000
/** How long requests and sockets may take to end. */
const HTTP_GRACE_MS = 1_000

/** A new service has nothing to recall, so its start comes first. */
const WARM_UP_EMPTY_MS = 5_000

/** Builds, starts and closes everything. The only place that defines the order. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const foundation = await layFoundation(options)
  const parts = await buildParts(foundation)
  const http = await buildHttpService(foundation, parts)

  const { config, storage, queries, owner } = foundation
  const { adaptations, phone, texts, timers, memory, idleWatch, erasures, proposals, work } = parts
  const { attention } = parts.assistant
  const isEmpty = storage.ledger.head().seq === 0
  const { workGraceMs = WORK_GRACE_MS, warmUpMs = isEmpty ? WARM_UP_EMPTY_MS : 0 } = foundation.waits

  // Recorded before anything acts on it: the current instructions, and the ends of interrupted calls.
  await adaptations.start()
  // Recall has a short timeout, so its thread should be ready before the first turn.
  const warmUp = setTimeout(() => {
    queries.warm()
    memory.warm()
  }, warmUpMs).unref()
  await phone.start()
  attention.start()
  texts.start()
  timers.start()
  memory.start()
  idleWatch.start()
  erasures.start()
  proposals.start()
  // Listen once all of these run. Tasks start last, because their programs report to the port.
  const port = await http.listen(config.port, config.host)
  work.start(port)

  return {
    port,
    setupCode: owner.account.isInstalled() ? null : owner.setupCode,
    async close() {
      // Stop the sources of new work first, then the work.
      clearTimeout(warmUp)
      http.drain()
      await phone.close(CALL_GRACE_MS)
      await idleWatch.close()
      await proposals.close()
      await erasures.close()
      await timers.close()
      await Promise.all([work.close(workGraceMs), attention.close(workGraceMs), texts.close(workGraceMs)])
      await memory.close()
      // After the turns, so that clients see them end. The stores come last.
      await http.close(HTTP_GRACE_MS)
      await queries.close()
      await storage.close()
      owner.close()
    },
  }
}
