import { setImmediate } from 'node:timers/promises'
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
import { createReactor } from '../../lib/reactor.ts'
import { signalFact } from '../../lib/signals.ts'
import { dayIn } from '../../lib/time.ts'
import { isWithin } from '../../lib/waits.ts'
import { asksNotToKeep, wishesOnlyThat } from '../../text/secrecy.ts'
import type { Extraction } from './extraction.ts'
import { barredFact, retiredFact } from './facts.ts'
import { createRetiring } from './replaced.ts'
import type { WindowReader } from './window.ts'

export type MemoryReactorOptions = {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
  readonly extraction: Extraction
  readonly windows: WindowReader
  readonly onHeadMoved: SubscribeHead
  /** Overrides the default pause. */
  readonly pause?: ConversationPause
  /** While halted, nothing is learned. */
  readonly isHalted: () => boolean
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

const RETRY_MS = { first: 5_000, longest: 10 * 60_000 }
/** Backlog at which learning runs even during a turn, because the conversation has no pause. */
const MAX_UNREAD_WHILE_BUSY = 16
const EXPIRED_AT_ONCE = 50
/** The longest take 2 ms each. */
const WISHES_AT_ONCE = 4
/** The lane of wishes not to keep something. */
const WISHES = 'wishes'
/** Events of the conversation. Learning waits for a pause after them. */
const TALK = ['chat', 'call', 'sms', 'turn'] as const
/** Events that change memories, or whether it may learn. They wake it at once. */
const REST = ['memory', 'conversation', 'erased', 'delegation', 'allowance'] as const

type EndedRow = Pick<MemoryRow, 'memoryId' | 'storedSeq'>
type Work =
  | { readonly kind: 'expiry'; readonly rows: readonly EndedRow[] }
  | {
      readonly kind: 'outcome'
      readonly outcome: MemoryOutcome
      readonly rows: readonly [MemoryRow, MemoryRow]
    }
  | ({ readonly kind: 'window' } & NonNullable<ReturnType<Extraction['due']>>)
  | { readonly kind: 'wishes'; readonly throughSeq: number; readonly secretSeqs: readonly number[] }
type Wishes = Extract<Work, { kind: 'wishes' }>

/**
 * Learns from the conversation in the background, in order, and from each utterance once. It waits for a
 * pause, so that it does not delay the next turn and reads several utterances in one request. Its backlog
 * comes from the views, so a crash only delays it.
 */
export function createMemoryReactor(options: MemoryReactorOptions) {
  const { append, queries, utterances, extraction, windows, pause = PAUSE, nowMs, onFault } = options
  /** No unread utterance up to here asks not to be kept. */
  let checkedSeq = 0
  let hasFailed = false
  /** Whether a backlog is being read. Its next window does not wait for a pause: a conversation may have none. */
  let isDraining = false
  let isRunning = false
  /** Callers waiting in `settled`. For them, learning runs even during a turn. */
  let urgent = 0
  /** First and last conversation event since the last look for work. */
  let talk: { readonly fromMs: number; readonly toMs: number } | null = null
  let unsubscribe: () => void = () => undefined
  const reactor = createReactor<Work>({
    onHeadMoved: options.onHeadMoved,
    areas: [...TALK, ...REST],
    next(isTaken) {
      // Nothing unchecked is read. And learning may wait for a pause, a model or money.
      if (isTaken(WISHES)) return undefined
      const wishes = nextWishes()
      if (wishes) return wishes
      if (isTaken('') || (!isDraining && urgent === 0 && untilPauseMs() > 0)) return undefined
      talk = null
      const work = nextWork()
      isDraining = work !== undefined
      return work
    },
    laneOf: ({ kind }) => (kind === 'wishes' ? WISHES : ''),
    async run(work, signal) {
      if (work.kind === 'wishes') return await obey(work)
      isRunning = true
      try {
        if (work.kind === 'expiry') await retire(work.rows)
        else if (work.kind === 'outcome') await append([signalOf(work.outcome, work.rows, options)])
        else await extraction.readNext(signal, checkedSeq)
        hasFailed = false
      } catch (error) {
        // Readiness reports an unavailable ledger by its own check.
        hasFailed = !(error instanceof LedgerUnavailable)
        throw error
      } finally {
        isRunning = false
      }
    },
    dueInMs,
    retryMs: RETRY_MS,
    onFault,
  })

  function nextWishes(): Wishes | undefined {
    const rows = utterances.readable(WISHES_AT_ONCE, checkedSeq)
    const last = rows.at(-1)
    if (!last) return undefined
    const secretSeqs = rows.flatMap(({ seq }) => {
      const said = windows.utteranceAt(seq)
      if (!said || said.isKept || !asksNotToKeep(said.text)) return []
      const before = wishesOnlyThat(said.text) ? windows.ownersBefore(said.conversationId, seq, 1) : []
      return [...before.filter(({ isKept }) => !isKept).map((meant) => meant.seq), seq]
    })
    return { kind: 'wishes', throughSeq: last.seq, secretSeqs }
  }

  async function obey({ throughSeq, secretSeqs }: Wishes): Promise<void> {
    if (secretSeqs.length > 0)
      await append([barredFact(secretSeqs), ...createRetiring(options)(secretSeqs, 'retracted')])
    // Lets voice frames pass while a backlog is checked.
    else await setImmediate()
    checkedSeq = throughSeq
  }

  function nextWork(): Work | undefined {
    const rows = queries.endedBy(new Date(nowMs()).toISOString(), EXPIRED_AT_ONCE)
    if (rows.length > 0) return { kind: 'expiry', rows }
    const outcome = nextOutcome()
    if (outcome) return outcome
    const window = mayRead() ? extraction.due() : null
    return window ? { kind: 'window', ...window } : undefined
  }

  function dueInMs(): number | null {
    if (talk !== null) return Math.max(1, untilPauseMs())
    const nextEnd = queries.nextEnd()
    const moments = [
      mayRead() ? extraction.nextRetryAtMs() : null,
      nextEnd === null ? null : Date.parse(nextEnd),
    ]
    const waits = moments.flatMap((moment) => (moment === null ? [] : [moment - nowMs()]))
    return waits.length === 0 ? null : Math.min(...waits)
  }

  function noteTalk(): void {
    const toMs = performance.now()
    talk = { fromMs: talk?.fromMs ?? toMs, toMs }
  }

  /** Milliseconds until the pause; zero or negative if it is over. */
  function untilPauseMs(): number {
    if (talk === null) return 0
    return Math.min(talk.toMs + pause.quietMs, talk.fromMs + pause.longestMs) - performance.now()
  }

  /** A running turn goes first: a local model may serve one request at a time. */
  function mayRead(): boolean {
    if (options.isHalted()) return false
    return urgent > 0 || !utterances.hasUnanswered() || utterances.isBehindBy(MAX_UNREAD_WHILE_BUSY)
  }

  /** Retires memories whose `validUntil` has passed. */
  async function retire(rows: readonly EndedRow[]): Promise<void> {
    await append(
      rows.map(({ memoryId, storedSeq }) => retiredFact(memoryId, 'expired', { causedBy: storedSeq })),
    )
  }

  /** The next override, merge or conflict to signal, each once. New memories are not signalled. */
  function nextOutcome(): Work | undefined {
    for (const outcome of queries.outcomes()) {
      const [memory, other] = [queries.byId(outcome.memoryId), queries.byId(outcome.otherId)]
      if (!memory?.text || !other?.text || isHidden(memory) || isHidden(other)) continue
      return { kind: 'outcome', outcome, rows: [memory, other] }
    }
    return undefined
  }

  return {
    start(): void {
      // Before the reactor, so that it sees the pause begin.
      unsubscribe = options.onHeadMoved(noteTalk, TALK)
      reactor.start()
    },
    isRunning: () => isRunning,
    /** Whether the last run failed, other than by an unavailable ledger. A retry is scheduled. */
    isStalled: () => hasFailed,
    /** Resolves when everything said is learned or waits for a retry, after `timeoutMs` at most. */
    async settled(timeoutMs: number): Promise<void> {
      urgent += 1
      await isWithin(timeoutMs, reactor.settled())
      urgent -= 1
    },
    /** Stops at once. The next start resumes interrupted work. */
    async close(): Promise<void> {
      unsubscribe()
      await reactor.close(0)
    },
  }
}

const PRIORITY = { conflicted: 3, overridden: 2, consolidated: 1 } as const

function signalOf(
  { seq, kind }: MemoryOutcome,
  [memory, other]: readonly [MemoryRow, MemoryRow],
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
