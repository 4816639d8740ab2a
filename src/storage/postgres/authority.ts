import pg from 'pg'
import type { Draft } from '../../../ledger/codec.ts'
import { LedgerDamaged, LedgerUnavailable, messageOf } from '../../../ledger/errors.ts'
import type { CommitOutcome, OpenGroup } from '../../../ledger/ledger.ts'
import type { EngineStatus } from '../messages.ts'
import { catchUp, requirePrefix } from './catch-up.ts'
import { OutcomeUnknown } from './connection.ts'
import type { Engine, EngineParts } from './engine.ts'
import { createLease } from './lease.ts'
import { EngineRefused, EpochMoved, type PostgresOptions } from './options.ts'
import { createRemote, type RemoteLedger } from './remote.ts'
import { replaceState, watchState } from './state.ts'

const EPOCH_MOVED = 'DG002'
const HEAD_DIFFERS = 'DG003'
/** How often changes beside the ledger are looked for that no fact carries. */
const STATE_MS = 1_000
/** How often a standby looks whether the lease is free, in parts of the lease. A release wakes it at once. */
const LOOKS = 16
const RETRY_MS = 100

/**
 * PostgreSQL commits; the local ledger follows at once. Resolves once this node holds the lease and has caught
 * up: until then it is a standby, which folds what the holder writes. Rejects with EngineRefused.
 */
export async function openAuthority(postgres: PostgresOptions, parts: EngineParts): Promise<Engine> {
  const { writer, directory, warn } = parts
  const ledgerId = writer.ledger.id()
  const { leaseMs, node } = postgres
  const remote = createRemote(postgres, ledgerId)
  const lease = createLease({
    remote: createRemote(postgres, ledgerId),
    postgres,
    onDeadline: (deadline) => parts.send({ kind: 'deadline', deadline }),
    onFatal: die,
    warn,
  })
  /** The local ledger may lack what PostgreSQL has. */
  let isBehind = false
  let epoch = 0
  let fault: string | null = null

  const standby = await waitForLease()
  const state = watchState(directory, postgres.state, standby.isStateSent)
  let stateTimer = setTimeout(sendState, STATE_MS)
  let sendingState: Promise<void> | null = null
  let isCommitting = false

  async function waitForLease(): Promise<{ isStateSent: boolean }> {
    let moved = Promise.withResolvers<void>()
    let isListening = false
    for (;;) {
      try {
        await requirePrefix(remote, writer.ledger)
        await follow()
        const before = await remote.ledger()
        const taken = await lease.take()
        if (taken !== null) {
          epoch = taken
          await follow()
          // What this node did not send before it stopped is newer than what is there.
          const isOwn = before?.holder === node && before.epoch === Number(writer.ledger.meta('epoch'))
          const files = isOwn ? [] : await remote.files()
          if (!isOwn) replaceState(directory, postgres.state, files)
          writer.ledger.setMeta('epoch', String(epoch))
          writer.ledger.setMeta('engine', 'commit')
          return { isStateSent: !isOwn && files.length > 0 }
        }
        fault = null
        tell(before)
        if (!isListening || !remote.isConnected()) await remote.listen(() => moved.resolve())
        isListening = true
        await report()
      } catch (error) {
        if (error instanceof EngineRefused || error instanceof LedgerDamaged) throw error
        fault = messageOf(error)
        tell(undefined)
      }
      await Promise.race([moved.promise, sleep(leaseMs / LOOKS)])
      moved = Promise.withResolvers()
    }
  }

  function tell(found: RemoteLedger | undefined): void {
    const { holder = null, epoch: current = 0, headSeq = 0 } = found ?? {}
    const lag = Math.max(0, headSeq - writer.ledger.head().seq)
    parts.send({ kind: 'standby', engine: { ...status('standby'), holder, epoch: current, lag } })
  }

  function report(): Promise<void> {
    const erased = writer.isSettled() ? writer.ledger.lastErasure() : 0
    return remote.report(node, writer.ledger.head().seq, erased, leaseMs)
  }

  /**
   * Applies what PostgreSQL has, and folds it. What can be read may not be on the standby of PostgreSQL yet, after a
   * restart or a cancelled wait. It is once a later commit is, here that of the report.
   */
  async function follow(): Promise<void> {
    await catchUp(remote, {
      ledger: writer.ledger,
      async apply(rows) {
        await report()
        writer.apply(rows)
      },
    })
    while (writer.step(1_000)) await new Promise(setImmediate)
  }

  function die(error: Error): void {
    // Ends the thread, which ends the process.
    setImmediate(() => {
      throw error
    })
  }

  /** Sends a group to PostgreSQL. Resolves to whether it is there for certain, and otherwise certainly is not. */
  async function send(group: OpenGroup): Promise<'kept' | 'behind'> {
    const { files, sent } = state.changedDatabase()
    try {
      await remote.append(epoch, group.from, group.rows, files, leaseMs)
      sent()
      return 'kept'
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === EPOCH_MOVED) {
        die(new EpochMoved(error.message))
        throw new LedgerUnavailable(error.message, { cause: error })
      }
      if (error instanceof pg.DatabaseError && error.code === HEAD_DIFFERS) return 'behind'
      throw error
    }
  }

  /** Whether PostgreSQL has a group of which that is unknown. Asks until the deadline. */
  async function settle({ from, rows }: OpenGroup): Promise<boolean> {
    const last = rows.at(-1)
    for (;;) {
      lease.require()
      try {
        return (await remote.settle(epoch, from.seq + rows.length, leaseMs)) === last?.hash
      } catch (error) {
        if (error instanceof pg.DatabaseError && error.code === EPOCH_MOVED) {
          die(new EpochMoved(error.message))
          throw new LedgerUnavailable(error.message, { cause: error })
        }
        await sleep(RETRY_MS)
      }
    }
  }

  async function commit(batches: readonly (readonly Draft[])[]): Promise<CommitOutcome[]> {
    for (;;) {
      lease.require()
      if (isBehind) await catchUp(remote, writer)
      isBehind = false
      const group = writer.begin(batches)
      if (group.rows.length === 0) {
        group.undo()
        return group.outcomes
      }
      let sent: 'kept' | 'behind' | 'unknown'
      try {
        sent = await send(group)
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) {
          group.undo()
          throw error
        }
        sent = 'unknown'
      }
      if (sent === 'kept') {
        // Until it is here, too.
        isBehind = true
        group.keep()
        isBehind = false
        return group.outcomes
      }
      group.undo()
      isBehind = true
      // Behind, too: a retry that was believed lost may have arrived before this one, which is equal to it.
      if (!(await settle(group))) continue
      writer.apply(group.rows)
      isBehind = false
      return group.outcomes
    }
  }

  async function sendState(): Promise<void> {
    sendingState = (async () => {
      if (isCommitting || lease.isPast()) return
      const changes = [state.changedDatabase(), state.changedFiles()]
      const files = changes.flatMap((each) => each.files)
      if (files.length > 0) {
        await remote.append(epoch, writer.ledger.head(), [], files, leaseMs)
        for (const each of changes) each.sent()
      }
    })().catch((error: unknown) =>
      warn('the settings did not reach PostgreSQL yet', { error: messageOf(error) }),
    )
    await sendingState
    stateTimer = setTimeout(sendState, STATE_MS)
  }

  function status(role: EngineStatus['role']): EngineStatus {
    const known = lease.fault() ?? fault
    return { mode: 'commit', role, node, holder: node, epoch, lag: 0, behindSince: null, fault: known }
  }

  return {
    async commit(batches) {
      isCommitting = true
      try {
        await sendingState
        return await commit(batches)
      } catch (error) {
        if (error instanceof LedgerUnavailable) throw error
        throw new LedgerUnavailable(`PostgreSQL did not commit: ${messageOf(error)}`, { cause: error })
      } finally {
        isCommitting = false
      }
    },
    status() {
      const engine = status('holder')
      return lease.isPast()
        ? { engine, ledgerError: `PostgreSQL does not answer: ${engine.fault ?? 'the lease ran out'}` }
        : { engine }
    },
    async close() {
      clearTimeout(stateTimer)
      await sendingState
      if (!lease.isPast()) await sendState()
      clearTimeout(stateTimer)
      state.close()
      await lease.release()
      remote.close()
    },
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
