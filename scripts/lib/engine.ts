import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closing } from '../../ledger/closing.ts'
import { GENESIS_HASH } from '../../ledger/codec.ts'
import { examineLedger } from '../../ledger/examine.ts'
import { ledgerFile, makeDirectory, openLedgerReadOnly } from '../../ledger/files.ts'
import { createIds } from '../../ledger/ids.ts'
import { markImported } from '../../ledger/imported.ts'
import { type Ledger, openLedger } from '../../ledger/ledger.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import { createReader, type Head } from '../../ledger/reader.ts'
import { readWitness } from '../../projections/checkpoints.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { catchUp, isLastEpoch, type Relation, relate } from '../../src/storage/postgres/catch-up.ts'
import { connect } from '../../src/storage/postgres/connection.ts'
import { migrate, requireSchema } from '../../src/storage/postgres/migrate.ts'
import type { PostgresOptions } from '../../src/storage/postgres/options.ts'
import { pushRows, pushState } from '../../src/storage/postgres/push.ts'
import { createRemote, DETACHED, type Remote, type RemoteLedger } from '../../src/storage/postgres/remote.ts'
import { replaceState, watchState } from '../../src/storage/postgres/state.ts'
import { Refused, undoAtExit } from './command.ts'
import { closeWhole, openStaging } from './staging.ts'

const LIMIT_MS = 10_000
const WAS_DETACHED =
  'This ledger was detached, so the machine that ran engine:detach may have newer events. ' +
  'To share it again, run npm run engine:init there.'
const NOT_ASKED =
  'LEDGER_POSTGRES_URL is not set, so the settings and adaptation files are those of this machine. On a standby, they ' +
  'are old or missing.'
const NO_ANSWER =
  'PostgreSQL does not answer, so the settings and adaptation files are those of this machine. On a standby, they are ' +
  'old or missing.'
const NEWER = 'The settings and adaptation files are those in PostgreSQL, because another machine wrote last.'
const LACKING = 'PostgreSQL has more events. Start Delegate on this machine, which then follows them.'

/** Throws Refused without LEDGER_POSTGRES_URL. */
export function postgresOptions(config: Config = loadConfig()): PostgresOptions {
  if (config.postgres === null) throw new Refused('Set LEDGER_POSTGRES_URL first.')
  return { ...config.postgres, mode: config.postgres.mode ?? 'follow' }
}

/** Runs work on the ledger of a directory, while no service runs there. */
async function withLedger<T>(
  directory: string,
  work: (ledger: Ledger) => Promise<T> | T,
  mayLackEnd = false,
): Promise<T> {
  makeDirectory(directory)
  const lock = lockDirectory(directory)
  try {
    using ledger = closing(
      openLedger(directory, createIds(Date.now), { readViews: () => readWitness(directory), mayLackEnd }),
    )
    return await work(ledger)
  } finally {
    lock.release()
  }
}

/** The same with its copy in PostgreSQL. */
export function withBoth<T>(
  directory: string,
  options: PostgresOptions,
  work: (ledger: Ledger, remote: Remote) => Promise<T>,
  mayLackEnd = false,
): Promise<T> {
  const withRemote = async (ledger: Ledger) => {
    using remote = closing(createRemote(options, ledger.id()))
    return await work(ledger, remote)
  }
  return withLedger(directory, withRemote, mayLackEnd)
}

/** Creates the tables. Returns the names of the files that were applied. */
export async function createTables({ url, node }: PostgresOptions): Promise<string[]> {
  using connection = closing(await connect(url, node))
  return await migrate(connection)
}

/** Copies the ledger of a directory, and what lies beside it, to PostgreSQL. Returns how many events it lacked. */
export function copyToPostgres(directory: string, options: PostgresOptions): Promise<number> {
  return withBoth(directory, options, async (ledger, remote) => {
    // The account of the service may not register one, nor needs it.
    if (!(await remote.ledger())) await remote.register(GENESIS_HASH)
    const relation = await relate(remote, ledger)
    if (relation.kind === 'forked')
      throw new Refused(`The two ledgers differ from event ${relation.seq} on. Nothing was changed.`)
    if (relation.kind === 'behind')
      throw new Refused(
        `PostgreSQL has events up to ${relation.remote.headSeq} that this directory lacks. Nothing was changed.`,
      )
    const epoch = await remote.seize(options.node, '-infinity', LIMIT_MS)
    const state = watchState(directory, options.state, false)
    try {
      const parts = { remote, ledger, epoch }
      await pushState(parts, state, await pushRows(parts, relation.remote.headSeq))
    } finally {
      state.close()
    }
    ledger.setMeta('epoch', String(epoch))
    await remote.release(epoch, LIMIT_MS)
    await remote.analyze()
    return ledger.head().seq - relation.remote.headSeq
  })
}

/**
 * Creates a directory from PostgreSQL, and raises the epoch, so that the former holder stops. Returns its head. Throws
 * Refused if the ledger was detached, unless that is allowed.
 */
export async function pull(
  directory: string,
  options: PostgresOptions,
  wanted: string | null,
  mayBeDetached = false,
): Promise<Head & { readonly ledgerId: string }> {
  const ledgerId = wanted ?? (await onlyLedger(options))
  const staging = openStaging(directory)
  try {
    using remote = closing(createRemote(options, ledgerId))
    const found = await remote.ledger()
    if (!found) throw new Refused(`This database has no ledger ${ledgerId}.`)
    if (found.holder === DETACHED && !mayBeDetached)
      throw new Refused(
        `${WAS_DETACHED} If that machine is lost, take what PostgreSQL has: npm run ledger:pull -- --detached`,
      )
    // First, so that nothing is added any more.
    const epoch = await remote.seize(options.node, '-infinity', LIMIT_MS)
    const ledger = openLedger(staging.directory, () => ledgerId)
    await catchUp(remote, { ledger, apply: ledger.importRows })
    const head = examineLedger(ledger.db, ledgerFile(staging.directory))
    markImported(ledger, { source: 'restore', headSeq: head.seq, headHash: head.hash })
    ledger.setMeta('epoch', String(epoch))
    replaceState(staging.directory, options.state, await remote.files())
    closeWhole(ledger)
    const { database, directory: folder } = options.state
    const names = [folder, database].filter((name) => existsSync(join(staging.directory, name)))
    staging.publish([...names, 'ledger.sqlite'])
    return head
  } finally {
    staging.discard()
  }
}

/**
 * Throws Refused if the database holds ledgers, but not that of the directory; null is an empty one. It may be the wrong
 * directory, and a standby could no longer tell which ledger is its own.
 */
export async function requireNoOther(directory: string | null, options: PostgresOptions): Promise<void> {
  const ids = await ledgerIds(options)
  if (ids.length === 0 || (directory !== null && ids.includes(ledgerIdIn(directory)))) return
  throw new Refused(
    directory === null
      ? 'This directory is empty, and the database holds a ledger already. In commit mode, just start Delegate here; ' +
          'in follow mode, run npm run ledger:pull. For another ledger: npm run engine:init -- --another-ledger'
      : `The database holds another ledger (${ids.join(', ')}), and not that of ${directory}. To add it: ` +
          'npm run engine:init -- --another-ledger',
  )
}

async function ledgerIds({ url, node }: PostgresOptions): Promise<string[]> {
  using connection = closing(await connect(url, node))
  await requireSchema(connection)
  const found = await connection.read<{ id: string }>(
    'SELECT ledger_id AS id FROM delegate.ledger ORDER BY 1',
  )
  return found.map(({ id }) => id)
}

async function onlyLedger(options: PostgresOptions): Promise<string> {
  const ids = await ledgerIds(options)
  const [only] = ids
  if (ids.length === 1 && only !== undefined) return only
  const lines = ids.map((id) => `  ${id}`).join('\n')
  throw new Refused(`This database holds ${ids.length} ledgers. Choose one with --ledger <id>:\n${lines}`)
}

/**
 * Where to read what lies beside the ledger of a directory, if another machine wrote last in `commit` mode: a temporary
 * directory, which is removed when the process ends. `notes` are sentences for the operator.
 */
export async function newestState(
  directory: string,
  config = loadConfig(),
): Promise<{ readonly state?: string; readonly notes: readonly string[] }> {
  using db = closing(openLedgerReadOnly(directory))
  const ledger = createReader(db)
  const engine = ledger.meta('engine')
  if (config.postgres === null) return { notes: engine === 'commit' ? [NOT_ASKED] : [] }
  if ((config.postgres.mode ?? engine) === 'follow') return { notes: [] }
  const options = postgresOptions(config)
  using remote = closing(createRemote(options, ledger.id()))
  // A backup matters most while PostgreSQL is down.
  const found = await remote.ledger().catch(() => null)
  if (found === null) return { notes: [NO_ANSWER] }
  if (!found || found.holder === DETACHED || ledger.meta('epoch') === String(found.epoch))
    return { notes: [] }
  const { kind } = await relate(remote, ledger)
  if (kind === 'forked') return { notes: [] }
  const state = mkdtempSync(join(tmpdir(), 'delegate-state-'))
  undoAtExit(() => rmSync(state, { recursive: true, force: true }))
  replaceState(state, options.state, await remote.files())
  return { state, notes: kind === 'behind' ? [NEWER, LACKING] : [NEWER] }
}

/**
 * Makes the ledger of a directory the only one again, with all that PostgreSQL has, unless the two have forked: then
 * PostgreSQL is left alone. Returns its head. Throws Refused while a machine may write.
 */
export function detach(
  directory: string,
  options: PostgresOptions,
): Promise<Head & { readonly isForked: boolean }> {
  const work = async (ledger: Ledger, remote: Remote) => {
    const { kind, remote: found } = await relate(remote, ledger)
    if (kind !== 'forked') {
      // Even under an epoch of this directory, which may be a copy of the one that holds the lease.
      if (found.holder !== null && found.holder !== DETACHED && found.leaseLeftMs > 0)
        throw new Refused(
          `${found.holder} may write for another ${secondsOf(found)} s. Stop the service on every machine first.`,
        )
      const epoch = await remote.seize(DETACHED, 'infinity', LIMIT_MS)
      await catchUp(remote, { ledger, apply: ledger.importRows })
      if (!isLastEpoch(ledger, epoch)) replaceState(directory, options.state, await remote.files())
    }
    ledger.requireEnd()
    ledger.setEngine('sqlite')
    return { ...ledger.head(), isForked: kind === 'forked' }
  }
  return withBoth(directory, options, work, true)
}

/**
 * Detaches the ledger of a directory without PostgreSQL, which is lost. Events may be missing, so outbound work waits as
 * after a restore. Returns the head.
 */
export function detachAlone(directory: string): Promise<Head> {
  const work = (ledger: Ledger) => {
    const head = ledger.head()
    markImported(ledger, { source: 'restore', headSeq: head.seq, headHash: head.hash })
    ledger.setEngine('sqlite')
    return head
  }
  // If its end is missing, the next start still reports that.
  return withLedger(directory, work, true)
}

/**
 * Ends the lease of the holder. Returns the new epoch. Throws Refused if there is no lease, as in `follow` mode or once
 * the ledger was detached.
 */
export async function promote(directory: string, options: PostgresOptions): Promise<number> {
  using remote = closing(createRemote(options, ledgerIdIn(directory)))
  const found = await remote.ledger()
  if (found?.holder === DETACHED) throw new Refused(WAS_DETACHED)
  if (!found || found.holder === null || found.leaseLeftMs < 0)
    throw new Refused(
      'No machine holds the lease. In commit mode, a standby takes over by itself; ' +
        'in follow mode, run npm run ledger:pull on the other machine.',
    )
  return await remote.seize(null, '-infinity', LIMIT_MS)
}

/** Reads beside a running service. */
export async function readStatus(directory: string, options: PostgresOptions): Promise<string> {
  using db = closing(openLedgerReadOnly(directory))
  const ledger = createReader(db)
  using remote = closing(createRemote(options, ledger.id()))
  const [relation, nodes, standbys] = [
    await relate(remote, ledger),
    await remote.nodes(),
    await remote.synchronousStandbys(),
  ]
  const { holder, epoch, leaseLeftMs, headSeq } = relation.remote
  const here = ledger.head().seq
  const isOwnEpoch = Number(ledger.meta('epoch') ?? -1) === epoch
  const lease = leaseLeftMs > 0 ? `for another ${secondsOf(relation.remote)} s` : 'its lease has ended'
  const hasLease = holder !== null && holder !== DETACHED
  return [
    `ledger      ${ledger.id()}`,
    `role        ${roleOf(relation.remote, isOwnEpoch, options.mode)}`,
    `lag         ${lagOf(relation, here)}`,
    `PostgreSQL  event ${headSeq}, epoch ${epoch}`,
    `here        event ${here}, ${relations[relation.kind]}`,
    `holder      ${hasLease ? `${holder}, ${lease}` : (holder ?? 'none')}`,
    // The holder reports only when it takes the lease.
    ...nodes
      .filter(({ node }) => node !== holder)
      .map(
        ({ node, appliedSeq, seenMsAgo }) =>
          `machine     ${node}, event ${appliedSeq}, seen ${Math.round(seenMsAgo / 1000)} s ago`,
      ),
    standbys !== ''
      ? `durable on  the primary and its synchronous standbys (${standbys})`
      : 'durable on  one server: without a synchronous standby, its disk is a single point of failure',
  ].join('\n')
}

const secondsOf = ({ leaseLeftMs }: RemoteLedger) => (leaseLeftMs / 1000).toFixed(1)

const relations = { same: 'the same', behind: 'behind', ahead: 'ahead', forked: 'FORKED' } as const

/** What this machine is. A lease that has not ended is one of `commit` mode, even if the shell does not set the mode. */
function roleOf({ holder, leaseLeftMs }: RemoteLedger, isOwnEpoch: boolean, mode: PostgresOptions['mode']) {
  if (holder === DETACHED) return 'none: the ledger is detached'
  const isHeld = holder !== null && leaseLeftMs > 0
  if (isHeld) return isOwnEpoch ? 'holder' : 'standby'
  if (mode === 'commit') return 'standby'
  return isOwnEpoch ? 'holder, without a lease' : 'none: another machine has pulled the ledger'
}

function lagOf({ kind, remote: { headSeq } }: Relation, here: number): string {
  if (kind === 'forked') return 'unknown'
  const count = Math.abs(headSeq - here)
  const events = count === 1 ? '1 event' : `${count} events`
  if (kind === 'same') return events
  return kind === 'behind' ? `${events} that only PostgreSQL has` : `${events} that PostgreSQL lacks`
}

function ledgerIdIn(directory: string): string {
  using db = closing(openLedgerReadOnly(directory))
  return createReader(db).id()
}
