import { parseRow } from '../../../ledger/codec.ts'
import type { AnyEvent } from '../../../ledger/reader.ts'
import { createRandom } from '../../support/random.ts'
import { type Clients, startClients } from './clients.ts'
import { type Cluster, SHORT_LEASE_S, startCluster } from './cluster.ts'
import { type Examined, examine, rowsOf, unfinished } from './examine.ts'
import { CHOICES, type FaultName, faults, MEASURED, type Takeover } from './faults.ts'
import { sleep } from './nodes.ts'
import { startWorld } from './world.ts'

export type FailoverReport = Examined & {
  readonly rounds: number
  readonly faults: Readonly<Partial<Record<FaultName, number>>>
  /** How often another node than before was the ready one. */
  readonly failovers: number
  readonly promotions: number
  /** Holders that ended because they were replaced. */
  readonly replaced: number
  readonly takeovers: readonly Takeover[]
}

const REAL_LEASE_S = 8
const REAL_EVERY = 20
/** Before a fault. */
const CALM_MS = 500
/** Time limit for everything in progress to end after the last round. Pauses between retries have grown by then. */
const END_MS = 30_000
/** The nodes reach PostgreSQL through this process, so reading must not block it for long. */
const PAGE_EVENTS = 200

/** Breaks a cluster of two nodes and two databases once in each round, while clients go on, and mends it. */
export async function failOver(options: {
  readonly directory: string
  readonly rounds: number
  readonly seed: number
  /** The faults to choose from, instead of all. */
  readonly only?: readonly FaultName[]
  /** Whether every twentieth round has the real lease. */
  readonly hasRealLease?: boolean
  readonly onRound?: (round: number, fault: FaultName) => void
}): Promise<FailoverReport> {
  const { directory, rounds, hasRealLease = true } = options
  // How often clients draw depends on time, so faults have a generator of their own: a seed repeats them.
  const [random, choice] = [createRandom(options.seed), createRandom(options.seed)]
  const world = await startWorld(directory, random)
  let cluster: Cluster | null = null
  let clients: Clients | null = null
  try {
    cluster = await startCluster(directory, world)
    const { flaws } = cluster
    clients = startClients({ cluster, world, random, flaws })
    const takeovers: Takeover[] = []
    const counts: Partial<Record<FaultName, number>> = {}
    let failovers = 0
    for (let round = 0; round < rounds; round += 1) {
      const isReal = hasRealLease && round % REAL_EVERY === REAL_EVERY - 1
      await cluster.useLease(isReal ? REAL_LEASE_S : SHORT_LEASE_S)
      const choices = options.only ?? (isReal ? MEASURED : CHOICES)
      const canFill = cluster.room(cluster.nodes[0]) !== null
      const name = choice.pick(choices.filter((each) => each !== 'fillDisk' || canFill))
      options.onRound?.(round, name)
      counts[name] = (counts[name] ?? 0) + 1
      await sleep(random.next() * CALM_MS)
      await cluster.until('a node is ready', () => cluster?.ready() !== undefined)
      const holder = cluster.ready() ?? cluster.nodes[0]
      const isSound = flaws.length === 0
      await faults[name]({ cluster, clients, random, takeovers }, holder)
      await cluster.heal()
      if (cluster.ready() !== holder) failovers += 1
      if (isSound && flaws.length > 0) flaws.unshift(`in round ${round}, ${name}:`)
    }
    await clients.close()
    const primary = cluster.databases.primary()
    const endMs = performance.now() + END_MS
    let atMs = Date.now()
    const events: AnyEvent[] = []
    const isOver = async () => {
      let page: readonly AnyEvent[]
      do {
        page = (await rowsOf(primary, events.at(-1)?.seq, PAGE_EVENTS)).map(parseRow)
        events.push(...page)
      } while (page.length === PAGE_EVENTS)
      return unfinished(events, atMs).length === 0
    }
    while (!(await isOver()) && performance.now() < endMs) {
      await sleep(200)
      atMs = Date.now()
    }
    for (const node of cluster.nodes) await node.stop()
    const examined = examine({
      rows: await rowsOf(primary),
      directories: cluster.nodes.map((node) => node.directory),
      items: clients.items,
      texts: world.texts(),
      started: world.started(),
      atMs,
    })
    const replaced = cluster.nodes.reduce((sum, { exits }) => sum + (exits.get('75') ?? 0), 0)
    return {
      ...examined,
      flaws: [...flaws, ...examined.flaws],
      rounds,
      faults: counts,
      failovers,
      promotions: cluster.databases.promotions(),
      replaced,
      takeovers,
    }
  } finally {
    clients?.stop()
    await cluster?.close()
    await world.close()
  }
}
