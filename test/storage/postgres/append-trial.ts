import { newSalt, toDraft } from '../../../ledger/codec.ts'
import { LedgerUnavailable, messageOf } from '../../../ledger/errors.ts'
import { type CommitOutcome, openLedger } from '../../../ledger/ledger.ts'
import { copyToPostgres } from '../../../scripts/lib/engine.ts'
import { type Engine, openEngine } from '../../../src/storage/postgres/engine.ts'
import type { PostgresOptions } from '../../../src/storage/postgres/options.ts'
import { openWriter, type Writer } from '../../../src/storage/writer.ts'
import { optionsFor } from '../../support/database.ts'
import type { Postgres } from '../../support/postgres.ts'
import { type Fate, openProxy } from '../../support/proxy.ts'
import { newId, said } from '../../support/writer.ts'

/** What goes wrong while one group is appended, in the order of an append. */
export const faults = [
  'none',
  'the connection is lost before',
  'the process ends before it is sent',
  'PostgreSQL refuses it',
  'it is lost, and so is the connection',
  'it is lost, and the connection stays',
  'it arrives together with its repetition',
  'it arrives late',
  'the connection is lost on the way',
  'another node takes over before it arrives',
  'the wait for the standby is cancelled',
  'the backend ends during the wait for the standby',
  'the answer is lost, and so is the connection',
  'the answer is lost, and the connection stays',
  'the process ends before the answer',
  'the local commit is refused',
  'the process ends before the local commit',
  'the process ends before the fold',
  'the process ends before the acknowledgement',
] as const
export type Fault = (typeof faults)[number]

export type Step = {
  readonly fault: Fault
  /** The batches of the group: how many facts each has, and whether the first has a key. */
  readonly batches: readonly { readonly facts: number; readonly hasKey: boolean }[]
  /** Erases the first event, too. */
  readonly erases: boolean
  /** When a late statement arrives. */
  readonly lateMs: number
}

const LEASE_MS = 800
const SETUP_MS = 8_000

type Node = { readonly writer: Writer; readonly engine: Engine; isDead: boolean }
type Batch = { readonly key: string | undefined; readonly texts: readonly string[] }

export type Trial = Awaited<ReturnType<typeof openTrial>>

/** A ledger of its own in a database with a standby, its node, and a network between them that can fail. */
export async function openTrial(
  { primary, standby }: { readonly primary: Postgres; readonly standby: Postgres },
  directories: { readonly here: string; readonly there: () => string },
) {
  const proxy = await openProxy(primary.port)
  const here = optionsFor(primary, 'here', { leaseMs: LEASE_MS })
  const closers: (() => Promise<void>)[] = []
  const acknowledged: string[] = []
  /** Refused as certainly not recorded, and not repeated. */
  const refused: string[] = []
  const flaws: string[] = []
  let texts = 0
  let hasErased = false
  let isAcknowledged = false
  let fault: Fault = 'none'
  await copyToPostgres(directories.here, { ...here, leaseMs: SETUP_MS })
  let node = await openNode(directories.here, { ...here, url: proxy.url })
  const ledgerId = node.writer.ledger.id()
  await appendSurely()

  async function openNode(directory: string, options: PostgresOptions): Promise<Node> {
    const writer = openWriter({ directory, newId, warn: () => undefined })
    let opened: Node | null = null
    const endIt = () => opened && end(opened)
    const { begin } = writer.ledger
    Object.assign(writer.ledger, {
      begin(batches: Parameters<typeof begin>[0]) {
        const group = begin(batches)
        const keep = () => {
          if (fault === 'the process ends before the local commit') endIt()
          if (fault === 'the local commit is refused') {
            fault = 'none'
            group.undo()
            throw new LedgerUnavailable('the disk is full')
          }
          group.keep()
          if (fault === 'the process ends before the fold') endIt()
        }
        return { ...group, keep }
      },
    })
    const die = (error: Error) => {
      if (error.name !== 'EpochMoved') flaws.push(`the node died of ${error}`)
      endIt()
    }
    const nothing = () => undefined
    const engine = await openEngine(options, { writer, directory, send: nothing, warn: nothing, die })
    opened = { writer, engine, isDead: false }
    closers.push(async () => {
      await engine.close().catch(nothing)
      writer.close()
    })
    return opened
  }

  /** As if the process was killed: what is left of it finds no file any more. */
  function end(dying: Node): void {
    if (!dying.isDead) dying.writer.close()
    dying.isDead = true
  }

  async function takeOver(): Promise<void> {
    await primary.query(`SELECT delegate.seize($1, NULL, '-infinity')`, [ledgerId])
    const directory = directories.there()
    openLedger(directory, () => ledgerId).close()
    const other = await openNode(directory, optionsFor(primary, 'there', { leaseMs: LEASE_MS }))
    const batch = batchOf({ facts: 1, hasKey: false })
    note([batch], await other.engine.commit([draftsOf(batch)]))
    await other.engine.close()
    end(other)
  }

  function batchOf({ facts, hasKey }: Step['batches'][number]): Batch {
    const made = Array.from({ length: facts }, (_, index) => `text ${texts + index}`)
    texts += facts
    return { texts: made, key: hasKey ? `key of ${made[0]}` : undefined }
  }

  function draftsOf({ texts: all, key }: Batch) {
    const context = { newId, newSalt, at: new Date().toISOString() }
    return all.map((text, index) =>
      toDraft(said(text, index === 0 && key !== undefined ? { key } : {}), context),
    )
  }

  function note(batches: readonly Batch[], outcomes: readonly CommitOutcome[], isFirst = true): void {
    for (const [index, batch] of batches.entries()) {
      const outcome = outcomes[index]
      if (outcome?.status === 'rejected') flaws.push(`a batch was rejected: ${outcome.error}`)
      if (outcome?.status === 'duplicate' && isFirst)
        flaws.push(`${batch.key} was called a duplicate of itself`)
      acknowledged.push(...batch.texts)
    }
  }

  /** The backend that waits for the standby with an append. */
  async function waitingBackend(): Promise<number | null> {
    for (let attempt = 0; attempt < 40; attempt += 1) {
      const { rows } = await primary.query(
        `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%delegate.append%'`,
      )
      if (rows[0]) return rows[0].pid
      await sleep(10)
    }
    return null
  }

  /** Ends the wait for the standby, which hangs meanwhile. */
  async function interrupt(how: 'pg_cancel_backend' | 'pg_terminate_backend'): Promise<void> {
    const pid = await waitingBackend()
    if (pid !== null) await primary.query(`SELECT ${how}($1)`, [pid])
    await sleep(50)
    if (isAcknowledged) flaws.push('acknowledged while the standby does not have it')
    standby.signal('SIGCONT')
  }

  /** Makes the fault happen to the next append. Resolves once it is over, after the append was called. */
  async function arm(step: Step): Promise<() => Promise<unknown>> {
    const statement = (fate: Fate) => proxy.watch('delegate.append', () => fate)
    const nothing = async () => undefined
    switch (step.fault) {
      case 'the connection is lost before':
        proxy.cut()
        return nothing
      case 'the process ends before it is sent':
        proxy.watch('delegate.append', () => {
          end(node)
          return 'cut'
        })
        return nothing
      case 'PostgreSQL refuses it':
        await primary.query('ALTER FUNCTION delegate.append RENAME TO append_later')
        return async () => {
          await sleep(30)
          await primary.query('ALTER FUNCTION delegate.append_later RENAME TO append')
        }
      case 'it is lost, and so is the connection':
        statement('cut')
        return nothing
      case 'it is lost, and the connection stays':
        statement('swallow')
        return nothing
      case 'it arrives together with its repetition':
        proxy.watch('delegate.append', () => {
          proxy.watch('delegate.append', () => {
            proxy.release()
            return 'pass'
          })
          return 'hold'
        })
        return nothing
      case 'it arrives late':
        statement('hold')
        return () => sleep(step.lateMs)
      case 'the connection is lost on the way':
        statement('cut the client')
        return nothing
      case 'another node takes over before it arrives':
        statement('hold')
        return takeOver
      case 'the wait for the standby is cancelled':
        standby.signal('SIGSTOP')
        return () => interrupt('pg_cancel_backend')
      case 'the backend ends during the wait for the standby':
        standby.signal('SIGSTOP')
        return () => interrupt('pg_terminate_backend')
      case 'the answer is lost, and so is the connection':
        statement('cut the answer')
        return nothing
      case 'the answer is lost, and the connection stays':
        statement('swallow the answer')
        return nothing
      case 'the process ends before the answer':
        statement('swallow the answer')
        return async () => {
          await sleep(step.lateMs / 8)
          end(node)
        }
      default:
        return nothing
    }
  }

  /** Appends batches, and repeats those with keys once if there was no answer, as a client does. */
  async function append(step: Step): Promise<void> {
    const batches = step.batches.map(batchOf)
    const erasure = step.erases
      ? node.writer.erasure({ seqs: [1], reason: 'owner', at: new Date().toISOString() }).batch
      : []
    const dying = node
    const fromOver = await arm(step)
    fault = step.fault
    isAcknowledged = false
    const answered = dying.engine.commit([...batches.map(draftsOf), erasure]).then(
      (outcomes) => {
        isAcknowledged = true
        return outcomes
      },
      (error: unknown) => {
        if (!(error instanceof LedgerUnavailable)) flaws.push(`refused by ${error}`)
        else if (!error.isUnsure)
          refused.push(...batches.flatMap(({ key, texts: all }) => (key === undefined ? all : [])))
      },
    )
    await fromOver()
    proxy.release()
    const outcomes = await answered
    fault = 'none'
    if (step.fault === 'the process ends before the acknowledgement') end(dying)
    proxy.watch('nothing', () => 'pass')
    if (outcomes && !dying.isDead) {
      note(batches, outcomes)
      hasErased ||= erasure.length > 0
      return
    }
    await restart()
    const keyed = batches.filter(({ key }) => key !== undefined)
    const again = await node.engine.commit(keyed.map(draftsOf)).catch(() => null)
    if (again) note(keyed, again, false)
  }

  async function restart(): Promise<void> {
    if (node.isDead) node = await openNode(directories.here, { ...here, url: proxy.url })
  }

  /** Appends once nothing fails any more. */
  async function appendSurely(): Promise<void> {
    const batch = batchOf({ facts: 1, hasKey: false })
    for (let attempt = 0; attempt < 50; attempt += 1) {
      await restart()
      try {
        return note([batch], await node.engine.commit([draftsOf(batch)]))
      } catch (error) {
        if (attempt === 49) flaws.push(`the node does not recover: ${messageOf(error)}`)
        await sleep(100)
      }
    }
  }

  async function finish(): Promise<void> {
    await appendSurely()
    for (const close of closers.reverse()) await close()
    await proxy.close()
  }

  return { ledgerId, append, finish, acknowledged, refused, flaws, hasErased: () => hasErased }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
