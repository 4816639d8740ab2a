import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import { OUTCOME_KEY } from '../../projections/memory-fold.ts'
import {
  isHidden,
  type MemoryOutcome,
  type MemoryQueries,
  type MemoryRow,
} from '../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../projections/utterances.ts'
import { dayIn } from '../clock/day.ts'
import { createProgressGuard } from '../progress.ts'
import { signalFact } from '../signals/signals.ts'
import type { Extraction } from './extraction.ts'

export type MemoryReactor = {
  start(): void
  /** Resolves when what was said is learned, or cannot be for now; at the latest after `timeoutMs`. */
  settled(timeoutMs: number): Promise<void>
  isRunning(): boolean
  /** Whether the last pass failed: what waits is tried again later, and may fail again. */
  isStalled(): boolean
  /** Stops at once; what was under way is taken up again with the next start. */
  close(): Promise<void>
}

export type MemoryReactorOptions = {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
  readonly extraction: Extraction
  readonly onHeadMoved: SubscribeHead
  /** What counts as a pause, where it is not the default. */
  readonly pause?: ConversationPause
  /** Of the owner, whose days the dates are that are told. */
  readonly timezone: () => string
  readonly newId: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}

/** When a conversation leaves time to read what was said in it. In ms that pass, whatever the clock says. */
export type ConversationPause = {
  /** So long after the last word or the end of its turn nothing more has come. */
  readonly quietMs: number
  /** So long after the first one it is looked at even where no pause has come since. */
  readonly longestMs: number
}

/** Longer than a program that answers at once takes for its next message; too short for anybody to notice. */
const PAUSE: ConversationPause = { quietMs: 50, longestMs: 250 }

const FIRST_RETRY_MS = 5000
/** Clocks jump, and setTimeout overflows: look again at least this often. */
const LOOK_AGAIN_MS = 10 * 60_000
/** So many unread utterances are read although a turn is running: somebody talks without a pause. */
const MAX_UNREAD_WHILE_BUSY = 16
const EXPIRED_AT_ONCE = 50
/** What may give it something to do: what was said, once it is answered … */
const TALK = ['chat', 'call', 'sms', 'turn'] as const
/** … and what became of memories. */
const REST = ['memory', 'conversation', 'erased'] as const

/**
 * Learns from the conversation behind its back: never before a reply, in the order in which things were said, once.
 * The model has what was just said before it anyway, so this waits for a pause: it takes nothing from the next turn, and
 * reads several in one go. Its work is what the views still show as unread, over, untold or unerased; so a crash only
 * delays it, and a backlog is worked off like anything else.
 */
export function createMemoryReactor(options: MemoryReactorOptions): MemoryReactor {
  const { append, queries, utterances, extraction, pause = PAUSE, nowMs, onFault } = options
  const closing = new AbortController()
  let wake = Promise.withResolvers<void>()
  let idle = Promise.withResolvers<void>()
  let running = false
  /** Passes in a row that failed. */
  let faults = 0
  /** Somebody waits for it: what is answered is read although a turn is running. */
  let urgent = 0
  /** When the conversation was first and last heard of since this looked for work. */
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
      let waitMs = LOOK_AGAIN_MS
      try {
        // Once begun it goes on until it may not, or what is said without a pause would outrun it.
        while (!closing.signal.aborted && mayWork() && (await workOnce()));
        waitMs = Math.min(LOOK_AGAIN_MS, untilNext())
      } catch (error) {
        if (closing.signal.aborted) return
        // The disk may be full for a while; what waits stays in the ledger.
        const isOfLedger = error instanceof LedgerUnavailable
        faults = isOfLedger ? 0 : faults + 1
        if (!isOfLedger) onFault(error)
        waitMs = Math.min(LOOK_AGAIN_MS, FIRST_RETRY_MS * 2 ** Math.max(0, faults - 1))
      } finally {
        running = false
      }
      idle.resolve()
      idle = Promise.withResolvers<void>()
      await sleep(waitMs)
    }
  }

  function heardTalk(): void {
    const toMs = performance.now()
    talk = { fromMs: talk?.fromMs ?? toMs, toMs }
    wake.resolve()
  }

  /** Ms until it may be looked at; zero or less: now. */
  function untilPause(): number {
    if (talk === null) return 0
    return Math.min(talk.toMs + pause.quietMs, talk.fromMs + pause.longestMs) - performance.now()
  }

  /** True when something was read: there may be more. */
  async function workOnce(): Promise<boolean> {
    await retireExpired()
    await tellOutcomes()
    const hasRead = await extraction.readNext(closing.signal)
    faults = 0
    return hasRead
  }

  /** A turn under way goes first: a local model may serve one request at a time. */
  function mayWork(): boolean {
    return urgent > 0 || !utterances.hasUnanswered() || utterances.isBehindBy(MAX_UNREAD_WHILE_BUSY)
  }

  function untilNext(): number {
    const nextEnd = queries.nextEnd()
    const moments = [extraction.nextRetryAtMs(), nextEnd === null ? null : Date.parse(nextEnd)]
    return Math.min(
      ...moments.map((moment) => (moment === null ? LOOK_AGAIN_MS : Math.max(0, moment - nowMs()))),
    )
  }

  async function sleep(ms: number): Promise<void> {
    const timer = setTimeout(() => wake.resolve(), ms)
    timer.unref()
    await wake.promise
    clearTimeout(timer)
  }

  /** What was to hold until a day is over with it. */
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

  /** Tells the delegate, once, what became of memories; that one is new is no news. */
  async function tellOutcomes(): Promise<void> {
    for (const outcome of queries.outcomes()) {
      const [memory, other] = [queries.byId(outcome.memoryId), queries.byId(outcome.otherId)]
      if (!memory?.text || !other?.text || isHidden(memory) || isHidden(other)) continue
      await append([signalOf(outcome, memory, other, options)])
    }
  }

  return {
    start() {
      unsubscribe = [options.onHeadMoved(heardTalk, TALK), options.onHeadMoved(() => wake.resolve(), REST)]
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
        // What is under way may have looked before the last words came, and been told to wait for the turn's end.
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
  const told = (row: MemoryRow) => `“${row.text}” (${dayIn(timezone(), new Date(row.validFrom))})`
  const text = {
    consolidated: `${told(memory)} takes the place of the less exact ${told(other)}.`,
    overridden: `${told(memory)} takes the place of ${told(other)}, which no longer holds.`,
    conflicted: `${told(memory)} contradicts ${told(other)}; both are kept until the owner says which is right.`,
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
