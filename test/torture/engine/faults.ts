import type { Random } from '../../support/random.ts'
import type { Clients } from './clients.ts'
import type { Cluster } from './cluster.ts'
import { type ServiceNode, sleep } from './nodes.ts'

export type Takeover = {
  /** `stopped`: from SIGTERM, while running work ends. `released`: from the end of the process. */
  readonly how: 'unattended' | 'stopped' | 'released'
  readonly leaseMs: number
  readonly ms: number
}

export type Scene = {
  readonly cluster: Cluster
  readonly clients: Clients
  readonly random: Random
  readonly takeovers: Takeover[]
}

type Fault = (scene: Scene, holder: ServiceNode) => Promise<void>

/** Notes how long it takes until the other node is ready. */
async function takesOver(
  { cluster, takeovers }: Scene,
  holder: ServiceNode,
  how: Takeover['how'],
  fromMs: number,
): Promise<void> {
  const other = cluster.otherThan(holder)
  await cluster.until(`${other.name} has taken over`, () => other.readySince() !== null)
  const ms = Math.round((other.readySince() ?? 0) - fromMs)
  takeovers.push({ how, leaseMs: cluster.leaseMs(), ms: Math.max(0, ms) })
}

/** In this time, some client sends something. */
const COMMITS_MS = 100

/** Some part of the time of the lease. */
const wait = ({ cluster, random }: Scene, from: number, to: number) =>
  sleep(cluster.leaseMs() * (from + random.next() * (to - from)))

async function killHolder(scene: Scene, holder: ServiceNode): Promise<void> {
  const fromMs = performance.now()
  await holder.kill()
  await takesOver(scene, holder, 'unattended', fromMs)
}

async function stopHolder(scene: Scene, holder: ServiceNode): Promise<void> {
  const fromMs = performance.now()
  await holder.stop()
  const releasedMs = performance.now()
  await takesOver(scene, holder, 'stopped', fromMs)
  await takesOver(scene, holder, 'released', releasedMs)
}

/** Stops the holder beyond its lease, and asks it again as soon as it goes on. */
async function freezeHolder(scene: Scene, holder: ServiceNode): Promise<void> {
  const fromMs = performance.now()
  holder.signal('SIGSTOP')
  await takesOver(scene, holder, 'unattended', fromMs)
  if (scene.random.chance(0.5)) await wait(scene, 0, 1)
  holder.signal('SIGCONT')
  scene.clients.provoke(holder)
}

/** The supervisor starts it at once, so either node may be the next holder. */
async function restartHolder(scene: Scene, holder: ServiceNode): Promise<void> {
  await (scene.random.chance(0.7) ? holder.kill() : holder.stop())
  holder.start()
  await wait(scene, 0.5, 2)
}

async function freezeBriefly(scene: Scene, holder: ServiceNode): Promise<void> {
  holder.signal('SIGSTOP')
  await wait(scene, 0.3, 1.2)
  holder.signal('SIGCONT')
  scene.clients.provoke(holder)
}

async function killPrimary(scene: Scene): Promise<void> {
  const { databases } = scene.cluster
  await databases.primary().kill()
  await wait(scene, 0, 0.5)
  await databases.promote()
}

/** What is committed on the primary alone is lost, although it could be read for a while. */
async function loseTail(scene: Scene): Promise<void> {
  const { databases } = scene.cluster
  await databases.standby().kill()
  await wait(scene, 0.2, 0.5)
  if (scene.random.chance(0.5)) await databases.cancelAll()
  else {
    await databases.primary().kill()
    await databases.primary().start()
  }
  await wait(scene, 0.2, 0.7)
  await databases.primary().kill()
  await databases.standby().start()
  await databases.promote()
}

async function restartPrimary(scene: Scene): Promise<void> {
  const primary = scene.cluster.databases.primary()
  await (scene.random.chance(0.5) ? primary.kill() : primary.stop())
  await wait(scene, 0, 1.5)
  await primary.start()
}

async function freezeStandby(scene: Scene): Promise<void> {
  const standby = scene.cluster.databases.standby()
  standby.signal('SIGSTOP')
  await wait(scene, 0.2, 2)
  standby.signal('SIGCONT')
}

/** Stops the standby of the database until commits wait for it, and goes on right after `work`. */
async function whileCommitsWait({ cluster, random }: Scene, work: () => Promise<unknown>): Promise<void> {
  const standby = cluster.databases.standby()
  standby.signal('SIGSTOP')
  await sleep(COMMITS_MS * (0.5 + random.next()))
  await work()
  standby.signal('SIGCONT')
}

/** For a moment, after which the outcome can be found out in time, or for longer. */
async function cancel(scene: Scene): Promise<void> {
  const { databases, leaseMs } = scene.cluster
  const moreMs = scene.random.chance(0.5) ? 0 : leaseMs() * (0.3 + scene.random.next())
  await whileCommitsWait(scene, async () => {
    const untilMs = performance.now() + moreMs
    do {
      await databases.cancelAll()
      if (moreMs > 0) await sleep(50)
    } while (performance.now() < untilMs)
  })
}

async function terminate(scene: Scene): Promise<void> {
  const { terminateAll } = scene.cluster.databases
  for (let times = 1 + scene.random.below(3); times > 0; times -= 1) {
    if (scene.random.chance(0.7)) await whileCommitsWait(scene, terminateAll)
    else await terminateAll()
    await wait(scene, 0, 0.3)
  }
}

const link =
  (mode: 'cut' | 'hold' | 'swallow'): Fault =>
  async (scene, holder) => {
    const { cluster, random } = scene
    const nodes = random.chance(0.2)
      ? cluster.nodes
      : [random.chance(0.8) ? holder : cluster.otherThan(holder)]
    for (const node of nodes) node.setLinks(mode)
    if (random.chance(0.5)) await wait(scene, 0.05, 0.3)
    else await wait(scene, 0.3, 2.5)
    for (const node of nodes) node.setLinks('pass')
  }

async function fillDisk(scene: Scene, holder: ServiceNode): Promise<void> {
  const room = scene.cluster.room(holder)
  room?.fill()
  await wait(scene, 0.3, 1.5)
  room?.free()
}

export const faults = {
  killHolder,
  freezeHolder,
  stopHolder,
  restartHolder,
  freezeBriefly,
  killPrimary,
  loseTail,
  restartPrimary,
  freezeStandby,
  cancel,
  terminate,
  cutLink: link('cut'),
  holdLink: link('hold'),
  swallowLink: link('swallow'),
  fillDisk,
} satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

/** Those whose takeover is measured, which is what rounds with the real lease are for. */
export const MEASURED = ['killHolder', 'freezeHolder', 'stopHolder'] as const
/** Each measured one comes three times as often as any other. */
export const CHOICES: readonly FaultName[] = [
  ...MEASURED,
  ...MEASURED,
  ...(Object.keys(faults) as FaultName[]),
]
