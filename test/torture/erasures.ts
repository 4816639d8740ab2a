import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { type Answer, type Client, createClient } from '../http/client.ts'
import { filesHolding } from '../support/directory.ts'
import { createRandom } from '../support/random.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'
import { survey } from './soundness.ts'

export type ErasureKillOptions = {
  readonly directory: string
  readonly rounds: number
  readonly seed: number
  readonly messages: number
  /** Kills per round once the erasure is due. */
  readonly kills: number
  readonly onRound?: (round: number) => void
}

export type ErasureKillReport = {
  readonly rounds: number
  readonly amidRequests: number
  /** Kills before the erasure was complete. */
  readonly amidErasing: number
  readonly erased: number
  readonly flaws: readonly string[]
}

const PASSWORD = 'a long walk by the river'
const CANARY = 'heliotrope4417'
/** Past the minute in which an erasure can be undone. */
const AHEAD = {
  NODE_OPTIONS: `--import=${join(import.meta.dirname, 'ahead-clock.ts')}`,
  CLOCK_AHEAD_MS: '120000',
}
const GIVE_UP_MS = 60_000
const REQUEST_KILLS = 0.7

type Erasure = { readonly status: string; readonly events: number }

/**
 * Erases all messages of a period in each round, with kill -9 at random moments of the request and the
 * erasing. The erasure must finish, no file may hold any of the words, and the receipt must count every
 * event.
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
  /** Kills are drawn from within these times, which adapt to the speed of the machine. */
  let requestMs = 300
  let erasingMs = 1000

  async function connect(service: ServiceProcess) {
    const client = createClient(await service.listening)
    client.useCookie(cookie)
    return client
  }
  const erasuresOf = async (client: Client): Promise<Erasure[]> =>
    (await client.get('/api/erasures')).json.erasures

  /** Requests the erasure until it exists; a kill may hide that it already does. */
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
    const reported = all.map(({ status, events }) => `${status} ${events}`).join()
    erased += asked.length
    return [
      ...flaws,
      ...(code === 0 ? [] : [`the last stop ended with ${code}: ${service.output()}`]),
      ...[...held, ...filesHolding(home, CANARY)].map((file) => `${file} holds what was erased`),
      ...(reported === `erased ${asked.length}`
        ? []
        : [`${asked.length} events to erase, but reported: ${reported}`]),
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

/** Fills a directory with messages, memories and notes that hold the canary; returns their period. */
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

/** Reads the ledger without a start, which would empty the logs. */
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
