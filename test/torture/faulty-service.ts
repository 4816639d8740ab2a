import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../http/client.ts'
import { createRandom } from '../support/random.ts'
import { within } from '../support/within.ts'
import { controlDisk, diskEnvironment, type Fault } from './disk.ts'
import { startServiceProcess } from './service-process.ts'
import { survey } from './soundness.ts'
import { type Acknowledged, examineTalk, messageOf, say, type TalkReport } from './talk.ts'

export type ServiceFaultOptions = {
  readonly directory: string
  readonly library: string
  readonly rounds: number
  readonly seed: number
  readonly fault: Omit<Fault, 'nth'>
}

export type ServiceFaultReport = TalkReport & {
  readonly rounds: number
  readonly faults: number
  /** Messages answered with 503 and sent again. */
  readonly refused: number
  readonly flaws: readonly string[]
}

const PASSWORD = 'a long walk by the river'
/** Slightly more than one message and its turn need. */
const OPERATIONS = 160
const FIRST_OPERATIONS = 6
/** How long the disk stays broken, and how long the service may take to recover. */
const BROKEN_MS = 150
const RECOVERY_MS = 30_000

/**
 * Sends the whole service a message in each round while one operation of its disk fails. The service must
 * reply, or answer 503 and keep nothing. Once the disk works again, the same message must get its reply.
 */
export async function failService(options: ServiceFaultOptions): Promise<ServiceFaultReport> {
  const { library, rounds, fault } = options
  const random = createRandom(options.seed)
  const root = join(options.directory, 'data')
  const control = join(options.directory, 'control')
  mkdirSync(root, { mode: 0o700 })
  const disk = controlDisk(control)
  const service = startServiceProcess(root, diskEnvironment({ library, root, control }))
  const acknowledged: Acknowledged[] = []
  const flaws: string[] = []
  let faults = 0
  let refused = 0
  try {
    const client = createClient(await service.listening)
    const installed = await client.post('/api/install', {
      password: PASSWORD,
      setupCode: service.setupCode(),
    })
    if (installed.status !== 201) throw new Error(`installing failed: ${installed.text}`)
    for (let round = 0; round < rounds; round += 1) {
      const message = messageOf(round, random)
      // Half of the faults come early enough to refuse the message itself, the others during its turn.
      disk.arm({ ...fault, nth: 1 + random.below(random.chance(0.5) ? FIRST_OPERATIONS : OPERATIONS) })
      const answering = say(client, message)
      const early = await Promise.race([answering, sleep(BROKEN_MS)])
      if (disk.failed() > 0) faults += 1
      // While the disk keeps failing, readiness must say so.
      if (early === null && fault.sticky) {
        const { status, json } = await client.get('/ready')
        if (status !== 503 || json.checks.ledger.ok)
          flaws.push(`/ready answers ${status} although the ledger is not writable`)
      }
      disk.mend()
      let answer = await within(RECOVERY_MS, answering)
      if (answer === null) {
        refused += 1
        answer = await within(RECOVERY_MS, say(client, message))
      }
      if (answer) acknowledged.push(answer)
      else flaws.push(`“${message.text}” was not accepted although the disk works again`)
    }
    const ready = await client.get('/ready')
    if (ready.status !== 200) flaws.push(`the service is not ready: ${ready.text}`)
    const code = await service.stop()
    if (code !== 0) flaws.push(`the service exited with ${code}`)
  } catch (cause) {
    throw new Error(`output of the service:\n${service.output().slice(-4000)}`, { cause })
  } finally {
    await service.kill()
    disk.close()
  }
  const { events, flaws: unsound } = survey(root)
  const talk = examineTalk(events, acknowledged)
  return { ...talk.report, rounds, faults, refused, flaws: [...flaws, ...unsound, ...talk.flaws] }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
