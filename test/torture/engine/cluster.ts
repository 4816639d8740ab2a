import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { copyToPostgres, createTables } from '../../../scripts/lib/engine.ts'
import { ADAPTATIONS_DIRECTORY } from '../../../src/adaptations/files.ts'
import { SETTINGS_FILE } from '../../../src/settings/store.ts'
import { createClient } from '../../http/client.ts'
import { startDatabases } from './databases.ts'
import { openNode, type ServiceNode, sleep } from './nodes.ts'
import { openRoom, type Room } from './room.ts'
import type { World } from './world.ts'

/** The lease of most rounds, a tenth of the real one. */
export const SHORT_LEASE_S = 0.8
const PASSWORD = 'a long walk by the river'
const HEAL_MS = 60_000
/** Settings that no fact carries reach PostgreSQL within a second. */
const STATE_MS = 1_500

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/** Two nodes that share a ledger in PostgreSQL. The first is installed, and is the holder. */
export async function startCluster(directory: string, world: World) {
  chmodSync(directory, 0o711)
  const databases = await startDatabases(join(directory, 'databases'))
  const flaws: string[] = []
  let leaseMs = SHORT_LEASE_S * 1000
  const rooms = new Map<ServiceNode, Room | null>()
  const nodes: ServiceNode[] = []
  for (const name of ['one', 'two']) {
    const place = join(directory, name)
    mkdirSync(place)
    const room = openRoom(place)
    const home = join(place, 'data')
    mkdirSync(home)
    const { environment } = world
    const logFile = join(directory, `${name}.log`)
    const { portAt } = databases
    const node = await openNode({ name, directory: home, environment, logFile, portAt, flaws })
    rooms.set(node, room)
    nodes.push(node)
  }
  const [first, second] = nodes as [ServiceNode, ServiceNode]

  const state = { database: SETTINGS_FILE, directory: ADAPTATIONS_DIRECTORY }
  const options = { url: first.url, mode: 'commit', node: first.name, leaseMs: 8_000, state } as const

  const ready = () => {
    const found = nodes.filter((node) => node.readySince() !== null)
    return found.toSorted((a, b) => (b.readySince() ?? 0) - (a.readySince() ?? 0))[0]
  }

  async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
    const lastMs = performance.now() + HEAL_MS
    while (!(await Promise.resolve(isTrue()).catch(() => false))) {
      if (performance.now() > lastMs) {
        const found = nodes.map((node) => `${node.name} is ${node.state()}:\n${node.output()}`)
        throw new Error(`not within ${HEAL_MS / 1000} s: ${what}\n${[...flaws, ...found].join('\n')}`)
      }
      await sleep(20)
    }
  }

  /** Everything works again: one node is ready and the other its standby. */
  async function heal(): Promise<void> {
    databases.standby().signal('SIGCONT')
    for (const node of nodes) {
      rooms.get(node)?.free()
      node.setLinks('pass')
      node.signal('SIGCONT')
      if (!node.isRunning()) node.start()
    }
    await until('PostgreSQL has a synchronous standby', databases.isSynchronous)
    await until('one node is ready, the other its standby', () =>
      nodes
        .map((node) => node.state())
        .sort()
        .join()
        .startsWith('ready,standby'),
    )
  }

  async function close(): Promise<void> {
    for (const node of nodes) {
      node.signal('SIGCONT')
      await node.close()
    }
    await databases.close()
    for (const room of rooms.values()) room?.close()
  }

  /** Resolves to the cookie of the owner. */
  async function install(): Promise<string | undefined> {
    await createTables(options)
    await copyToPostgres(first.directory, options)
    first.start()
    await until('the first node is ready', () => first.readySince() !== null)
    const client = createClient(first.port)
    const setupCode = first.output().match(/"setupCode":"([^"]+)"/)?.[1]
    const installed = await client.post('/api/install', { password: PASSWORD, setupCode })
    if (installed.status !== 201) throw new Error(`installing failed: ${installed.text}`)
    await sleep(STATE_MS)
    second.start()
    await heal()
    return client.cookie()
  }

  const cookie = await install().catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    nodes: [first, second] as const,
    databases,
    flaws,
    cookie,
    leaseMs: () => leaseMs,
    room: (node: ServiceNode) => rooms.get(node) ?? null,
    /** The node that answers as ready; the one that became so last if there are two. */
    ready,
    otherThan: (node: ServiceNode) => (node === first ? second : first),
    until,
    heal,
    /** Restarts both nodes with another lease. */
    async useLease(seconds: number): Promise<void> {
      if (seconds * 1000 === leaseMs) return
      leaseMs = seconds * 1000
      for (const node of nodes) node.setLease(seconds)
      for (const node of nodes) await node.stop()
      await heal()
    },
    close,
  }
}
