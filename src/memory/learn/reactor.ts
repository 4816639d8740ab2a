import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Append, NewEvent } from '../../../ledger/event.ts'
import type { SubscribeHead } from '../../../ledger/follow.ts'
import { OUTCOME_KEY } from '../../../projections/memory-fold.ts'
import {
  isHidden,
  type MemoryOutcome,
  type MemoryQueries,
  type MemoryRow,
} from '../../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../../projections/utterances.ts'
import { dayIn } from '../../lib/day.ts'
import { createProgressGuard } from '../../lib/progress.ts'
import { signalFact } from '../../lib/signals.ts'
import type { Extraction } from './extraction.ts'

export type MemoryReactor = {
  start(): void
  /** Resolves when everything said is learned or waits for a retry, after `timeoutMs` at most. */
  settled(timeoutMs: number): Promise<void>
  isRunning(): boolean
  /** Whether the last pass failed. A retry is scheduled. */
  isStalled(): boolean
  /** Stops at once. The next start resumes interrupted work. */
  close(): Promise<void>
}

export type MemoryReactorOptions = {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
  readonly extraction: Extraction
  readonly onHeadMoved: SubscribeHead
  /** Overrides the default pause. */
  readonly pause?: ConversationPause
  /** The owner's time zone, for dates in signals. */
  readonly timezone: () => string
  readonly newId: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}

/** When to read what was said in a conversation. Measured on the monotonic clock. */
export type ConversationPause = {
  /** Quiet time after the last message or the end of its turn. */
  readonly quietMs: number
  /** Longest delay after the first message, if there is no pause. */
  readonly longestMs: number
}

/** Longer than an automated client needs to send its next message; too short to notice. */
const PAUSE: ConversationPause = { quietMs: 50, longestMs: 250 }

const FIRST_RETRY_MS = 5000
/** Longest sleep: wall clocks jump, and setTimeout overflows. */
const MAX_SLEEP_MS = 10 * 60_000
/** Backlog at which learning runs even during a turn, because the conversation has no pause. */
const MAX_UNREAD_WHILE_BUSY = 16
const EXPIRED_AT_ONCE = 50
/** Events of the conversation. Learning waits for a pause after them. */
const TALK = ['chat', 'call', 'sms', 'turn'] as const
/** Events that change memories. They wake the loop at once. */
const REST = ['memory', 'conversation', 'erased'] as const

/**
 * Learns from the conversation in the background, in order, and from each utterance once. It waits for a
 * pause, so that it does not delay the next turn and reads several utterances in one request. Its backlog
 * comes from the views, so a crash only delays it.
 */
export function createMemoryReactor(options: MemoryReactorOptions): MemoryReactor {
  const { append, queries, utterances, extraction, pause = PAUSE, nowMs, onFault } = options
  const closing = new AbortController()
  let wake = Promise.withResolvers<void>()
  let idle = Promise.withResolvers<void>()
  let running = false
  /** Consecutive failed passes. */
  let faults = 0
  /** Callers waiting in `settled`. For them, learning runs even during a turn. */
  let urgent = 0
  /** First and last conversation event since the last look for work. */
  let talk: { readonly fromMs: number; readonly toMs: number } | null = null
  let loop: Promise<void> = Promise.resolve()
  let unsubscribe: readonly (() => void)[] = []

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      wake = Promise.withResolvers<void>()
      const pauseMs = urgent > 0 ? 0 : untilPause()
      if (pauseMs > 0) {
        await sleep(pauseMs)
        continue
      }
      talk = null
      running = true
      let waitMs = MAX_SLEEP_MS
      try {
        // Drain the backlog in one go, or a conversation without pauses would outrun it.
        while (!closing.signal.aborted && mayWork() && (await workOnce()));
        waitMs = Math.min(MAX_SLEEP_MS, untilNext())
      } catch (error) {
        if (closing.signal.aborted) return
        // The disk may be full. The backlog stays in the ledger.
        const isOfLedger = error instanceof LedgerUnavailable
        faults = isOfLedger ? 0 : faults + 1
        if (!isOfLedger) onFault(error)
        waitMs = Math.min(MAX_SLEEP_MS, FIRST_RETRY_MS * 2 ** Math.max(0, faults - 1))
      } finally {
        running = false
      }
      idle.resolve()
      idle = Promise.withResolvers<void>()
      await sleep(waitMs)
    }
  }

  function noteTalk(): void {
    const toMs = performance.now()
    talk = { fromMs: talk?.fromMs ?? toMs, toMs }
    wake.resolve()
  }

  /** Milliseconds until the pause; zero or negative if it is over. */
  function untilPause(): number {
    if (talk === null) return 0
    return Math.min(talk.toMs + pause.quietMs, talk.fromMs + pause.longestMs) - performance.now()
  }

  /** Returns whether something was read. There may be more then. */
  async function workOnce(): Promise<boolean> {
    await retireExpired()
    await signalOutcomes()
    const hasRead = await extraction.readNext(closing.signal)
    faults = 0
    return hasRead
  }

  /** A running turn goes first: a local model may serve one request at a time. */
  function mayWork(): boolean {
    return urgent > 0 || !utterances.hasUnanswered() || utterances.isBehindBy(MAX_UNREAD_WHILE_BUSY)
  }

  function untilNext(): number {
    const nextEnd = queries.nextEnd()
    const moments = [extraction.nextRetryAtMs(), nextEnd === null ? null : Date.parse(nextEnd)]
    return Math.min(
      ...moments.map((moment) => (moment === null ? MAX_SLEEP_MS : Math.max(0, moment - nowMs()))),
    )
  }

  async function sleep(ms: number): Promise<void> {
    const timer = setTimeout(() => wake.resolve(), ms)
    timer.unref()
    await wake.promise
    clearTimeout(timer)
  }

  /** Retires memories whose `validUntil` has passed. */
  async function retireExpired(): Promise<void> {
    const requireProgress = createProgressGuard()
    for (;;) {
      const rows = queries.endedBy(new Date(nowMs()).toISOString(), EXPIRED_AT_ONCE)
      if (rows.length === 0) return
      requireProgress(rows.map(({ memoryId }) => memoryId))
      await append(
        rows.map(
          ({ memoryId, storedSeq }): NewEvent => ({
            type: 'memory.retired',
            actor: 'service',
            channel: 'inner',
            causedBy: storedSeq,
            facts: { memoryId, reason: 'expired' },
          }),
        ),
      )
    }
  }

  /** Signals each override, merge and conflict once. New memories are not signalled. */
  async function signalOutcomes(): Promise<void> {
    for (const outcome of queries.outcomes()) {
      const [memory, other] = [queries.byId(outcome.memoryId), queries.byId(outcome.otherId)]
      if (!memory?.text || !other?.text || isHidden(memory) || isHidden(other)) continue
      await append([signalOf(outcome, memory, other, options)])
    }
  }

  return {
    start() {
      unsubscribe = [options.onHeadMoved(noteTalk, TALK), options.onHeadMoved(() => wake.resolve(), REST)]
      loop = run()
    },
    isRunning: () => running,
    isStalled: () => faults > 0,
    async settled(timeoutMs) {
      const deadline = Promise.withResolvers<void>()
      const timer = setTimeout(() => deadline.resolve(), timeoutMs)
      urgent += 1
      try {
        wake.resolve()
        // A pass in progress may have started before the last words arrived, so wait for the next one too.
        const looks = running ? 2 : 1
        for (let look = 0; look < looks; look += 1) await Promise.race([idle.promise, deadline.promise])
      } finally {
        urgent -= 1
        clearTimeout(timer)
      }
    },
    async close() {
      closing.abort(new Error('the service is closing'))
      for (const end of unsubscribe) end()
      wake.resolve()
      await loop
      idle.resolve()
    },
  }
}

const PRIORITY = { conflicted: 3, overridden: 2, consolidated: 1 } as const

function signalOf(
  { seq, kind }: MemoryOutcome,
  memory: MemoryRow,
  other: MemoryRow,
  { newId, timezone }: Pick<MemoryReactorOptions, 'newId' | 'timezone'>,
): NewEvent {
  const quoted = (row: MemoryRow) => `“${row.text}” (${dayIn(timezone(), new Date(row.validFrom))})`
  const text = {
    consolidated: `${quoted(memory)} replaces the less precise ${quoted(other)}.`,
    overridden: `${quoted(memory)} replaces ${quoted(other)}, which no longer applies.`,
    conflicted: `${quoted(memory)} contradicts ${quoted(other)}. Both are kept until the owner says which is right.`,
  }[kind]
  return signalFact(
    {
      kind: `memory_${kind}`,
      mode: 'wake',
      priority: PRIORITY[kind],
      dedupKey: `${OUTCOME_KEY}${seq}`,
      text,
      causedBy: seq,
      derivedFrom: [memory.storedSeq, other.storedSeq],
    },
    newId(),
  )
}
