import pg from 'pg'
import type { Draft } from '../../../ledger/codec.ts'
import { LedgerDamaged, LedgerUnavailable, messageOf } from '../../../ledger/errors.ts'
import type { CommitOutcome, OpenGroup } from '../../../ledger/ledger.ts'
import { english } from '../../language/message.ts'
import type { EngineStatus } from '../messages.ts'
import { catchUp, isLastEpoch, requirePrefix } from './catch-up.ts'
import type { Engine, EngineParts } from './engine.ts'
import { erasedElsewhere, reportErased } from './erased-elsewhere.ts'
import { createLease } from './lease.ts'
import {
  EngineRefused,
  EpochMoved,
  NO_ANSWER,
  OutcomeUnknown,
  type PostgresOptions,
  Unreachable,
} from './options.ts'
import { createRemote, type RemoteLedger } from './remote.ts'
import { replaceState, watchState } from './state.ts'

const EPOCH_MOVED = 'DG002'
const HEAD_DIFFERS = 'DG003'
const LOCK_TIMEOUT = '55P03'
/** How often to look for changes beside the ledger that no append has carried. */
const STATE_MS = 1_000
/** How many times in a lease a standby looks for events and a free lease. */
const LOOKS = 16
const RETRY_MS = 100
const NAME_SHARED = 'another directory holds the lease under this name: give each its own LEDGER_NODE'
/** At most this many sends of a group whose outcome stays unknown. */
const ATTEMPTS = 3

/**
 * PostgreSQL commits; the local ledger follows at once. Resolves once this node holds the lease and has caught
 * up: until then it is a standby, which folds what the holder writes. Rejects with EngineRefused.
 */
export async function openAuthority(postgres: PostgresOptions, parts: EngineParts): Promise<Engine> {
  const { writer, directory, warn, die } = parts
  const ledgerId = writer.ledger.id()
  const { leaseMs, node } = postgres
  /** How long PostgreSQL may take to commit. */
  const limitMs = leaseMs / 2
  const remote = createRemote(postgres, ledgerId)
  const lease = createLease({
    remote: createRemote(postgres, ledgerId),
    postgres,
    onDeadline: (deadline) => parts.send({ kind: 'deadline', deadline }),
    onFatal: die,
    warn,
  })
  /** The local ledger may lack events that PostgreSQL has, or will have once a statement arrives. */
  let isBehind = false
  /** Raised by each commit whose outcome is unknown. Appends that carry an earlier one are refused. */
  let generation = 0
  /** The one that the service has received. */
  let toldGeneration = 0
  let epoch = 0
  /** Why the last commit failed, until one succeeds. */
  let fault: string | null = null
  let isStateLate = false

  const standby = await waitForLease()
  const state = watchState(directory, postgres.state, standby.isStateSent)
  let stateTimer = setTimeout(look, STATE_MS)
  let sendingState = Promise.resolve()
  let isCommitting = false
  let isClosing = false

  async function waitForLease(): Promise<{ isStateSent: boolean }> {
    /** Epochs of this directory: its last one, and any that it may have taken without an answer. */
    const ownEpochs = [writer.ledger.meta('epoch')].filter((each) => each !== null).map(Number)
    let isNameShared = false
    for (;;) {
      try {
        await requirePrefix(remote, writer.ledger)
        await follow()
        writer.ledger.requireEnd()
        const before = await remote.ledger()
        const hasName = before?.holder === node
        // After a crash. Another directory may have the same name, but not this epoch.
        const isOwn = hasName && ownEpochs.includes(before.epoch)
        if (isOwn) await remote.release(before.epoch, limitMs)
        const taken = await lease.take().catch((error: unknown) => {
          if (before && error instanceof OutcomeUnknown) ownEpochs.push(before.epoch + 1)
          throw error
        })
        if (taken === null && hasName && !isOwn && !isNameShared) {
          isNameShared = true
          warn(NAME_SHARED, { node })
        }
        if (taken !== null) {
          epoch = taken
          await follow()
          // So that its successor knows that there are words here.
          await reportErased(remote, node, writer, leaseMs)
          // What this node did not send before it stopped is newer than what is there.
          const isOwn = isLastEpoch(writer.ledger, epoch)
          const files = isOwn ? [] : await remote.files()
          if (!isOwn) replaceState(directory, postgres.state, files)
          writer.ledger.setMeta('epoch', String(epoch))
          writer.ledger.setEngine('commit')
          followsAgain()
          return { isStateSent: !isOwn && files.length > 0 }
        }
        followsAgain()
        tell(before)
        await reportErased(remote, node, writer, leaseMs)
      } catch (error) {
        if (error instanceof EngineRefused || error instanceof LedgerDamaged) throw error
        if (fault === null) warn('this standby cannot follow PostgreSQL', { error: messageOf(error) })
        fault = messageOf(error)
        tell(undefined)
      }
      await sleep(leaseMs / LOOKS)
    }
  }

  function followsAgain(): void {
    if (fault !== null) warn('this standby follows PostgreSQL again', {})
    fault = null
  }

  /** Undefined if PostgreSQL does not answer. */
  function tell(found: RemoteLedger | undefined): void {
    const { holder = null, epoch: current = 0 } = found ?? {}
    const lag = found ? Math.max(0, found.headSeq - writer.ledger.head().seq) : null
    parts.send({ kind: 'standby', engine: { ...status('standby'), holder, epoch: current, lag } })
  }

  /**
   * Applies what PostgreSQL has, and folds it. What can be read may not be on the standby of PostgreSQL yet, after a
   * restart or a cancelled wait. It is once a later commit is, here that of the report.
   */
  async function follow(): Promise<void> {
    await catchUp(remote, {
      ledger: writer.ledger,
      async apply(rows) {
        await reportErased(remote, node, writer, leaseMs)
        writer.apply(rows)
      },
    })
    await fold()
  }

  async function fold(): Promise<void> {
    while (writer.step(1_000)) await new Promise(setImmediate)
  }

  /** The error as it is thrown. Ends the process if another node may write. */
  function refusal(error: unknown): unknown {
    if (codeOf(error) === EPOCH_MOVED) die(new EpochMoved(messageOf(error)))
    return error
  }

  /**
   * Returns a function that throws past the deadline, or after the time of a lease: the lease may be renewed while
   * appends fail.
   */
  function limit(): () => void {
    const untilMs = performance.now() + leaseMs
    return () => {
      lease.require()
      if (performance.now() > untilMs) throw new LedgerUnavailable(NO_ANSWER)
    }
  }

  /** Applies what PostgreSQL has, once nothing is under way there. */
  async function recover(requireTime = limit()): Promise<void> {
    while (isBehind) {
      requireTime()
      try {
        await remote.settle(epoch, limitMs)
        await requirePrefix(remote, writer.ledger)
        await catchUp(remote, writer)
        isBehind = false
        fault = null
      } catch (error) {
        if (!isPassing(error)) throw refusal(error)
        await sleep(RETRY_MS)
      }
    }
    if (toldGeneration === generation) return
    await fold()
    toldGeneration = generation
    parts.send({ kind: 'caughtUp', generation })
  }

  /** Sends a group. Resolves to null if PostgreSQL has it, and otherwise to why it may lack it. */
  async function send({ from, rows }: OpenGroup): Promise<unknown> {
    try {
      const { files, sent } = state.changedDatabase()
      await remote.append(epoch, from, rows, files, limitMs)
      sent()
      return null
    } catch (error) {
      return refusal(error)
    }
  }

  /** Adds to `sent` every group that PostgreSQL may have. */
  async function commit(batches: readonly (readonly Draft[])[], sent: OpenGroup[]): Promise<CommitOutcome[]> {
    const requireTime = limit()
    for (;;) {
      requireTime()
      await recover(requireTime)
      // A hash covers everything before it.
      const landed = sent.find(({ rows }) => rows.some(({ seq, hash }) => writer.ledger.hashAt(seq) === hash))
      if (landed) return landed.outcomes
      const group = writer.begin(batches)
      if (group.rows.length === 0) {
        group.undo()
        return group.outcomes
      }
      // Until the group is here, too.
      isBehind = true
      const error = await send(group)
      if (error === null) {
        // PostgreSQL has it, even if this disk refuses it.
        sent.push(group)
        group.keep()
        isBehind = false
        fault = null
        return group.outcomes
      }
      group.undo()
      // Without a connection nothing was sent.
      if (error instanceof Unreachable) await sleep(RETRY_MS)
      else sent.push(group)
      const mayRepeat = isPassing(error) || codeOf(error) === HEAD_DIFFERS
      if (!mayRepeat || sent.length === ATTEMPTS) throw error
    }
  }

  /** Recovers from a failed commit, then sends the changes beside the ledger that no append has carried. */
  async function sendState(): Promise<void> {
    if (isCommitting || lease.isPast()) return
    try {
      await recover()
      const changes = [state.changedDatabase(), state.changedFiles()]
      const files = changes.flatMap((each) => each.files)
      if (files.length > 0) await remote.append(epoch, writer.ledger.head(), [], files, limitMs)
      for (const each of changes) each.sent()
      isStateLate = false
    } catch (error) {
      if (!isStateLate) warn('the settings did not reach PostgreSQL yet', { error: messageOf(error) })
      isStateLate = true
    }
  }

  function look(): void {
    sendingState = sendState()
    void sendingState.then(() => {
      if (!isClosing) stateTimer = setTimeout(look, isBehind ? RETRY_MS : STATE_MS)
    })
  }

  function status(role: EngineStatus['role']): EngineStatus {
    const known = lease.fault() ?? fault
    return { mode: 'commit', role, node, holder: node, epoch, lag: 0, behindSince: null, fault: known }
  }

  return {
    async commit(batches) {
      isCommitting = true
      const sent: OpenGroup[] = []
      try {
        await sendingState
        return await commit(batches, sent)
      } catch (error) {
        const isRefused = error instanceof LedgerUnavailable
        if (!isRefused) fault = messageOf(error)
        const message = isRefused ? error.message : english`PostgreSQL did not commit: ${fault}`
        if (isBehind) {
          generation += 1
          parts.send({ kind: 'behind' })
          clearTimeout(stateTimer)
          stateTimer = setTimeout(look, RETRY_MS)
        }
        throw new LedgerUnavailable(message, { cause: error, isUnsure: sent.length > 0 })
      } finally {
        isCommitting = false
      }
    },
    generation: () => generation,
    status() {
      const engine = status('holder')
      if (lease.isPast()) return { engine, ledgerError: engine.fault ?? NO_ANSWER }
      return fault === null
        ? { engine }
        : { engine, ledgerError: english`PostgreSQL did not commit: ${fault}` }
    },
    erasedElsewhere: () => erasedElsewhere(remote, node, writer.ledger),
    async close() {
      isClosing = true
      clearTimeout(stateTimer)
      await sendingState
      await sendState()
      state.close()
      await lease.release()
      remote.close()
    },
  }
}

/** Whether a retry may succeed. */
const isPassing = (error: unknown) =>
  error instanceof OutcomeUnknown || error instanceof Unreachable || codeOf(error) === LOCK_TIMEOUT

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? error.code : undefined)

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
