import type { Append, NewEvent } from '../../ledger/event.ts'

/** What strangers were refused for. */
export type IntrusionKind =
  | 'no_session'
  | 'sign_in_refused'
  | 'sign_in_throttled'
  | 'setup_code_refused'
  | 'foreign_origin'
  | 'bad_signature'
  | 'socket_refused'
  | 'unknown_callback'
  | 'text_over_budget'
  | 'call_over_budget'

/**
 * Counts refused strangers. They cost nothing permanent: at most one fact a minute a kind, however many knock.
 */
export type IntrusionCounter = {
  count(kind: IntrusionKind): void
  /** Appends what was counted since the last time. Keeps it for the next time when the ledger refuses. */
  flush(): Promise<void>
  /** Stops the timer, after a last flush. */
  close(): Promise<void>
}

const FLUSH_EVERY_MS = 60_000

export function createIntrusionCounter(options: {
  readonly append: Append
  readonly nowMs: () => number
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
}): IntrusionCounter {
  const { append, nowMs, onWarning } = options
  let counted = new Map<IntrusionKind, { count: number; fromMs: number; toMs: number }>()
  const timer = setInterval(() => void flush(), FLUSH_EVERY_MS)
  timer.unref()

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
    try {
      await append(facts)
    } catch (error) {
      for (const [kind, entry] of taken) add(kind, entry)
      onWarning('Refused strangers could not be recorded.', { err: error })
    }
  }

  function add(kind: IntrusionKind, entry: { count: number; fromMs: number; toMs: number }): void {
    const present = counted.get(kind)
    if (!present) {
      counted.set(kind, { ...entry })
      return
    }
    present.count += entry.count
    present.fromMs = Math.min(present.fromMs, entry.fromMs)
    present.toMs = Math.max(present.toMs, entry.toMs)
  }

  return {
    count(kind) {
      const now = nowMs()
      add(kind, { count: 1, fromMs: now, toMs: now })
    },
    flush,
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
