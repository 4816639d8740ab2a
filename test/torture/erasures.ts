import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { type Answer, type Client, createClient } from '../http/client.ts'
import { filesHolding } from '../support/directory.ts'
import { createRandom } from './random.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'
import { survey } from './soundness.ts'

export type ErasureKillOptions = {
  readonly directory: string
  readonly rounds: number
  readonly seed: number
  /** Messages of the period that each round erases. */
  readonly messages: number
  /** Kills of each round after what was asked for is due. */
  readonly kills: number
  readonly onRound?: (round: number) => void
}

export type ErasureKillReport = {
  readonly rounds: number
  /** Kills that came while it was being asked for. */
  readonly amidRequests: number
  /** Kills that came before it was carried out. */
  readonly amidErasing: number
  /** Events that lost their words. */
  readonly erased: number
  readonly flaws: readonly string[]
}

const PASSWORD = 'a long walk by the river'
const CANARY = 'heliotrope4417'
/** More than the minute in which it can be undone. */
const AHEAD = {
  NODE_OPTIONS: `--import=${join(import.meta.dirname, 'ahead-clock.ts')}`,
  CLOCK_AHEAD_MS: '120000',
}
const GIVE_UP_MS = 60_000
const REQUEST_KILLS = 0.7

type Erasure = { readonly status: string; readonly events: number }

/**
 * Everything that was said in a while is erased, each round from the same beginning, while kill -9 comes at random: as it
 * is asked for, and again and again as it is carried out. Then it has to be finished, with no byte of it in any file, and
 * a receipt that tells of all of it.
 */
export async function killErasures(options: ErasureKillOptions): Promise<ErasureKillReport> {
  const { directory, rounds, seed } = options
  const random = createRandom(seed)
  const base = join(directory, 'base')
  const { cookie, period } = await converse(base, options.messages)
  const flaws: string[] = []
  let amidRequests = 0
  let amidErasing = 0
  let erased = 0
  /** Kills are drawn from this long after the asking, and after the service listens; they follow how long it takes. */
  let requestMs = 300
  let erasingMs = 1000

  async function connect(service: ServiceProcess) {
    const client = createClient(await service.listening)
    client.useCookie(cookie)
    return client
  }
  const erasuresOf = async (client: Client): Promise<Erasure[]> =>
    (await client.get('/api/erasures')).json.erasures

  /** Asks until it is there; one that a kill left unanswered may be. */
  async function ask(home: string): Promise<void> {
    for (;;) {
      const service = startServiceProcess(home)
      const client = await connect(service)
      if ((await erasuresOf(client)).length > 0) return service.kill()
      let isAnswered = false
      const asked = client.post('/api/erasures', period).then(
        () => {
          isAnswered = true
        },
        () => undefined,
      )
      if (random.chance(REQUEST_KILLS)) {
        await sleep(random.next() * requestMs)
        if (!isAnswered) amidRequests += 1
        requestMs = Math.min(2000, requestMs * (isAnswered ? 0.7 : 1.3))
      } else await asked
      await service.kill()
      await asked
      if (isAnswered) return
    }
  }

  async function killErasing(home: string): Promise<void> {
    const service = startServiceProcess(home, AHEAD)
    await service.listening
    await sleep(random.next() * erasingMs)
    await service.kill()
    const isDone = typesIn(home).includes('erasure.completed')
    if (!isDone) amidErasing += 1
    erasingMs = Math.min(2000, erasingMs * (isDone ? 0.7 : 1.1))
  }

  async function finish(home: string): Promise<string[]> {
    const service = startServiceProcess(home, AHEAD)
    const client = await connect(service)
    let all = await erasuresOf(client)
    for (const untilMs = performance.now() + GIVE_UP_MS; performance.now() < untilMs; ) {
      all = await erasuresOf(client)
      if (all.every(({ status }) => status === 'erased')) break
      await sleep(20)
    }
    const held = filesHolding(home, CANARY)
    const code = await service.stop()
    const { flaws, events } = survey(home)
    const asked = events.flatMap((event) => (event.type === 'erasure.requested' ? event.facts.seqs : []))
    const told = all.map(({ status, events }) => `${status} ${events}`).join()
    erased += asked.length
    return [
      ...flaws,
      ...(code === 0 ? [] : [`the last stop ended with ${code}: ${service.output()}`]),
      ...[...held, ...filesHolding(home, CANARY)].map((file) => `${file} holds what was erased`),
      ...(told === `erased ${asked.length}` ? [] : [`of ${asked.length} to be erased it tells: ${told}`]),
    ]
  }

  for (let round = 0; round < rounds; round += 1) {
    options.onRound?.(round)
    const home = join(directory, `round-${round}`)
    cpSync(base, home, { recursive: true })
    await ask(home)
    for (let kill = 0; kill < options.kills; kill += 1) await killErasing(home)
    const found = await finish(home)
    flaws.push(...found.map((flaw) => `round ${round}: ${flaw}`))
    if (found.length === 0) rmSync(home, { recursive: true })
  }
  return { rounds, amidRequests, amidErasing, erased, flaws }
}

/** Makes a directory in which the canary was said, remembered, noted and compacted; and the time in which that was. */
async function converse(directory: string, messages: number) {
  const service = startServiceProcess(directory)
  const client = createClient(await service.listening)
  const ok = async (answer: Promise<Answer>) => {
    const { status, text } = await answer
    if (status >= 300) throw new Error(`unexpected: ${status} ${text}`)
  }
  await ok(client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode() }))
  const from = new Date().toISOString()
  for (let index = 0; index < messages; index += 1) {
    const name = `${CANARY}x${index}`
    const content = [
      `Remember that my friend ${name} likes green tea.`,
      `Create a note called ${name}: bread and butter`,
      `Remind me in 500 minutes to call ${name}`,
    ][index % 3]
    await ok(client.post('/api/chat', { content }))
  }
  await ok(client.post('/api/session/context/compact'))
  const to = new Date(Date.now() + 1).toISOString()
  await service.stop()
  return { cookie: client.cookie(), period: { kind: 'period', from, to } }
}

/** Without opening it as a start would: that empties the logs. */
function typesIn(directory: string): string[] {
  const db = openLedgerReadOnly(directory)
  try {
    return createReader(db)
      .readAfter(0, Number.MAX_SAFE_INTEGER)
      .map(({ type }) => type)
  } finally {
    db.close()
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
