import type { Append, NewEvent } from '../../../ledger/event.ts'

/** Why a stranger was refused. */
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

/** Counts refused strangers, in at most one fact per kind and minute, so that a flood stays small. */
export type IntrusionCounter = {
  count(kind: IntrusionKind): void
  /** Appends the counts since the last flush. If the ledger refuses, keeps them for the next one. */
  flush(): Promise<void>
  /** Stops the timer and flushes one last time. */
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
      onWarning('Could not record refused strangers.', { err: error })
    }
  }

  function add(kind: IntrusionKind, entry: { count: number; fromMs: number; toMs: number }): void {
    const existing = counted.get(kind)
    if (!existing) {
      counted.set(kind, { ...entry })
      return
    }
    existing.count += entry.count
    existing.fromMs = Math.min(existing.fromMs, entry.fromMs)
    existing.toMs = Math.max(existing.toMs, entry.toMs)
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
