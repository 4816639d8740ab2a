import type { SubscribeHead } from '../../ledger/follow.ts'
import type { TurnRow } from '../../projections/turns.ts'
import type { TurnAbort } from './turn.ts'

export type Attention = {
  /** Begins with what a crash left unfinished, then takes each message as it comes, one at a time. */
  start(): void
  /** Stops the running turn; what was said so far is kept. False when none runs. */
  stop(): boolean
  /** Takes nothing new, lets the running turn finish for `graceMs`, then leaves it for the next start. */
  close(graceMs: number): Promise<void>
  isBusy(): boolean
}

const RETRY_AFTER_FAULT_MS = 1000

/**
 * One activation at a time, in the order in which they were asked for. What waits is derived from the ledger, so
 * nothing is lost with the process and nothing needs to be remembered here.
 */
export function createAttention(options: {
  readonly unfinishedTurns: () => TurnRow[]
  readonly onHeadMoved: SubscribeHead
  readonly runTurn: (turn: TurnRow, signal: AbortSignal) => Promise<void>
  readonly onFault: (error: unknown) => void
}): Attention {
  let running: { controller: AbortController; turnId: string } | null = null
  let wake = Promise.withResolvers<void>()
  let closing = false
  let loop: Promise<void> = Promise.resolve()
  let unsubscribe: (() => void) | null = null

  async function run(): Promise<void> {
    while (!closing) {
      wake = Promise.withResolvers<void>()
      const [next] = options.unfinishedTurns()
      if (!next) {
        await wake.promise
        continue
      }
      const controller = new AbortController()
      running = { controller, turnId: next.turnId }
      try {
        await options.runTurn(next, controller.signal)
      } catch (error) {
        options.onFault(error)
        // The disk may be full for a while: the turn stays unfinished and is tried again.
        if (!closing) await delay(RETRY_AFTER_FAULT_MS)
      } finally {
        running = null
      }
    }
  }

  return {
    start() {
      unsubscribe = options.onHeadMoved(() => wake.resolve())
      loop = run()
    },
    stop() {
      const reason: TurnAbort = 'stopped'
      running?.controller.abort(reason)
      return running !== null
    },
    async close(graceMs) {
      closing = true
      unsubscribe?.()
      wake.resolve()
      const reason: TurnAbort = 'shutdown'
      const deadline = setTimeout(() => running?.controller.abort(reason), graceMs)
      await loop
      clearTimeout(deadline)
    },
    isBusy: () => running !== null,
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
