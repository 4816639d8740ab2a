import { existsSync, rmSync } from 'node:fs'
import pLimit from 'p-limit'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import { makeFile } from '../../ledger/files.ts'
import { createOwnerQueries, type HaltRow } from '../../projections/owner.ts'
import type { Storage } from '../storage/storage.ts'
import { haltFile } from './file.ts'

export type HaltedBy = HaltRow['by']

/** `since` and `by` are null until the fact of the halt is recorded. */
export type HaltState = {
  readonly halted: boolean
  readonly since: string | null
  readonly by: HaltedBy | null
}

export type Halt = ReturnType<typeof buildHalt>

/** How often to look for a halt that is not recorded. */
const LOOK_EVERY_MS = 1_000

/**
 * The halt of the delegate. Whatever has an effect asks `isHalted` before each step: texts, calls, tasks,
 * deliveries, tools that act, and requests to the model that the owner did not make in the chat.
 */
export function buildHalt(options: {
  readonly storage: Pick<Storage, 'append' | 'views' | 'mayAct'>
  /** The data directory. */
  readonly directory: string
  readonly onFault: (error: unknown) => void
}) {
  const { append, views, mayAct } = options.storage
  const { halted } = createOwnerQueries(views)
  const file = haltFile(options.directory)
  const inTurn = pLimit(1)
  /** Who asked for a halt that is not recorded yet. Nothing begins meanwhile. */
  let asked: HaltedBy | null = null
  let timer: NodeJS.Timeout | undefined

  const isPending = (): boolean => asked !== null || existsSync(file)

  /** Records the halt that somebody asked for. The file goes only once the fact is durable. */
  async function record(): Promise<void> {
    if (!isPending()) return
    if (!halted()) {
      const by = asked ?? 'shell'
      await append([{ type: 'delegation.halted', actor: 'owner', channel: 'system', facts: { by } }])
    }
    asked = null
    rmSync(file, { force: true, recursive: true })
  }

  /** Lets a halt that cannot be recorded survive a restart: an empty file needs no space. */
  function keep(): void {
    if (asked === null) return
    try {
      makeFile(file)
    } catch (error) {
      options.onFault(error)
    }
  }

  const isHalted = (): boolean => isPending() || halted() !== undefined

  return {
    /** Also while another machine may have taken over. */
    mustWait: () => isHalted() || !mayAct(),
    isHalted,
    /** Whether a halt waits to be recorded. Unlike the others, reads no views, so it never throws. */
    isPending,
    state(): HaltState {
      const row = halted()
      return { halted: isHalted(), since: row?.haltedAt ?? null, by: row?.by ?? null }
    },
    /**
     * Halts from the call on. Resolves once that is recorded; if the disk refuses it, reports the fault and records it later.
     * Rejects on another fault: without PostgreSQL, another machine may act. Halting again changes nothing.
     */
    async halt(by: HaltedBy): Promise<void> {
      asked ??= by
      try {
        await inTurn(record)
      } catch (error) {
        if (!(error instanceof LedgerUnavailable) || error.disk === null) throw error
        options.onFault(error)
        keep()
      }
    },
    /** Ends the halt. The caller must have checked that the owner wants it. */
    release: (): Promise<void> =>
      inTurn(async () => {
        await record()
        const row = halted()
        if (row) {
          await append([
            {
              type: 'delegation.released',
              actor: 'owner',
              channel: 'system',
              causedBy: row.haltedSeq,
              key: `delegation.released:${row.haltedSeq}`,
              facts: {},
            },
          ])
        }
      }),
    /** Call before anything that has an effect is started. */
    async start(): Promise<void> {
      // Halted as long as the file cannot be removed.
      await record().catch(options.onFault)
      timer = setInterval(() => {
        if (isPending()) inTurn(record).catch(options.onFault)
      }, LOOK_EVERY_MS).unref()
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await inTurn(() => undefined)
    },
  }
}
