import { appendFileSync } from 'node:fs'
import { request } from 'node:http'
import { lastingPort } from '../../support/lasting-port.ts'
import { type ServiceProcess, startServiceProcess } from '../service-process.ts'
import { type Link, type LinkMode, openLink } from './link.ts'

/** The exit code of a holder that was replaced. */
const TAKEN_OVER = 75
/** Before a process that failed is started again. */
const RESTART_MS = 1_000
const PROBE_EVERY_MS = 25
const PROBE_LIMIT_MS = 400

export type NodeState = 'ready' | 'standby' | 'not ready' | 'silent'

export type ServiceNode = Awaited<ReturnType<typeof openNode>>

/** One of the machines: a directory, a port, a way to each database, and a supervisor that starts it again. */
export async function openNode(options: {
  readonly name: string
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  /** Gets what its processes logged. */
  readonly logFile: string
  /** The port of the database in a place. */
  readonly portAt: (place: number) => number
  readonly flaws: string[]
}) {
  const { name, directory } = options
  const port = Number(await lastingPort())
  const links: Link[] = [await openLink(() => options.portAt(0)), await openLink(() => options.portAt(1))]
  const hosts = links.map((link) => `127.0.0.1:${link.port}`).join()
  let leaseSeconds = 0.8
  let starts = 0
  let running: ServiceProcess | null = null
  let isWanted = false
  let state: NodeState = 'silent'
  let readySince: number | null = null
  let isOpen = true
  const exits = new Map<string, number>()

  function start(): void {
    isWanted = true
    starts += 1
    const service = startServiceProcess(directory, {
      ...options.environment,
      PORT: String(port),
      LEDGER_POSTGRES_URL: `postgres://postgres@${hosts}/postgres`,
      LEDGER_POSTGRES_MODE: 'commit',
      LEDGER_NODE: name,
      LEDGER_LEASE_SECONDS: String(leaseSeconds),
    })
    running = service
    service.child.once('exit', (code, signal) => {
      appendFileSync(options.logFile, service.output())
      if (running !== service) return
      running = null
      if (!isWanted) return
      const how = String(signal ?? code)
      exits.set(how, (exits.get(how) ?? 0) + 1)
      if (code === TAKEN_OVER) return start()
      options.flaws.push(`${name} ended with ${how}: ${service.output().slice(-1_500)}`)
      setTimeout(start, RESTART_MS)
    })
  }

  async function probe(): Promise<void> {
    const found = await stateOf(port)
    state = found
    if (found !== 'ready') readySince = null
    else readySince ??= performance.now()
  }

  void (async () => {
    while (isOpen) {
      await probe()
      await sleep(PROBE_EVERY_MS)
    }
  })()

  return {
    name,
    port,
    directory,
    url: `postgres://postgres@${hosts}/postgres`,
    start,
    state: () => state,
    /** When it began to be ready, by `performance.now`; null if it is not. */
    readySince: () => readySince,
    /** Differs for each process. */
    life: () => `${name}${starts}`,
    exits: exits as ReadonlyMap<string, number>,
    setLease(seconds: number) {
      leaseSeconds = seconds
    },
    setLinks(mode: LinkMode) {
      for (const link of links) link.set(mode)
    },
    signal: (signal: 'SIGSTOP' | 'SIGCONT') => void running?.child.kill(signal),
    async kill(): Promise<void> {
      isWanted = false
      await running?.kill()
    },
    /** Ends it in order. */
    async stop(): Promise<void> {
      isWanted = false
      const service = running
      const code = await service?.stop()
      // A standby ends at once, by the signal itself. One that is replaced while it stops may say so.
      if (service && code !== 0 && code !== null && code !== TAKEN_OVER)
        options.flaws.push(`${name} stopped with ${code}: ${service.output().slice(-1_500)}`)
    },
    isRunning: () => running !== null,
    output: () => running?.output().slice(-3_000) ?? '',
    async close(): Promise<void> {
      isWanted = false
      isOpen = false
      await running?.kill()
      for (const link of links) link.close()
    },
  }
}

function stateOf(port: number): Promise<NodeState> {
  return new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', path: '/ready', agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', () => resolve('silent'))
      response.on('end', () => {
        clearTimeout(timer)
        if (response.statusCode === 200) resolve('ready')
        else resolve(text.includes('"role":"standby"') ? 'standby' : 'not ready')
      })
    })
    const timer = setTimeout(() => asked.destroy(new Error('late')), PROBE_LIMIT_MS)
    asked.on('error', () => {
      clearTimeout(timer)
      resolve('silent')
    })
    asked.end()
  })
}

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
