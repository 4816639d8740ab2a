import { COLUMNS, type EventRow } from '../../../ledger/codec.ts'
import type { Head } from '../../../ledger/reader.ts'
import { type Connection, connect } from './connection.ts'
import { requireSchema } from './migrate.ts'
import type { PostgresOptions } from './options.ts'

/** A file beside the ledger; without bytes if it was removed. Paths are relative to the data directory. */
export type StateFile = { readonly path: string; readonly bytes: Buffer | null }

/** The holder of a ledger that lives on one machine again. */
export const DETACHED = '(detached)'

/** What PostgreSQL says of a ledger. */
export type RemoteLedger = {
  readonly headSeq: number
  readonly headHash: string
  readonly epoch: number
  readonly holder: string | null
  /** Milliseconds until the lease ends, by the database's clock. Negative once it has; infinite once detached. */
  readonly leaseLeftMs: number
}

/** A node as it last reported. */
export type RemoteNode = {
  readonly node: string
  readonly appliedSeq: number
  /** The last erasure whose words this node no longer holds. */
  readonly erasedThrough: number
  readonly seenMsAgo: number
}

export type Remote = ReturnType<typeof createRemote>

/** How long a host may take to answer, as a part of the lease. */
const CONNECT = 3 / 8
const SELECTED = COLUMNS.map((column) => `"${column}"`).join()

/**
 * One ledger in PostgreSQL. Opens a connection when it needs one, and another after a fault. Each call rejects
 * with Unreachable, OutcomeUnknown or pg.DatabaseError, and may be repeated.
 */
export function createRemote({ url, node, leaseMs }: PostgresOptions, ledgerId: string) {
  let current: Connection | null = null
  let opening: Promise<Connection> | null = null

  async function open(): Promise<Connection> {
    const connection = await connect(url, node, leaseMs * CONNECT)
    try {
      await requireSchema(connection)
    } catch (error) {
      connection.close()
      throw error
    }
    current = connection
    return connection
  }

  async function connection(): Promise<Connection> {
    if (current?.isOpen()) return current
    opening ??= open().finally(() => {
      opening = null
    })
    return opening
  }

  async function write<Result>(call: string, values: readonly unknown[], limitMs: number): Promise<Result> {
    const name = `delegate.${call}`
    const text = `SELECT ${name}(${['', ...values].map((_, index) => `$${index + 1}`).join()}) AS result`
    const parameters = [ledgerId, ...values]
    const rows = await (await connection()).write<{ result: Result }>({ name, text }, parameters, limitMs)
    return rows[0]?.result as Result
  }

  return {
    ledgerId,
    /** Undefined if the database does not hold this ledger. */
    async ledger(): Promise<RemoteLedger | undefined> {
      const [found] = await (await connection()).read<RemoteLedger>(
        `SELECT head_seq AS "headSeq", head_hash AS "headHash", epoch, holder,
           ((extract(epoch FROM lease_until) - extract(epoch FROM clock_timestamp())) * 1000)::float8 AS "leaseLeftMs"
         FROM delegate.ledger WHERE ledger_id = $1`,
        [ledgerId],
      )
      return found
    },
    async rowsAfter(seq: number, limit: number): Promise<EventRow[]> {
      return (await connection()).read<EventRow>(
        `SELECT ${SELECTED} FROM delegate.event WHERE ledger_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
        [ledgerId, seq, limit],
      )
    },
    async hashAt(seq: number): Promise<string | null> {
      const [found] = await (await connection()).read<{ hash: string }>(
        'SELECT hash FROM delegate.event WHERE ledger_id = $1 AND seq = $2',
        [ledgerId, seq],
      )
      return found?.hash ?? null
    },
    async files(): Promise<StateFile[]> {
      return (await connection()).read<{ path: string; bytes: Buffer }>(
        'SELECT path, bytes FROM delegate.file WHERE ledger_id = $1',
        [ledgerId],
      )
    },
    /** Adds the ledger without events, unless it is there. */
    async register(genesisHash: string): Promise<void> {
      await (await connection()).read(
        'INSERT INTO delegate.ledger (ledger_id, head_seq, head_hash) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING',
        [ledgerId, genesisHash],
      )
    },
    append: (
      epoch: number,
      from: Head,
      rows: readonly EventRow[],
      files: readonly StateFile[],
      limitMs: number,
    ) =>
      write<void>(
        'append',
        [epoch, from.seq, from.hash, JSON.stringify(rows), JSON.stringify(files.map(toJson))],
        limitMs,
      ),
    /** Resolves once nothing that was sent under this epoch is under way, and what is there is durable. */
    settle: (epoch: number, limitMs: number) => write<void>('settle', [epoch], limitMs),
    take: (node: string, leaseMs: number, limitMs: number) =>
      write<number | null>('take', [node, leaseMs], limitMs),
    /** Ends the current lease and gives it to `node`, or to nobody, until a PostgreSQL timestamp. */
    seize: (node: string | null, until: string, limitMs: number) =>
      write<number>('seize', [node, until], limitMs),
    renew: (node: string, epoch: number, leaseMs: number, limitMs: number) =>
      write<boolean>('renew', [node, epoch, leaseMs], limitMs),
    release: (epoch: number, limitMs: number) => write<void>('release', [epoch], limitMs),
    report: (node: string, appliedSeq: number, erasedThrough: number, limitMs: number) =>
      write<void>('report', [node, appliedSeq, erasedThrough], limitMs),
    async nodes(): Promise<RemoteNode[]> {
      return (await connection()).read<RemoteNode>(
        `SELECT node, applied_seq AS "appliedSeq", erased_through AS "erasedThrough",
           (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::float8 AS "seenMsAgo"
         FROM delegate.node WHERE ledger_id = $1 ORDER BY node`,
        [ledgerId],
      )
    },
    /** PostgreSQL's setting that names the standbys for which each commit waits; empty if there are none. */
    async synchronousStandbys(): Promise<string> {
      const [found] = await (await connection()).read<{ names: string }>(
        `SELECT current_setting('synchronous_standby_names') AS names`,
      )
      return found?.names ?? ''
    },
    /**
     * Tells PostgreSQL how many events it has now. Until it knows, it reads every page of them by sorting all that
     * follow. Without effect if the account does not own the table: PostgreSQL then counts by itself within minutes.
     */
    async analyze(): Promise<void> {
      await (await connection()).read('ANALYZE delegate.event')
    },
    close(): void {
      current?.close()
    },
  }
}

const toJson = ({ path, bytes }: StateFile) => ({ path, base64: bytes?.toString('base64') ?? null })
