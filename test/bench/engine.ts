import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chainHash, GENESIS_HASH, newSalt, toDraft } from '../../ledger/codec.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { createIds } from '../../ledger/ids.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { copyToPostgres, createTables } from '../../scripts/lib/engine.ts'
import { catchUp } from '../../src/storage/postgres/catch-up.ts'
import type { PostgresOptions } from '../../src/storage/postgres/options.ts'
import { createRemote } from '../../src/storage/postgres/remote.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { createPostgres, type Postgres, startPair } from '../support/postgres.ts'
import { benchEngineTurns } from './engine-turns.ts'
import { median, quantile, round, timedAsync } from './statistics.ts'
import { timelineEvents } from './timeline.ts'

const newId = createIds(Date.now)
/** Servers of tests skip it. */
const DURABLE = ['fsync=on']
const CONCURRENT = 16
const BLOCK_APPENDS = 50

const events = timelineEvents(Number.POSITIVE_INFINITY)
function nextEvent(): NewEvent {
  const event = events.next().value
  if (!event) throw new Error('no events left')
  return event
}

const drafted = (event: NewEvent) => toDraft(event, { newId, newSalt, at: new Date().toISOString() })

const optionsFor = ({ url }: Postgres): PostgresOptions => ({
  url,
  mode: 'commit',
  node: 'bench',
  leaseMs: 8_000,
  state: { database: 'settings.sqlite', directory: 'adaptations' },
})

/**
 * The fenced append alone, and appends through the storage thread: without PostgreSQL, with one that has no standby,
 * and with one that has a synchronous standby; one event at a time, and sixteen at once, in turns. Then chat turns, and
 * a ledger copied there and back. All servers share one disk and this machine's processors. `cpu` counts this process only.
 */
export async function benchEngine(directory: string, { runs = 5, appends = 400, events = 100_000 } = {}) {
  const alone = await createPostgres(join(directory, 'alone'), DURABLE)
  await alone.start()
  const pair = await startPair(join(directory, 'pair'), DURABLE)
  try {
    const servers = { alone, pair: pair.primary }
    for (const server of Object.values(servers)) await createTables(optionsFor(server))
    const fenced = await benchFenced(servers)
    const appended = await benchAppends(directory, servers, { runs, appends })
    const turns = await benchEngineTurns(directory, optionsFor(pair.primary))
    return { fenced, ...appended, turns, ...(await benchCopies(directory, alone, events)) }
  } finally {
    await Promise.all([alone.kill(), pair.primary.kill(), pair.standby.kill()])
  }
}

/** The statement that appends, without anything around it: one event, and groups of sixteen. */
async function benchFenced(servers: Readonly<Record<string, Postgres>>, groups = 400) {
  const ways = []
  for (const [way, server] of Object.entries(servers)) {
    const remote = createRemote(optionsFor(server), newId())
    await remote.register(GENESIS_HASH)
    ways.push({
      way,
      remote,
      head: { seq: 0, hash: GENESIS_HASH },
      one: [] as number[],
      many: [] as number[],
    })
  }
  for (let group = 0; group < groups; group += 1) {
    for (const each of ways) {
      for (const size of [1, CONCURRENT]) {
        const from = each.head
        const rows = Array.from({ length: size }, () => {
          const draft = drafted(nextEvent())
          const seq = each.head.seq + 1
          each.head = { seq, hash: chainHash(each.head.hash, seq, draft) }
          return { ...draft, ...each.head }
        })
        const tookMs = await timedAsync(() => each.remote.append(0, from, rows, [], 10_000))
        ;(size === 1 ? each.one : each.many).push(tookMs)
      }
    }
  }
  for (const { remote } of ways) remote.close()
  return Object.fromEntries(
    ways.map(({ way, one, many }) => [
      way,
      {
        p50Us: round(quantile(one, 0.5) * 1000),
        p99Us: round(quantile(one, 0.99) * 1000),
        groupsOf16PerSecond: round((CONCURRENT / quantile(many, 0.5)) * 1000),
      },
    ]),
  )
}

async function benchAppends(
  directory: string,
  servers: { readonly alone: Postgres; readonly pair: Postgres },
  { runs, appends }: { readonly runs: number; readonly appends: number },
) {
  const ways = { sqlite: null, postgres: optionsFor(servers.alone), synchronous: optionsFor(servers.pair) }
  const opened = []
  for (const [way, postgres] of Object.entries(ways)) {
    const own = join(directory, way)
    mkdirSync(own)
    if (postgres) await copyToPostgres(own, postgres)
    opened.push({
      way,
      storage: await openBenchStorage(own, postgres),
      p50s: [],
      p99s: [],
      perSecond: [],
    } as {
      way: string
      storage: Awaited<ReturnType<typeof openStorage>>
      p50s: number[]
      p99s: number[]
      perSecond: number[]
    })
  }
  for (let run = -1; run < runs; run += 1) {
    const samples = new Map(opened.map(({ way }) => [way, [] as number[]]))
    const elapsedMs = new Map(opened.map(({ way }) => [way, 0]))
    for (let block = 0; block < appends; block += BLOCK_APPENDS) {
      for (const { way, storage } of opened) {
        for (let index = 0; index < BLOCK_APPENDS; index += 1)
          samples.get(way)?.push(await timedAsync(() => storage.append([nextEvent()])))
        const appender = async () => {
          for (let index = 0; index < BLOCK_APPENDS / 5; index += 1) await storage.append([nextEvent()])
        }
        const tookMs = await timedAsync(() => Promise.all(Array.from({ length: CONCURRENT }, appender)))
        elapsedMs.set(way, (elapsedMs.get(way) ?? 0) + tookMs)
      }
    }
    // The first run warms up.
    if (run < 0) continue
    for (const { way, p50s, p99s, perSecond } of opened) {
      p50s.push(quantile(samples.get(way) ?? [], 0.5))
      p99s.push(quantile(samples.get(way) ?? [], 0.99))
      perSecond.push(((CONCURRENT * appends) / 5 / (elapsedMs.get(way) ?? 0)) * 1000)
    }
  }
  for (const { storage } of opened) await storage.close()
  return Object.fromEntries(
    opened.map(({ way, p50s, p99s, perSecond }) => [
      way,
      {
        p50Us: round(median(p50s) * 1000),
        p99Us: round(median(p99s) * 1000),
        concurrent16PerSecond: round(median(perSecond)),
      },
    ]),
  )
}

function openBenchStorage(directory: string, postgres: PostgresOptions | null) {
  return openStorage({
    directory,
    postgres,
    nowMs: Date.now,
    newId,
    onWarning: (message) => {
      throw new Error(message)
    },
    onFatal: (error) => {
      throw error
    },
  })
}

async function benchCopies(directory: string, server: Postgres, count: number) {
  const options = optionsFor(server)
  const [here, there] = [join(directory, 'full'), join(directory, 'empty')]
  const ledger = openLedger(here, newId)
  const context = { newId, newSalt, at: new Date().toISOString() }
  ledger.commit([
    timelineEvents(count)
      .map((event) => toDraft(event, context))
      .toArray(),
  ])
  const ledgerId = ledger.id()
  ledger.close()
  const copying = await paced(count, () => copyToPostgres(here, options))
  const copy = openLedger(there, () => ledgerId)
  const remote = createRemote(options, ledgerId)
  const catchingUp = await paced(count, () => catchUp(remote, { ledger: copy, apply: copy.importRows }))
  if (copy.head().seq !== count) throw new Error('the copy is not complete')
  remote.close()
  copy.close()
  return { copying, catchingUp }
}

/** Events per second of the clock, and of this process. */
async function paced(events: number, work: () => Promise<unknown>) {
  const before = process.cpuUsage()
  const elapsedMs = await timedAsync(work)
  const { user, system } = process.cpuUsage(before)
  return {
    perSecond: round((events / elapsedMs) * 1000),
    perCpuSecond: round((events / (user + system)) * 1e6),
  }
}
