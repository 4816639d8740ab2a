import type { Append, EventOf, NewEvent } from '../../../ledger/event.ts'
import type { RecallCue, Recalled } from '../../lib/recall.ts'
import type { StructuredModel, Use } from '../../model/port.ts'
import type { MemoryConfig } from '../config.ts'
import type { MemoryCounters } from '../counters.ts'
import { BY_SERVICE } from '../learn/facts.ts'
import { irrelevantAmong } from './arbitrator.ts'
import type { Embedding } from './embedding.ts'
import { createLateResults, type Place, type StagedResult } from './late-results.ts'
import { NONE_PINNED, type Pinned, type PinnedLines } from './pinned.ts'
import type { Hit } from './ranker.ts'
import type { RecallAnswer, RecallPort, RecallQuestion } from './recall-port.ts'

export type PassiveRecallOptions = {
  readonly engine: RecallPort
  readonly config: () => MemoryConfig
  readonly pinned: Pick<Pinned, 'lines'>
  /** Search by embeddings. */
  readonly meaning: Pick<Embedding, 'near' | 'answersWithin'>
  /** The model's relevance filter; null if there is none. */
  readonly judge: () => StructuredModel | null
  readonly append: Append
  readonly counters: MemoryCounters
  readonly timezone: () => string
  /** Whether a model reads what is said. */
  readonly isRead: () => boolean
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}

type Suppression = EventOf<'memory.recall.suppressed'>['facts']['reason']
type Named = Pick<Hit, 'seq' | 'kind' | 'memoryId'>

const FIRST_CUE: RecallCue = {
  text: 'What did we say about the trip yesterday?',
  turnId: '',
  conversationId: null,
  spanId: null,
  channel: 'inner',
  beforeSeq: Number.MAX_SAFE_INTEGER,
  inContextSeqs: [],
}

/** Recall is paid as a part of its turn. */
const useOf = ({ channel, conversationId, spanId, turnId }: RecallCue): Use => ({
  purpose: 'recall',
  channel,
  conversationId,
  spanId,
  turnId,
})

const NOTHING = { text: null, seqs: [], facts: [] } as const
const NO_ANSWER = { shown: [], left: [] } as const

/**
 * Runs recall before every activation, within a time budget. Late results are staged and reconsidered with
 * the next turn. Every outcome is recorded as a fact of its turn. The engine does all the work in its thread;
 * this code only waits. Never rejects.
 */
export function createPassiveRecall(options: PassiveRecallOptions) {
  const { append, config, engine, nowMs, onFault } = options
  const lateResults = createLateResults()
  const runtime = { queries: 0, inTime: 0, late: 0, failed: 0, lastDurationMs: null as number | null }

  function failed(error: unknown): undefined {
    runtime.failed += 1
    onFault(error)
  }

  /** Stages results for the next turn, and records those that have already expired. */
  async function stage(results: readonly StagedResult[]): Promise<void> {
    const late = results.filter(({ hits }) => hits.length > 0)
    const facts = late.filter((result) => !lateResults.stage(result)).flatMap(expired)
    if (facts.length > 0) await append(facts)
  }

  const expired = ({ hits, place }: StagedResult) => suppressed(hits, 'expired', true, place)

  function questionOf(cue: RecallCue, staged: readonly Hit[]): RecallQuestion {
    const { text, conversationId, beforeSeq, channel } = cue
    return {
      text,
      conversationId,
      beforeSeq,
      inContextSeqs: [...cue.inContextSeqs],
      asker: channel === 'inner' ? null : 'owner',
      contextTurns: channel === 'inner' ? 0 : config().contextTurns,
      staged,
      nowMs: nowMs(),
      timezone: options.timezone(),
      isRead: options.isRead(),
      config: config(),
      withWords: judgeOf(cue) !== null,
    }
  }

  /** The owner's relevance filter. Calls skip it: it takes too long. */
  function judgeOf({ channel }: RecallCue): StructuredModel | null {
    return config().arbitrator.enabled && channel !== 'voice' ? options.judge() : null
  }

  async function ask(question: RecallQuestion): Promise<RecallAnswer> {
    await engine.indexed?.(question.beforeSeq, question.inContextSeqs)
    return engine.recall(question)
  }

  /** The hits that arrive in time, chosen together with those staged for this turn. Without any, stages those again. */
  async function found(
    cue: RecallCue,
    turn: number,
    question: RecallQuestion,
    waited: readonly StagedResult[],
  ): Promise<RecallAnswer | null> {
    const near = options.meaning.near(cue.text, useOf(cue))
    const asked = ask(question)
    const answer = await within(asked, config().retrieveTimeoutMs).catch(failed)
    if (answer) {
      runtime.inTime += 1
      return withMeaning(cue, turn, question, answer, near)
    }
    if (answer === null) {
      runtime.late += 1
      void asked.then(({ hits }) => stage([{ place: cue, turn, hits }])).catch(failed)
    }
    await stage(waited)
    return null
  }

  /**
   * Adds neighbours by embedding, if they arrive in the remaining time. Waits only if the service was fast
   * enough last time. Late neighbours that the lexical search missed are staged for the next turn.
   */
  async function withMeaning(
    cue: RecallCue,
    turn: number,
    question: RecallQuestion,
    answer: RecallAnswer,
    near: ReturnType<Embedding['near']>,
  ): Promise<RecallAnswer> {
    const leftMs = Math.max(0, question.nowMs + config().retrieveTimeoutMs - nowMs())
    const fused = near.then((found) => (found?.length ? engine.recall({ ...question, near: found }) : null))
    const patience = options.meaning.answersWithin(config().retrieveTimeoutMs) ? leftMs : 0
    const first = await within(fused, patience).catch(failed)
    if (first) return first
    if (first === null) {
      const known = new Set(answer.hits.map(({ seq }) => seq))
      void fused
        .then((later) => {
          const hits = (later?.hits ?? [])
            .filter(
              ({ seq, relevance }) => !known.has(seq) && relevance >= question.config.relevanceThreshold,
            )
            .map((hit) => ({ ...hit, foundFor: cue.text }))
          return stage([{ place: cue, turn, hits }])
        })
        .catch(failed)
    }
    return answer
  }

  /** The answer after the relevance filter, if the owner enabled it. */
  async function judged(
    cue: RecallCue,
    question: RecallQuestion,
    answer: RecallAnswer,
    facts: NewEvent[],
  ): Promise<RecallAnswer> {
    const model = judgeOf(cue)
    if (!model || answer.judged.length === 0) return answer
    const { timeoutMs } = config().arbitrator
    const use = useOf(cue)
    const given = { model, use, cue: cue.text, timezone: options.timezone(), timeoutMs, onFault }
    const dropped = await irrelevantAmong(answer.judged, given)
    if (dropped.length === 0) return answer
    facts.push(...suppressed(dropped, 'irrelevant', false, cue))
    const out = new Set(dropped.map(({ seq }) => seq))
    const hits = answer.hits.filter(({ seq }) => !out.has(seq))
    return engine.choose({ ...question, hits, withWords: false })
  }

  async function recallFor(cue: RecallCue) {
    const startedMs = nowMs()
    runtime.queries += 1
    const waited = lateResults.beginTurn(cue.conversationId)
    const facts = waited.expired.flatMap(expired)
    const staged = waited.ready.flatMap(({ hits }) => hits)
    // Only turns of the owner. They do not depend on recall, which may be late.
    const pinned = cue.channel === 'inner' ? NONE_PINNED : options.pinned.lines(cue.inContextSeqs)
    const question = beside(pinned, questionOf(cue, staged))
    const first = await found(cue, waited.turn, question, waited.ready)
    const answer = first && (await judged(cue, question, first, facts).catch(failed))
    if (first && !answer) await stage(waited.ready)
    const durationMs = Math.max(0, nowMs() - startedMs)
    runtime.lastDurationMs = durationMs
    facts.push(...outcomes(answer ?? NO_ANSWER, pinned, durationMs, cue))
    const text = [pinned.text, answer?.text ?? ''].filter((part) => part !== '').join('\n')
    const seqs = [...pinned.seqs, ...(answer?.shownSeqs ?? [])]
    return { text: text === '' ? null : text, seqs, facts }
  }

  function outcomes(
    answer: Pick<RecallAnswer, 'shown' | 'left'>,
    pinned: PinnedLines,
    durationMs: number,
    cue: RecallCue,
  ): NewEvent[] {
    return [false, true].flatMap((wasLate) => {
      const shown = answer.shown.filter(({ isLate }) => isLate === wasLate)
      const given = wasLate ? NONE_PINNED : pinned
      const facts = {
        ids: [...given.memoryIds, ...memoryIdsOf(shown)],
        turnSeqs: turnSeqsOf(shown),
        late: wasLate,
        injectedTokens: shown.reduce((sum, { tokens }) => sum + tokens, given.tokens),
        durationMs,
      }
      const isAny = facts.ids.length + facts.turnSeqs.length > 0
      const recalled: NewEvent[] = isAny ? [{ type: 'memory.recalled', ...envelopeOf(cue), facts }] : []
      const dropped = (['duplicate', 'budget', 'irrelevant'] as const).flatMap((reason) => {
        const hits = answer.left.filter((each) => each.isLate === wasLate && each.reason === reason)
        return suppressed(hits, reason, wasLate, cue)
      })
      return [...recalled, ...dropped]
    })
  }

  function suppressed(hits: readonly Named[], reason: Suppression, isLate: boolean, cue: Place): NewEvent[] {
    const ids = memoryIdsOf(hits)
    // Turns are recorded only if late: those were due to be shown.
    const turnSeqs = isLate ? turnSeqsOf(hits) : []
    if (ids.length + turnSeqs.length === 0) return []
    options.counters.suppressed(ids.length)
    const facts = { ids, turnSeqs, reason, late: isLate }
    return [{ type: 'memory.recall.suppressed', ...envelopeOf(cue), facts }]
  }

  return {
    /** What a turn with this cue asks, apart from late results. */
    questionOf: (cue: RecallCue) => questionOf(cue, []),
    async recall(cue: RecallCue): Promise<Recalled> {
      try {
        return await recallFor(cue)
      } catch (error) {
        failed(error)
        return NOTHING
      }
    },
    /** Sends a first query, so that the owner's first turn does not wait for locale data and compilation. */
    warm(): void {
      // The next query reports a failing thread.
      engine.recall(questionOf(FIRST_CUE, [])).catch(() => undefined)
    },
    /** Recall statistics since the process started. */
    runtime: () => ({ ...runtime, waiting: lateResults.waiting() }),
    /** Records what will never be delivered as expired. */
    async close(): Promise<void> {
      const facts = lateResults.takeAll().flatMap(expired)
      try {
        if (facts.length > 0) await append(facts)
      } catch (error) {
        // Without PostgreSQL or room on the disk, the service must still end in order.
        options.onFault(error)
      }
    },
  }
}

/** The value of a promise, or null if it takes longer than `ms`. */
function within<T>(answer: Promise<T>, ms: number): Promise<T | null> {
  const timeout = Promise.withResolvers<null>()
  const timer = setTimeout(() => timeout.resolve(null), ms)
  return Promise.race([answer, timeout.promise]).finally(() => clearTimeout(timer))
}

/** What is asked when the pinned memories are given as well. They share the limit of tokens. */
function beside({ tokens, seqs, toldSeqs }: PinnedLines, question: RecallQuestion): RecallQuestion {
  const { config, inContextSeqs } = question
  return {
    ...question,
    inContextSeqs: [...inContextSeqs, ...seqs],
    toldSeqs,
    config: { ...config, maxInjectedTokens: config.maxInjectedTokens - tokens },
  }
}

const memoryIdsOf = (hits: readonly Named[]) => [...new Set(hits.flatMap(({ memoryId }) => memoryId ?? []))]
const turnSeqsOf = (hits: readonly Named[]) => [
  ...new Set(hits.flatMap(({ kind, seq }) => (kind === 'turn' ? [seq] : []))),
]

function envelopeOf({ conversationId, spanId, turnId }: Place) {
  return { ...BY_SERVICE, conversationId, spanId, turnId }
}
