import pg from 'pg'
import { type ConnectionOptions, parse } from 'pg-connection-string'
import { messageOf } from '../../../ledger/errors.ts'
import { english } from '../../language/message.ts'
import { EngineRefused, OutcomeUnknown, Unreachable } from './options.ts'

export type Connection = {
  /** Reads. Rejects with pg.DatabaseError if PostgreSQL refuses, and with Unreachable if the connection is lost. */
  read<Row extends pg.QueryResultRow>(text: string, parameters?: readonly unknown[]): Promise<Row[]>
  /**
   * Runs one statement that writes, and resolves once it is committed. Rejects with OutcomeUnknown if it may
   * have been committed, and with pg.DatabaseError if it certainly was not. PostgreSQL parses a text once for each
   * name.
   */
  write<Row extends pg.QueryResultRow>(
    statement: { readonly name: string; readonly text: string },
    parameters: readonly unknown[],
    limitMs: number,
  ): Promise<Row[]>
  isOpen(): boolean
  close(): void
}

const READ_MS = 10_000
const IS_STANDBY = 'SELECT pg_is_in_recovery() AS "isStandby"'
/** A socket's directory, too. */
const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|::1|\/.*)$/
/** After these errors the connection is gone, and they may follow a commit. The severity is in the server's language. */
const UNCERTAIN = /^(08|25P|57P|58|XX)/

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
      ...configOf(each),
      application_name: `delegate ${name}`,
      keepAlive: true,
      // The server does not notice that a client has gone, and the number of connections is limited.
      options: `-c synchronous_commit=on -c client_min_messages=warning -c lock_timeout=${Math.round(limitMs)}`,
    })
    const connection = connectionOver(client)
    try {
      const opened = client.connect().then(() => connection.read<{ isStandby: boolean }>(IS_STANDBY))
      const [found] = await within(limitMs, opened, connection.close)
      if (found?.isStandby === false) return connection
      faults.push(`${client.host}: standby`)
    } catch (error) {
      faults.push(error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : messageOf(error))
    }
    connection.close()
  }
  throw new Unreachable(english`PostgreSQL does not answer (${faults.join('; ')})`)
}

/** One URL for each host of a URL with several, as libpq writes them: `postgres://me@one:5432,two:5433/name`. */
export function hostsOf(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = url.match(/^(\w+:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/s) ?? []
  return hosts === '' ? [url] : hosts.split(',').map((host) => `${start}${host}${rest}`)
}

/** How to reach a server: with TLS and a checked certificate, unless it is on this machine. Throws EngineRefused. */
export function configOf(url: string): pg.ClientConfig {
  const { host: named, port, user, password, database, ssl, sslmode } = parsed(url)
  const host = named || 'localhost'
  const config = {
    host,
    ...(port && { port: Number(port) }),
    ...(user && { user }),
    ...(password && { password }),
    ...(database && { database }),
  }
  const isLocal = LOCAL_HOST.test(host)
  if (isLocal && !ssl) return config
  const isUnchecked = sslmode === 'disable' || sslmode === 'no-verify'
  if (isUnchecked && !isLocal)
    throw new EngineRefused(`LEDGER_POSTGRES_URL has sslmode=${sslmode}, but ${host} is another machine.`)
  const { ca, cert, key } = typeof ssl === 'object' ? ssl : {}
  const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  return { ...config, ssl: { ...files, rejectUnauthorized: !isUnchecked } }
}

function parsed(url: string): ConnectionOptions {
  try {
    // What is TLS is checked here, so the parser need not warn of modes that check less.
    return parse(url.replace(/([?&]sslmode=)(prefer|require|verify-ca)\b/, '$1verify-full'))
  } catch (error) {
    // The message does not quote the URL.
    throw new EngineRefused(`LEDGER_POSTGRES_URL cannot be used: ${messageOf(error)}`)
  }
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
      try {
        const { rows } = await within(READ_MS, client.query(text, [...parameters]), close)
        return rows
      } catch (error) {
        if (isRefusal(error)) throw error
        close()
        throw error instanceof Unreachable ? error : new Unreachable(messageOf(error), { cause: error })
      }
    },
    async write(statement, parameters, limitMs) {
      const before = notices
      try {
        const { rows } = await within(limitMs, client.query({ ...statement, values: [...parameters] }), close)
        if (notices === before) return rows
      } catch (error) {
        if (isRefusal(error)) throw error
        close()
        throw new OutcomeUnknown(english`the connection to PostgreSQL was lost during a commit`, {
          cause: error,
        })
      }
      throw new OutcomeUnknown(english`PostgreSQL warned during a commit`)
    },
    isOpen: () => isOpen,
    close,
  }
}

const isRefusal = (error: unknown) => error instanceof pg.DatabaseError && !UNCERTAIN.test(error.code ?? '')

/** Rejects with Unreachable after the limit, and calls `giveUp`. */
async function within<T>(limitMs: number, work: Promise<T>, giveUp: () => void): Promise<T> {
  work.catch(() => undefined)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    giveUp()
    late.reject(new Unreachable(english`PostgreSQL did not answer within ${Math.round(limitMs)} ms`))
  }, limitMs)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
