import pg from 'pg'
import { EngineRefused, Unreachable } from './options.ts'

/** It is not known whether the statement was committed. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

export type Connection = {
  /** Reads. Rejects on any fault, after which the connection may be gone. */
  read<Row extends pg.QueryResultRow>(text: string, parameters?: readonly unknown[]): Promise<Row[]>
  /**
   * Runs one statement that writes, and resolves once it is committed. Rejects with OutcomeUnknown if it may
   * have been committed, and with pg.DatabaseError if it certainly was not.
   */
  write<Row extends pg.QueryResultRow>(
    text: string,
    parameters: readonly unknown[],
    limitMs: number,
  ): Promise<Row[]>
  /** Calls back on each notification of this channel. */
  listen(channel: string, onNotified: () => void): Promise<void>
  isOpen(): boolean
  close(): void
}

const READ_MS = 10_000
const IS_STANDBY = 'SELECT pg_is_in_recovery() AS "isStandby"'
/** A socket's directory, too. */
const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|\/.*|)$/

// 64-bit integers: seqs and epochs are far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/**
 * Connects to the first host of the URL that accepts writes, each within the limit. Rejects with Unreachable or
 * EngineRefused.
 */
export async function connect(url: string, name: string, limitMs = 3_000): Promise<Connection> {
  const faults: string[] = []
  for (const each of hostsOf(url)) {
    const client = new pg.Client({
      connectionString: secured(each),
      application_name: `delegate ${name}`,
      keepAlive: true,
      options: '-c synchronous_commit=on -c client_min_messages=warning',
    })
    const connection = connectionOver(client)
    try {
      const opened = client.connect().then(() => connection.read<{ isStandby: boolean }>(IS_STANDBY))
      const [found] = await within(limitMs, opened, connection.close)
      if (found?.isStandby === false) return connection
      faults.push(`${client.host} is a standby`)
    } catch (error) {
      faults.push(error instanceof Error ? error.message || error.name : String(error))
    }
    connection.close()
  }
  throw new Unreachable(`PostgreSQL does not answer (${faults.join('; ')})`)
}

/** One URL for each host of a URL with several, as libpq writes them: `postgres://me@one:5432,two:5433/name`. */
export function hostsOf(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = url.match(/^(\w+:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/s) ?? []
  return hosts === '' ? [url] : hosts.split(',').map((host) => `${start}${host}${rest}`)
}

/** The URL with TLS and a checked certificate, unless the server is on this machine. Throws EngineRefused. */
export function secured(url: string): string {
  const secure = new URL(url)
  const { searchParams, hostname } = secure
  if (LOCAL_HOST.test(searchParams.get('host') ?? hostname)) return url
  const mode = searchParams.get('sslmode')
  if (mode === 'disable' || mode === 'no-verify')
    throw new EngineRefused(`LEDGER_POSTGRES_URL has sslmode=${mode}, but ${hostname} is another machine.`)
  searchParams.set('sslmode', 'verify-full')
  return secure.href
}

function connectionOver(client: pg.Client): Connection {
  let isOpen = true
  /** Notices so far. One during a commit may say that the wait for a standby was cancelled. */
  let notices = 0
  client.on('notice', () => {
    notices += 1
  })
  const closed = () => {
    isOpen = false
  }
  client.on('end', closed)
  client.on('error', closed)

  function close(): void {
    closed()
    // Ends the socket at once: `end` waits for a statement that may never end.
    client.connection.stream.destroy()
  }

  return {
    async read(text, parameters = []) {
      const { rows } = await within(READ_MS, client.query(text, [...parameters]), close)
      return rows
    },
    async write(text, parameters, limitMs) {
      const before = notices
      try {
        const { rows } = await within(limitMs, client.query(text, [...parameters]), close)
        if (notices === before) return rows
      } catch (error) {
        // A FATAL error may follow the commit; an ERROR has undone the statement.
        if (error instanceof pg.DatabaseError && error.severity === 'ERROR') throw error
        close()
        throw new OutcomeUnknown('the connection to PostgreSQL was lost during a commit', { cause: error })
      }
      throw new OutcomeUnknown('PostgreSQL warned during a commit')
    },
    async listen(channel, onNotified) {
      client.on('notification', onNotified)
      await client.query(`LISTEN ${channel}`)
    },
    isOpen: () => isOpen,
    close,
  }
}

/** Rejects with Unreachable after the limit, and calls `giveUp`. */
async function within<T>(limitMs: number, work: Promise<T>, giveUp: () => void): Promise<T> {
  work.catch(() => undefined)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    giveUp()
    late.reject(new Unreachable(`PostgreSQL did not answer within ${Math.round(limitMs)} ms`))
  }, limitMs)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
