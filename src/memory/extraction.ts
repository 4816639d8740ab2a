import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append, NewEvent } from '../../ledger/event.ts'
import type { MemoryQueries, MemoryRow } from '../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../projections/utterances.ts'
import { ModelError, type StructuredModel, type Usage } from '../model/port.ts'
import type { Accepted, Assessment } from './assess.ts'
import type { Assessor } from './assessor.ts'
import type { Candidate } from './candidate.ts'
import type { MemoryCounters } from './counters.ts'
import { extractWithModel } from './extract-model.ts'
import type { Offered } from './gates.ts'
import { contentWords, hasWord, indexWords } from './language/words.ts'
import { createLearning } from './learning.ts'
import type { Lock } from './lock.ts'
import { citationsIn, retractionsIn } from './remarks.ts'
import type { Window, WindowReader } from './window.ts'

export type ExtractionOptions = {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
  readonly windows: WindowReader
  readonly assessor: Assessor
  /** Memories that share words, the closest first; from the query thread. */
  readonly near: (words: readonly string[], limit: number) => Promise<readonly MemoryRow[]>
  /** The model to ask; null where rules have to do. */
  readonly utility: () => StructuredModel | null
  /** The memories that a turn was given, and what it replied with. */
  readonly recalledIn: (turnId: string) => {
    readonly ids: readonly string[]
    readonly replySeq: number | null
    readonly reply: string
  }
  readonly counters: MemoryCounters
  readonly lock: Lock
  readonly timezone: () => string
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: { warn(fields: object, message: string): void }
}

const WINDOW_UTTERANCES = 8
const MODEL_TIMEOUT_MS = 90_000
const FIRST_RETRY_MS = 30_000
const MAX_RETRY_MS = 60 * 60_000
/** Tries before the model is no longer asked: what it answers wrongly it will go on answering wrongly. */
const MAX_ATTEMPTS = 6
const MAX_ATTEMPTS_WRONG = 3
const WRONG: ReadonlySet<string> = new Set(['malformed', 'refused', 'context_too_long'])
/** Memories that a model is asked about: near ones, then those whose slot could be filled anew, then the latest. */
const OFFERED_NEAR = 16
const OFFERED_SINGLE = 16
const OFFERED_LATEST = 8
const MAX_DISCARDED_FACTS = 10
/** Enough of its words in common to be linked. */
const LINK_COVERAGE = 0.5

type Found = {
  readonly assessments: readonly Assessment[]
  readonly usage: Usage | null
  readonly method: 'model' | 'rules'
}

export type Extraction = {
  /**
   * Reads the next window, if there is one and it is its time: true when it did. Rejects with LedgerUnavailable, and
   * when `signal` aborts; a failing model is recorded, and tried again later.
   */
  readNext(signal: AbortSignal): Promise<boolean>
  /** When the next failed one may be tried again; null when none waits. */
  nextRetryAtMs(): number | null
}

/** Learns from what was said, a window at a time, in order. */
export function createExtraction(options: ExtractionOptions): Extraction {
  const { append, queries, utterances, windows, nowMs } = options

  /** The failure that the next window waits for, if it is the same one. */
  function failureOf(fromSeq: number | undefined) {
    const failure = utterances.lastFailure()
    return failure && failure.final === 0 && failure.fromSeq === fromSeq ? failure : null
  }

  function nextRetryAtMs(): number | null {
    const failure = failureOf(utterances.unreadSeqs(1)[0])
    return failure?.retryAt ? Date.parse(failure.retryAt) : null
  }

  async function nearestTo(words: readonly string[]): Promise<string | null> {
    const [nearest] = words.length === 0 ? [] : await options.near(words, 1)
    if (!nearest?.text) return null
    const index = indexWords(nearest.text)
    return words.filter((word) => hasWord(index, word)).length >= words.length * LINK_COVERAGE
      ? nearest.memoryId
      : null
  }

  async function offeredFor({ quotables }: Window): Promise<(Offered & { since: string })[]> {
    const words = [...new Set(quotables.flatMap(({ text }) => contentWords(text)))].slice(0, 64)
    const rows = [
      ...(await options.near(words, OFFERED_NEAR)),
      ...queries.singleValued(OFFERED_SINGLE),
      ...queries.current(Number.MAX_SAFE_INTEGER, OFFERED_LATEST),
    ]
    const distinct = new Map(rows.map((row) => [row.memoryId, row] as const))
    return [...distinct.values()].flatMap(({ memoryId, text, storedSeq, validFrom }) =>
      text === null ? [] : [{ memoryId, text, storedSeq, since: validFrom }],
    )
  }

  async function find(window: Window, model: StructuredModel | null, signal: AbortSignal): Promise<Found> {
    const { quotables, shown } = window
    const court = { quotables, shown, timezone: options.timezone() }
    if (quotables.length === 0) return { assessments: [], usage: null, method: model ? 'model' : 'rules' }
    if (!model) {
      const assessments = await options.assessor.assess({ ...court, offered: [], candidates: null })
      // What rules misread is no candidate of anybody's.
      return {
        assessments: assessments.filter(({ outcome }) => outcome === 'accepted'),
        usage: null,
        method: 'rules',
      }
    }
    const offered = await offeredFor(window)
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(MODEL_TIMEOUT_MS)])
    const { candidates, usage } = await ask(model, window, offered, deadline, signal)
    const assessments = await options.assessor.assess({ ...court, offered, candidates })
    return { assessments, usage, method: 'model' }
  }

  async function ask(
    model: StructuredModel,
    window: Window,
    offered: readonly (Offered & { since: string })[],
    deadline: AbortSignal,
    signal: AbortSignal,
  ): Promise<{ candidates: readonly Candidate[]; usage: Usage }> {
    const aborted = Promise.withResolvers<never>()
    const abort = () => aborted.reject(deadline.reason)
    deadline.addEventListener('abort', abort, { once: true })
    try {
      // A model that does not listen is left to itself.
      return await Promise.race([
        aborted.promise,
        extractWithModel(model, window, { offered, timezone: options.timezone() }, deadline),
      ])
    } catch (error) {
      if (deadline.aborted && !signal.aborted)
        throw new ModelError('timeout', 'the extraction took too long', { cause: error })
      throw error
    } finally {
      deadline.removeEventListener('abort', abort)
    }
  }

  /** Everything that a window comes to, as one batch: all of it or nothing. */
  async function conclude(window: Window, found: Found, before: readonly NewEvent[]): Promise<void> {
    const links = new Map<Accepted, string | null>()
    for (const assessment of found.assessments) {
      if (found.method === 'rules' && assessment.outcome === 'accepted')
        links.set(assessment.accepted, await nearestTo(assessment.accepted.words))
    }
    await options.lock(async () => {
      const learning = createLearning(options)
      const facts: NewEvent[] = [...before]
      let accepted = 0
      let discarded = 0
      for (const assessment of found.assessments) {
        if (assessment.outcome === 'rejected') {
          options.counters.add('candidates')
          options.counters.add('discarded')
          discarded += 1
          if (discarded <= MAX_DISCARDED_FACTS) facts.push(discardedFact(window, assessment.reason))
          continue
        }
        const said = windows.utteranceAt(assessment.accepted.saidSeq)
        // Forgotten while the model was thinking: what rests on it is not learned.
        if (!said || assessment.accepted.sourceSeqs.some((seq) => !windows.utteranceAt(seq))) continue
        accepted += 1
        const { conversationId, spanId, turnId, seq } = said
        const nearestId = links.get(assessment.accepted) ?? null
        facts.push(
          ...learning.learn(
            assessment.accepted,
            nearestId,
            { conversationId, spanId, turnId, causedBy: seq },
            'extraction',
          ).facts,
        )
      }
      facts.push(
        ...retractionsIn(window, { windows, queries }),
        ...citationsIn(window, { queries, recalledIn: options.recalledIn }),
      )
      const last = window.shown.findLast(({ seq }) => window.readSeqs.includes(seq))
      facts.push({
        type: 'memory.extraction.completed',
        actor: 'service',
        channel: 'inner',
        conversationId: last?.conversationId,
        spanId: last?.spanId,
        turnId: last?.turnId,
        key: `extraction:${window.readSeqs.at(-1)}`,
        facts: {
          ...rangeOf(window),
          method: found.method,
          candidates: found.assessments.length,
          accepted,
          usage: found.usage ? { ...found.usage } : null,
        },
      })
      await append(facts)
    })
  }

  async function recordFailure(window: Window, error: unknown): Promise<void> {
    const kind = error instanceof ModelError ? error.kind : 'internal'
    const attempt = (failureOf(window.readSeqs[0])?.attempt ?? 0) + 1
    const final = attempt >= (WRONG.has(kind) ? MAX_ATTEMPTS_WRONG : MAX_ATTEMPTS)
    const waitMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 4 ** (attempt - 1))
    const asked = error instanceof ModelError ? (error.retryAfterMs ?? 0) : 0
    const retryAt = final ? null : new Date(nowMs() + Math.max(waitMs, asked)).toISOString()
    options.log.warn({ err: error, kind, attempt, final }, 'an extraction failed')
    const failed: NewEvent = {
      type: 'memory.extraction.failed',
      actor: 'service',
      channel: 'inner',
      facts: { ...rangeOf(window), kind, attempt, final, retryAt },
    }
    if (!final) return void (await append([failed]))
    // What the model cannot read is still read for what is plainly said.
    const found = await findByRules(window, failed)
    if (found) await conclude(window, found, [failed])
  }

  /** What rules find; null when they fail too, which is then all that there is to record. */
  async function findByRules(window: Window, failed: NewEvent): Promise<Found | null> {
    try {
      return await find(window, null, new AbortController().signal)
    } catch (error) {
      options.log.warn({ err: error }, 'rules could not read what a model could not')
      await append([failed])
      return null
    }
  }

  return {
    nextRetryAtMs,
    async readNext(signal) {
      const failure = failureOf(utterances.unreadSeqs(1)[0])
      if (failure?.retryAt && Date.parse(failure.retryAt) > nowMs()) return false
      // After a failure less is asked at once: it may have been too much.
      const window = windows.next(failure ? 1 : WINDOW_UTTERANCES)
      if (!window) return false
      let found: Found
      try {
        found = await find(window, options.utility(), signal)
      } catch (error) {
        if (signal.aborted || error instanceof LedgerUnavailable) throw error
        await recordFailure(window, error)
        return true
      }
      await conclude(window, found, [])
      return true
    },
  }
}

function rangeOf({ readSeqs }: Window) {
  return { fromSeq: Math.min(...readSeqs), toSeq: Math.max(...readSeqs), utteranceSeqs: [...readSeqs] }
}

function discardedFact({ readSeqs }: Window, reason: string): NewEvent {
  return {
    type: 'memory.discarded',
    actor: 'service',
    channel: 'inner',
    facts: { reason, sourceSeqs: [...readSeqs] },
  }
}
