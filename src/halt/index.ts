import { existsSync, rmSync } from 'node:fs'
import pLimit from 'p-limit'
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

/** How often to look for the file of `npm run halt`. */
const LOOK_EVERY_MS = 1_000

/**
 * The halt of the delegate. Whatever has an effect asks `isHalted` before each step: texts, calls, tasks,
 * deliveries, tools that act, and requests to the model that the owner did not make in the chat.
 */
export function buildHalt(options: {
  readonly storage: Storage
  /** The data directory. */
  readonly directory: string
  readonly onFault: (error: unknown) => void
}) {
  const { append, views, mayAct } = options.storage
  const { halted } = createOwnerQueries(views)
  const file = haltFile(options.directory)
  const inTurn = pLimit(1)
  /** Nothing begins while the fact is being recorded, nor if that fails. */
  let isAsked = false
  let timer: NodeJS.Timeout | undefined

  async function record(by: HaltedBy): Promise<void> {
    if (halted()) return
    await append([{ type: 'delegation.halted', actor: 'owner', channel: 'system', facts: { by } }])
  }

  /** Records the halt that the shell asked for. The file goes only once the fact is durable. */
  async function takeFile(): Promise<void> {
    if (!existsSync(file)) return
    await record('shell')
    rmSync(file, { force: true, recursive: true })
  }

  const isHalted = (): boolean => isAsked || halted() !== undefined || existsSync(file)

  return {
    /** Also while another machine may have taken over. */
    mustWait: () => isHalted() || !mayAct(),
    isHalted,
    state(): HaltState {
      const row = halted()
      return { halted: isHalted(), since: row?.haltedAt ?? null, by: row?.by ?? null }
    },
    /** Resolves once the halt is durable. Halting again changes nothing. */
    halt(by: HaltedBy): Promise<void> {
      isAsked = true
      return inTurn(async () => {
        await record(by)
        isAsked = false
      })
    },
    /** Ends the halt. The caller must have checked that the owner wants it. */
    release: (): Promise<void> =>
      inTurn(async () => {
        await takeFile()
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
        isAsked = false
      }),
    /** Call before anything that has an effect is started. */
    async start(): Promise<void> {
      // Halted as long as the file cannot be removed.
      await takeFile().catch(options.onFault)
      timer = setInterval(() => {
        if (existsSync(file)) inTurn(takeFile).catch(options.onFault)
      }, LOOK_EVERY_MS).unref()
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await inTurn(() => undefined)
    },
  }
}
