import type { Append, NewEvent } from '../../../ledger/event.ts'
import type { Log } from '../../lib/log.ts'

/** Why a stranger was refused. */
export type IntrusionKind =
  | 'no_session'
  | 'sign_in_refused'
  | 'sign_in_throttled'
  | 'setup_code_refused'
  | 'foreign_origin'
  | 'foreign_host'
  | 'bad_signature'
  | 'socket_refused'
  | 'unknown_callback'
  | 'text_over_budget'
  | 'call_over_budget'

type Counted = { readonly count: number; readonly fromMs: number; readonly toMs: number }

const FLUSH_EVERY_MS = 60_000

export type IntrusionCounter = ReturnType<typeof createIntrusionCounter>

/** Counts refused strangers, in at most one fact per kind and minute, so that a flood stays small. */
export function createIntrusionCounter(options: {
  readonly append: Append
  readonly nowMs: () => number
  readonly log: Pick<Log, 'warn'>
}) {
  const { append, nowMs, log } = options
  let counted = new Map<IntrusionKind, Counted>()
  const timer = setInterval(() => void flush(), FLUSH_EVERY_MS)
  timer.unref()

  function add(kind: IntrusionKind, more: Counted): void {
    const { count, fromMs, toMs } = counted.get(kind) ?? { ...more, count: 0 }
    counted.set(kind, {
      count: count + more.count,
      fromMs: Math.min(fromMs, more.fromMs),
      toMs: Math.max(toMs, more.toMs),
    })
  }

  /** Appends the counts since the last flush. If the ledger refuses, they stay for the next flush. */
  async function flush(): Promise<void> {
    if (counted.size === 0) return
    const taken = counted
    counted = new Map()
    const facts: NewEvent[] = [...taken].map(([kind, { count, fromMs, toMs }]) => ({
      type: 'intrusion.counted',
      actor: 'service',
      channel: 'system',
      facts: { kind, count, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
    }))
    await append(facts).catch((error: unknown) => {
      for (const [kind, refused] of taken) add(kind, refused)
      log.warn({ err: error }, 'Could not record refused strangers.')
    })
  }

  return {
    count(kind: IntrusionKind): void {
      const atMs = nowMs()
      add(kind, { count: 1, fromMs: atMs, toMs: atMs })
    },
    flush,
    /** Stops the timer and flushes one last time. */
    async close(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}
