import pg from 'pg'
import { messageOf } from '../../../ledger/errors.ts'
import type { EngineStatus } from '../messages.ts'
import { relate } from './catch-up.ts'
import type { Engine, EngineParts } from './engine.ts'
import { erasedElsewhere, reportErased } from './erased-elsewhere.ts'
import { EngineRefused, EpochMoved, type PostgresOptions } from './options.ts'
import { pushRows, pushState } from './push.ts'
import { createRemote } from './remote.ts'
import { watchState } from './state.ts'

const LOOK_MS = 500
/** How long a stop waits for PostgreSQL. */
const CLOSE_MS = 3_000
const PULL_AGAIN = 'move everything but secret.key out of DATA_DIR, and run npm run ledger:pull'

/**
 * Copies the local ledger, and what lies beside it, to PostgreSQL within a second. An append never waits for it.
 * Rejects with EngineRefused if another machine has pulled the ledger, or if the two have forked.
 */
export async function openFollower(postgres: PostgresOptions, parts: EngineParts): Promise<Engine> {
  const { writer, warn, die } = parts
  const { node } = postgres
  const remote = createRemote(postgres, writer.ledger.id())
  const state = watchState(parts.directory, postgres.state, false)
  const epoch = Number(writer.ledger.meta('epoch') ?? 0)
  /** Null until PostgreSQL has answered. */
  let remoteSeq: number | null = null
  let behindSince: string | null = null
  let fault: string | null = null
  let isClosing = false

  try {
    remoteSeq = await requireOwn()
  } catch (error) {
    if (error instanceof EngineRefused) throw error
    if (writer.ledger.meta('engine') === 'commit')
      throw new EngineRefused(
        `PostgreSQL committed this ledger, and may have events that it lacks. Start again once it answers (${messageOf(error)}).`,
      )
    failed(error)
  }
  writer.ledger.setEngine('follow')
  let pushing = Promise.resolve()
  let timer = setTimeout(look, 0)

  /** Resolves to the head of PostgreSQL. Throws EngineRefused unless this machine may write to it. */
  async function requireOwn(): Promise<number> {
    const relation = await relate(remote, writer.ledger)
    const { holder, epoch: current, headSeq } = relation.remote
    if (current !== epoch)
      throw new EngineRefused(
        `${holder ?? 'Another machine'} has pulled this ledger, so this machine must not continue. ` +
          `To return to it, stop Delegate there, then ${PULL_AGAIN}.`,
      )
    if (relation.kind === 'forked')
      throw new EngineRefused(
        `The ledger here and the one in PostgreSQL differ from event ${relation.seq} on, and nothing is merged. ` +
          `To keep this one, unset LEDGER_POSTGRES_MODE. To take the one in PostgreSQL, ${PULL_AGAIN}.`,
      )
    if (relation.kind === 'behind')
      throw new EngineRefused(
        `PostgreSQL has events up to ${headSeq} that this directory lacks. To get them, ${PULL_AGAIN}.`,
      )
    return headSeq
  }

  function failed(error: unknown): void {
    if (fault === null) warn('the ledger could not be copied to PostgreSQL', { error: messageOf(error) })
    fault = messageOf(error)
    behindSince ??= new Date().toISOString()
  }

  async function pushOnce(): Promise<void> {
    const isFirst = fault !== null || remoteSeq === null
    const from = await requireOwn()
    const parts = { remote, epoch, ledger: writer.ledger }
    remoteSeq = await pushRows(parts, from)
    await pushState(parts, state, remoteSeq)
    if (isFirst) await reportErased(remote, node, writer, postgres.leaseMs)
    if (fault !== null) warn('PostgreSQL has the ledger again', { seq: remoteSeq })
    fault = null
    behindSince = null
  }

  function look(): void {
    pushing = pushOnce().catch((error: unknown) => {
      const isMoved =
        error instanceof EngineRefused || (error instanceof pg.DatabaseError && error.code === 'DG002')
      if (!isMoved) return failed(error)
      die(new EpochMoved(messageOf(error)))
    })
    void pushing.then(() => {
      if (!isClosing) timer = setTimeout(look, LOOK_MS)
    })
  }

  return {
    commit: async (batches) => writer.commit(batches),
    generation: () => 0,
    status(): { engine: EngineStatus } {
      const lag = remoteSeq === null ? null : writer.ledger.head().seq - remoteSeq
      return {
        engine: { mode: 'follow', role: 'holder', node, holder: node, epoch, lag, behindSince, fault },
      }
    },
    erasedElsewhere: () => erasedElsewhere(remote, node, writer.ledger),
    async close() {
      isClosing = true
      clearTimeout(timer)
      const tooLong = setTimeout(remote.close, CLOSE_MS)
      await pushing
      if (fault === null) await pushOnce().catch(failed)
      clearTimeout(tooLong)
      state.close()
      remote.close()
    },
  }
}
