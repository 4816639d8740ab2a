import { layFoundation, type ServiceOptions } from './foundation.ts'
import { buildHttpService } from './http-service.ts'
import { buildParts } from './parts.ts'

export type Service = {
  /** The port that it listens on. */
  readonly port: number
  /** What installing asks for; null once it is installed. */
  readonly setupCode: string | null
  /** Answers nothing new, lets what runs finish, closes everything. */
  close(): Promise<void>
}

/*
 * Who tells the service to stop is promised that it is gone within ten seconds. One of these follows the other, and the
 * stores are closed after the last of them.
 */
/** How long the facts of a call that is hung up may take to become durable. */
const CALL_GRACE_MS = 1_500
/** How long running turns, activations, texts and deliveries may continue, all side by side. */
const WORK_GRACE_MS = 6_000
/** How long requests and sockets may take to end. */
const HTTP_GRACE_MS = 1_000

/** Builds everything, starts it and closes it: the one place that says in which order. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const foundation = await layFoundation(options)
  const parts = await buildParts(foundation)
  const http = await buildHttpService(foundation, parts)

  const { config, storage, queries, owner } = foundation
  const { adaptations, phone, texts, timers, memory, idleWatch, erasures, proposals, work } = parts
  const { attention } = parts.assistant
  const { workGraceMs = WORK_GRACE_MS } = foundation.waits

  // What has to be a fact before anybody acts on it: the instructions in force, the ends of calls cut off.
  await adaptations.start()
  queries.start(storage.ledger.head().seq > 0)
  await phone.start()
  attention.start()
  texts.start()
  timers.start()
  memory.start()
  idleWatch.start()
  erasures.start()
  proposals.start()
  // Nobody is let in before all of them run; the coding assistant can report only to where the service listens.
  const port = await http.listen(config.port, config.host)
  work.start(port)

  return {
    port,
    setupCode: owner.account.isInstalled() ? null : owner.setupCode,
    async close() {
      // What brings in something new goes first, then what is at work on it.
      http.drain()
      await phone.close(CALL_GRACE_MS)
      await idleWatch.close()
      await proposals.close()
      await erasures.close()
      await timers.close()
      await Promise.all([work.close(workGraceMs), attention.close(workGraceMs), texts.close(workGraceMs)])
      await memory.close()
      // After the turns, so that whoever watches one sees its end; what all of them stand on goes last.
      await http.close(HTTP_GRACE_MS)
      await queries.close()
      await storage.close()
      owner.close()
    },
  }
}
