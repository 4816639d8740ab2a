import type { LimitFunction } from 'p-limit'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Append, NewEvent } from '../../../ledger/event.ts'
import type { ExtractionFailure, UtteranceQueries } from '../../../projections/utterances.ts'
import { leftOfWait } from '../../lib/waits.ts'
import { AllowanceSpent, ModelError, type StructuredModel } from '../../model/port.ts'
import { ThreadFailed } from '../../storage/function-thread.ts'
import type { MemoryCounters } from '../counters.ts'
import { type Found, readWindow } from './extract-model.ts'
import { BY_SERVICE } from './facts.ts'
import type { LearningThread, ToRead } from './learning-functions.ts'
import type { Window } from './window.ts'

export type ExtractionOptions = {
  readonly append: Append
  readonly utterances: UtteranceQueries
  /** Reads, judges and consolidates off the event loop. */
  readonly thread: LearningThread
  /** Resolves when the indexes have every event that is durable now. */
  readonly caughtUp: () => Promise<void>
  /** The model to ask; null to use rules. */
  readonly utility: () => StructuredModel | null
  /** Whether money is left to ask it. */
  readonly mayLearn: () => boolean
  readonly isHalted: () => boolean
  readonly counters: MemoryCounters
  /** Shared with forgetting, so that the two never interleave. */
  readonly lock: LimitFunction
  readonly timezone: () => string
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: { warn(fields: object, message: string): void }
}

const WINDOW_UTTERANCES = 8
const FIRST_RETRY_MS = 30_000
const MAX_RETRY_MS = 60 * 60_000
/** Maximum attempts before falling back to rules. Wrong answers rarely improve on retry. */
const MAX_ATTEMPTS = 6
const MAX_ATTEMPTS_WRONG = 3
const WRONG: ReadonlySet<string> = new Set(['malformed', 'refused', 'context_too_long'])

export type Extraction = ReturnType<typeof createExtraction>

/** Learns from what was said, one window at a time, in order. */
export function createExtraction(options: ExtractionOptions) {
  const { append, utterances, thread, nowMs } = options

  /** The failure recorded for the window that starts at `fromSeq`. */
  function failureOf(fromSeq: number | undefined) {
    const failure = fromSeq === undefined ? undefined : utterances.failureOver(fromSeq)
    return failure?.fromSeq === fromSeq ? failure : undefined
  }

  /** Without money for the model, the backlog waits. Rules cost nothing. */
  const mayRead = () => options.utility() === null || options.mayLearn()

  function nextRetryAtMs(): number | null {
    if (!mayRead()) return null
    const failure = failureOf(utterances.unreadSeqs(1)[0])
    return failure?.retryAt ? Date.parse(failure.retryAt) : null
  }

  const find = (toRead: ToRead, model: StructuredModel | null, signal: AbortSignal): Promise<Found> =>
    readWindow(toRead, { thread, model, timezone: options.timezone(), signal })

  /** Appends everything learned from a window atomically. */
  async function conclude(window: Window, found: Found, before: readonly NewEvent[]): Promise<void> {
    const { checked, method } = found
    await options.caughtUp()
    await options.lock(async () => {
      const named = checked.map((each) => ({ ...each, newId: options.newId() }))
      const concluded = await thread.ask('conclude', { window, checked: named })
      options.counters.note(concluded.facts)
      options.counters.discarded(concluded.unrecorded)
      const facts: NewEvent[] = [...before, ...concluded.facts]
      const last = window.shown.findLast(({ seq }) => window.readSeqs.includes(seq))
      facts.push({
        type: 'memory.extraction.completed',
        ...BY_SERVICE,
        conversationId: last?.conversationId,
        spanId: last?.spanId,
        turnId: last?.turnId,
        key: window.key,
        facts: {
          ...rangeOf(window.readSeqs),
          method,
          candidates: checked.length,
          accepted: concluded.accepted,
          usage: found.usage ? { ...found.usage } : null,
        },
      })
      await append(facts)
    })
  }

  /** After a thread crash, skips a single message; a larger window is retried one message at a time. */
  async function recordThreadFailure(readSeqs: readonly number[], error: ThreadFailed): Promise<void> {
    const kind = `thread_${error.reason}`
    const attempt = (failureOf(readSeqs[0])?.attempt ?? 0) + 1
    const final = readSeqs.length === 1
    options.log.warn({ err: error, kind, final, utteranceSeqs: readSeqs }, 'extraction crashed its thread')
    await append([failedFact(readSeqs, { kind, attempt, final, retryAt: null })])
  }

  async function recordFailure(window: Window, error: unknown): Promise<void> {
    const kind = error instanceof ModelError ? error.kind : 'internal'
    const attempt = (failureOf(window.readSeqs[0])?.attempt ?? 0) + 1
    const final = attempt >= (WRONG.has(kind) ? MAX_ATTEMPTS_WRONG : MAX_ATTEMPTS)
    const askedMs = error instanceof ModelError ? (error.retryAfterMs ?? 0) : 0
    const waitMs = Math.min(MAX_RETRY_MS, Math.max(FIRST_RETRY_MS * 4 ** (attempt - 1), askedMs))
    const retryAt = final ? null : new Date(nowMs() + waitMs).toISOString()
    options.log.warn({ err: error, kind, attempt, final }, 'extraction failed')
    const failed = failedFact(window.readSeqs, { kind, attempt, final, retryAt })
    if (!final) return void (await append([failed]))
    // Fall back to rules, which still find plain statements.
    try {
      const found = await find({ window, offered: [] }, null, new AbortController().signal)
      await conclude(window, found, [failed])
    } catch (cause) {
      if (cause instanceof LedgerUnavailable) throw cause
      options.log.warn({ err: cause }, 'extraction by rules failed too')
      await append([failed])
    }
  }

  return {
    /** When the next failed window is due for a retry; null if none waits. */
    nextRetryAtMs,
    /**
     * Identifies the window to read now; null if none is due. `attempt` and `isAgain` tell the reactor a retry or another
     * reading from the same step.
     */
    due(): { readonly firstSeq: number; readonly attempt: number; readonly isAgain: boolean } | null {
      const [first] = utterances.readable(1)
      if (!first || !mayRead()) return null
      const firstSeq = first.seq
      const { attempt = 0, retryAt } = failureOf(firstSeq) ?? {}
      const waitsMs = retryAt ? leftOfWait(retryAt, { nowMs: nowMs(), longestMs: MAX_RETRY_MS }) : 0
      return waitsMs > 0 ? null : { firstSeq, attempt, isAgain: first.unread > 1 }
    },
    /**
     * Reads the window that is due, up to `throughSeq`. Rejects if the ledger is unavailable, the window cannot be loaded, the thread cannot
     * start, or `signal` aborts. Without money it records nothing, and the window stays due. Any other failure is recorded
     * as an event: the window is retried later, and given up after the last attempt.
     */
    async readNext(signal: AbortSignal, throughSeq: number): Promise<void> {
      const [firstSeq = 0] = utterances.unreadSeqs(1)
      const offers = options.utility() !== null
      if (offers) await options.caughtUp()
      // After a failure, read one message at a time: the window may be too large, or one message at fault.
      const most = utterances.failureOver(firstSeq) ? 1 : WINDOW_UTTERANCES
      const seqs = utterances.readable(most).map(({ seq }) => seq)
      let readSeqs = seqs.filter((seq) => seq <= throughSeq)
      let toRead: ToRead | null = null
      try {
        toRead = await thread.ask('nextToRead', { limit: readSeqs.length, offers })
        if (!toRead || options.isHalted()) return
        readSeqs = [...toRead.window.readSeqs]
        await conclude(toRead.window, await find(toRead, options.utility(), signal), [])
      } catch (error) {
        if (signal.aborted || error instanceof LedgerUnavailable) throw error
        // Not a failure: it is due again once there is money.
        if (error instanceof AllowanceSpent) return
        if (error instanceof ThreadFailed && error.reason !== 'not_started')
          await recordThreadFailure(readSeqs, error)
        else if (toRead && !(error instanceof ThreadFailed)) await recordFailure(toRead.window, error)
        else throw error
      }
    },
  }
}

function failedFact(
  readSeqs: readonly number[],
  failure: Omit<ExtractionFailure, 'fromSeq' | 'toSeq' | 'at' | 'final'> & { readonly final: boolean },
): NewEvent {
  return {
    type: 'memory.extraction.failed',
    ...BY_SERVICE,
    facts: { ...rangeOf(readSeqs), ...failure },
  }
}

function rangeOf(readSeqs: readonly number[]) {
  return { fromSeq: Math.min(...readSeqs), toSeq: Math.max(...readSeqs), utteranceSeqs: [...readSeqs] }
}
