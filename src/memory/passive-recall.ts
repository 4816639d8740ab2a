import type { Database } from 'better-sqlite3'
import type { Append, EventOf, NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { zoneOffsetMinutes } from '../clock/zone-offset.ts'
import type { Recall, RecallCue } from '../conversation/recall.ts'
import { estimateTokens } from '../model/tokens.ts'
import type { MemoryConfig } from './config.ts'
import type { MemoryCounters } from './counters.ts'
import { contentWords, coverage, indexWords } from './language/words.ts'
import { createLateResults, type StagedResult } from './late-results.ts'
import { memoriesFirst } from './memories-first.ts'
import { type Arbitrator, arbitrate } from './recall/arbitration.ts'
import { composeInjection, type Injection } from './recall/injection.ts'
import type { Hit } from './recall/ranker.ts'
import { createRecollections, type Recollection } from './recall/recollections.ts'
import type { RecallPort } from './recall-port.ts'
import type { WindowReader } from './window.ts'

/** How recall went since the process began. */
export type RecallRuntime = {
  readonly queries: number
  readonly inTime: number
  readonly late: number
  readonly failed: number
  readonly waiting: number
  readonly lastDurationMs: number | null
}

export type PassiveRecall = {
  readonly recall: Recall
  readonly runtime: () => RecallRuntime
  /** Records what will never be delivered. */
  close(): Promise<void>
}

export type PassiveRecallOptions = {
  readonly engine: RecallPort
  readonly ledger: LedgerReader
  readonly views: Database
  readonly windows: WindowReader
  /** The memory that was stored at `seq`, whatever has become of it. */
  readonly memoryIdAt: (seq: number) => string | undefined
  readonly config: () => MemoryConfig
  /** The model's filter for relevance; null where there is none. */
  readonly arbitrator: () => Arbitrator | null
  readonly append: Append
  readonly counters: MemoryCounters
  readonly timezone: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}

/** Ranked, before anything is chosen; each costs the main thread a few point reads. */
const MAX_HITS = 40

type Suppression = EventOf<'memory.recall.suppressed'>['facts']['reason']

const NOTHING = { text: null, seqs: [], facts: [] } as const

/**
 * Recall before every activation. The engine has its budget of time; what comes later is staged for the next turn,
 * and checked against it. Every outcome becomes a fact of the turn that it concerns. Never rejects.
 */
export function createPassiveRecall(options: PassiveRecallOptions): PassiveRecall {
  const { append, config, nowMs, onFault } = options
  const late = createLateResults()
  const recollect = createRecollections(options)
  const runtime = { queries: 0, inTime: 0, late: 0, failed: 0, lastDurationMs: null as number | null }

  /** What is looked for, and whose words it is made of: those find nothing but themselves. */
  function withEarlier({ text, conversationId, beforeSeq, channel }: RecallCue) {
    const { contextTurns } = config()
    if (channel === 'inner' || contextTurns === 0) return { text, seqs: [] }
    const earlier = options.windows
      .before(conversationId, beforeSeq, contextTurns * 2)
      .filter(({ speaker }) => speaker === 'owner')
      .slice(-contextTurns)
    // The words said now come first: a long cue is cut.
    const texts = [text, ...earlier.map((utterance) => utterance.text).reverse()]
    return { text: texts.join('\n'), seqs: earlier.map(({ seq }) => seq) }
  }

  /** What the engine finds in its time; null when it is late, and then it is staged once it comes. */
  async function inTime(cue: RecallCue, turn: number, startedMs: number): Promise<readonly Hit[] | null> {
    const { retrieveTimeoutMs } = config()
    const { text, seqs } = withEarlier(cue)
    const found = options.engine({
      text,
      asker: cue.channel === 'inner' ? null : 'owner',
      beforeSeq: cue.beforeSeq,
      excludedSeqs: new Set([...cue.inContextSeqs, ...seqs]),
      nowMs: startedMs,
      timezone: options.timezone(),
      limit: MAX_HITS,
    })
    const timeout = Promise.withResolvers<null>()
    const timer = setTimeout(() => timeout.resolve(null), retrieveTimeoutMs)
    const first = await Promise.race([found, timeout.promise]).finally(() => clearTimeout(timer))
    if (first !== null) {
      runtime.inTime += 1
      return first
    }
    runtime.late += 1
    void found.then((hits) => arrivedLate(cue, { turnId: cue.turnId, turn, hits })).catch(failed)
    return null
  }

  function failed(error: unknown): void {
    runtime.failed += 1
    onFault(error)
  }

  async function arrivedLate(cue: RecallCue, result: StagedResult): Promise<void> {
    if (result.hits.length === 0 || late.stage(cue.conversationId, result)) return
    const facts = suppressed(result.hits, 'expired', true, cue)
    if (facts.length > 0) await append(facts)
  }

  /** With their words, as far as the model has not got them before it anyway. */
  function* newTo(cue: RecallCue, hits: readonly Hit[]): Generator<Recollection> {
    for (const recollection of recollect(hits)) {
      if (!isInContext(recollection, cue)) yield recollection
    }
  }

  /** What waited for this turn, as far as it is still news and has to do with what is being said. */
  function delivered(cue: RecallCue, turn: number, fresh: readonly Hit[], facts: NewEvent[]): Hit[] {
    const { ready, expired } = late.take(cue.conversationId, turn)
    facts.push(
      ...suppressed(
        expired.flatMap(({ hits }) => hits),
        'expired',
        true,
        cue,
      ),
    )
    const waited = ready.flatMap(({ hits }) => hits)
    if (waited.length === 0) return []
    const { relevanceThreshold, duplicateThreshold } = config()
    const words = contentWords(cue.text)
    const known = new Set(fresh.map(({ seq }) => seq))
    const texts = [...recollect(fresh.slice(0, MAX_HITS))].map(({ text }) => indexWords(text))
    const news = new Map(
      [...newTo(cue, waited)].map((recollection) => [recollection.seq, recollection] as const),
    )
    const ends: Record<'kept' | 'duplicate' | 'irrelevant', Hit[]> = {
      kept: [],
      duplicate: [],
      irrelevant: [],
    }
    for (const hit of waited) {
      const recollection = news.get(hit.seq)
      const own = recollection ? contentWords(recollection.text) : []
      const isRepeat =
        !recollection ||
        known.has(hit.seq) ||
        texts.some((index) => coverage(index, own) >= duplicateThreshold)
      const relevance = recollection && words.length > 0 ? coverage(indexWords(recollection.text), words) : 0
      if (isRepeat) ends.duplicate.push(hit)
      else if (relevance === 0 || relevance < relevanceThreshold) ends.irrelevant.push(hit)
      else ends.kept.push({ ...hit, relevance })
      known.add(hit.seq)
    }
    facts.push(
      ...suppressed(ends.duplicate, 'duplicate', true, cue),
      ...suppressed(ends.irrelevant, 'irrelevant', true, cue),
    )
    return ends.kept
  }

  /** What a model's filter leaves of the hits, where the owner wants one. */
  async function judged(cue: RecallCue, hits: readonly Hit[], facts: NewEvent[]): Promise<readonly Hit[]> {
    const { arbitrator: settings, relevanceThreshold } = config()
    // On the phone nobody waits for a second opinion.
    const arbitrator = settings.enabled && cue.channel !== 'voice' ? options.arbitrator() : null
    const eligible = hits.filter(({ relevance }) => relevance >= relevanceThreshold)
    if (!arbitrator || eligible.length === 0) return hits
    const recollections = [...newTo(cue, eligible)]
    const { timeoutMs } = settings
    const { dropped } = await arbitrate({ arbitrator, cue: cue.text, recollections, timeoutMs, onFault })
    facts.push(...suppressed(dropped, 'irrelevant', false, cue))
    const out = new Set(dropped.map(({ seq }) => seq))
    return hits.filter(({ seq }) => !out.has(seq))
  }

  /** What is shown, in order; a memory before the turn that it was learned from, where that says no more. */
  function inOrder(cue: RecallCue, hits: readonly Hit[]): readonly Hit[] {
    return memoriesFirst([...newTo(cue, hits)])
  }

  async function recallFor(cue: RecallCue) {
    const startedMs = nowMs()
    const facts: NewEvent[] = []
    const turn = late.beginTurn(cue.conversationId)
    runtime.queries += 1
    const fresh = ((await inTime(cue, turn, startedMs)) ?? []).slice(0, MAX_HITS)
    const staged = delivered(cue, turn, fresh, facts)
    const hits = inOrder(cue, [...(await judged(cue, fresh, facts)), ...staged])
    const { maxInjectedTokens, maxInjectedMemories, relevanceThreshold } = config()
    const injection = composeInjection(hits, (some) => newTo(cue, some), {
      maxTokens: maxInjectedTokens,
      maxMemories: maxInjectedMemories,
      threshold: relevanceThreshold,
      cue: cue.text,
      zoneOffsetMs: zoneOffsetMinutes(new Date(startedMs), options.timezone()) * 60_000,
    })
    const durationMs = Math.max(0, nowMs() - startedMs)
    runtime.lastDurationMs = durationMs
    facts.push(...outcomes(injection, new Set(staged.map(({ seq }) => seq)), durationMs, cue))
    if (injection.included.length === 0) return { ...NOTHING, facts }
    return { text: injection.text, seqs: injection.included.map(({ seq }) => seq), facts }
  }

  function outcomes(
    { included, suppressed: left, tokens }: Injection,
    staged: ReadonlySet<number>,
    durationMs: number,
    cue: RecallCue,
  ): NewEvent[] {
    const isLate = ({ seq }: { readonly seq: number }) => staged.has(seq)
    const lateTokens = included.filter(isLate).reduce((sum, { text }) => sum + estimateTokens(text), 0)
    return [false, true].flatMap((wasLate) => {
      const shown = included.filter((each) => isLate(each) === wasLate)
      const injectedTokens = wasLate ? Math.min(tokens, lateTokens) : Math.max(0, tokens - lateTokens)
      const told: NewEvent[] =
        shown.length === 0
          ? []
          : [
              {
                type: 'memory.recalled',
                ...envelopeOf(cue),
                facts: { ...named(shown), late: wasLate, injectedTokens, durationMs },
              },
            ]
      const out = left.filter(({ hit }) => isLate(hit) === wasLate)
      const because = (reason: Suppression) =>
        suppressed(
          out.flatMap((each) => (each.reason === reason ? [each.hit] : [])),
          reason,
          wasLate,
          cue,
        )
      // What merely fits too little was never going to be shown; of a late result every end is told.
      return [
        ...told,
        ...because('duplicate'),
        ...because('budget'),
        ...(wasLate ? because('irrelevant') : []),
      ]
    })
  }

  function named(hits: readonly Hit[]): { ids: string[]; turnSeqs: number[] } {
    const memories = hits.filter(({ kind }) => kind === 'memory')
    return {
      ids: [...new Set(memories.flatMap(({ seq }) => options.memoryIdAt(seq) ?? []))],
      turnSeqs: [...new Set(hits.flatMap(({ kind, seq }) => (kind === 'turn' ? [seq] : [])))],
    }
  }

  function suppressed(
    hits: readonly Hit[],
    reason: Suppression,
    isLate: boolean,
    cue: Pick<RecallCue, 'conversationId' | 'spanId' | 'turnId'>,
  ): NewEvent[] {
    const { ids, turnSeqs } = named(hits)
    // Of turns that were not shown only the late ones are told: they were on their way.
    if (ids.length === 0 && (turnSeqs.length === 0 || !isLate)) return []
    options.counters.add('suppressed', ids.length)
    const facts = { ids, turnSeqs: isLate ? turnSeqs : [], reason, late: isLate }
    return [{ type: 'memory.recall.suppressed', ...envelopeOf(cue), facts }]
  }

  return {
    async recall(cue) {
      try {
        return await recallFor(cue)
      } catch (error) {
        failed(error)
        return NOTHING
      }
    },
    runtime: () => ({ ...runtime, waiting: late.waiting() }),
    async close() {
      const facts = late.takeAll().flatMap(({ conversationId, result }) =>
        suppressed(result.hits, 'expired', true, {
          conversationId,
          spanId: null,
          turnId: result.turnId,
        }),
      )
      if (facts.length > 0) await append(facts)
    },
  }
}

/** Whether the model has it before it anyway: the turn itself, or the words that a memory was learned from. */
function isInContext({ seq, memory }: Recollection, { inContextSeqs }: RecallCue): boolean {
  return inContextSeqs.has(seq) || (memory?.sourceSeqs.some((source) => inContextSeqs.has(source)) ?? false)
}

function envelopeOf({
  conversationId,
  spanId,
  turnId,
}: Pick<RecallCue, 'conversationId' | 'spanId' | 'turnId'>) {
  return { actor: 'service', channel: 'inner', conversationId, spanId, turnId } as const
}
