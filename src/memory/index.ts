import pLimit from 'p-limit'
import { createMemoryQueries, type MemoryRow } from '../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import type { Log } from '../lib/log.ts'
import { unlessAborted } from '../lib/waits.ts'
import type { ModelService, StructuredModel } from '../model/port.ts'
import type { ToolContext } from '../model/tool.ts'
import { type FunctionThread, openFunctionThread } from '../storage/function-thread.ts'
import { caughtUpWithin } from '../storage/index-wait.ts'
import type { Storage } from '../storage/storage.ts'
import { createByHand } from './by-hand.ts'
import { createMemoryConfig, type MemoryConfigChange } from './config.ts'
import { createMemoryCounters } from './counters.ts'
import type { Chosen } from './forget/forgettable.ts'
import { createExtraction } from './learn/extraction.ts'
import { createImportedLearning } from './learn/imported.ts'
import type { LearningThread } from './learn/learning-functions.ts'
import { createMemoryReactor } from './learn/reactor.ts'
import { createRetiring } from './learn/replaced.ts'
import { createWindowReader } from './learn/window.ts'
import { createMemoryPresenter, type MemoryListQuery } from './listing.ts'
import { createMemories } from './memories.ts'
import type { queryFunctions } from './query-functions.ts'
import { createEmbedding, openVectors } from './recall/embedding.ts'
import { createIndexing } from './recall/indexing.ts'
import { createPassiveRecall } from './recall/passive-recall.ts'
import { createPinned } from './recall/pinned.ts'
import type { RecallPort } from './recall/recall-port.ts'
import { createRecallExamples } from './recall-examples.ts'
import { type Forgetting, type LookedUp, memoryTools } from './tools.ts'

/** The functions of memory in the query thread. */
export const memoryQueries = new URL('./query-functions.ts', import.meta.url)
export type MemoryQueryFunctions = typeof queryFunctions
type MemoryQueries = FunctionThread<MemoryQueryFunctions>

/** How long a request to forget waits until earlier messages are learned. */
const SETTLE_MS = 3000

/** A lookup uses embeddings if the last request took at most this long. */
const LOOKUP_EMBEDDING_MS = 1000

/** A message that takes longer is hostile. */
const LEARNING_LIMIT_MS = 15_000

export type Memory = ReturnType<typeof buildMemory>

/** Wires memory: learning, recall, tools and API. */
export function buildMemory(options: {
  readonly storage: Storage
  readonly queries: MemoryQueries
  readonly model: () => ModelService
  /** Replaces the query thread. */
  readonly engine?: RecallPort
  readonly directory: string
  /** Replaces the learning thread. Closed with memory. */
  readonly learning?: LearningThread
  readonly cueTimeoutMs?: number | undefined
  /** Where the settings of memory are kept. */
  readonly documents: {
    document(name: string): string | null
    writeDocument(name: string, content: string): void
  }
  readonly isHalted: () => boolean
  readonly timezone: () => string
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: Log
  readonly onLearningFailed?: (error: unknown) => void
  /** Whether money is left for learning. */
  readonly mayLearn?: () => boolean
}) {
  const { storage, queries: thread, newId, nowMs, log, timezone } = options
  const { append, views } = storage
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)
  const onFailure = (failure: unknown) => log.error({ err: failure }, 'a thread was terminated')
  const learning: LearningThread =
    options.learning ??
    openFunctionThread(new URL('./learn/learning-thread.ts', import.meta.url), options.directory, {
      limitMs: LEARNING_LIMIT_MS,
      onFailure,
    })
  const vectors = openVectors(options.directory, { onFailure })
  const config = createMemoryConfig({
    load: () => options.documents.document('memory'),
    save: (document) => options.documents.writeDocument('memory', document),
  })
  const counters = createMemoryCounters(new Date(nowMs()).toISOString())
  /** Learning (read, decide, append) and forgetting (bar, erase) never interleave. */
  const lock = pLimit(1)
  const onFault = (error: unknown) => log.error({ err: error }, 'memory failed')
  const closing = new AbortController()
  /** Resolves when the indexes have every fact that is durable now, or when memory closes: it may take minutes. */
  const caughtUp = () => unlessAborted(closing.signal, storage.catchUpLagging())
  /** Asks the query thread once the indexes have caught up, because a forgotten fact must be found. */
  const askAll: MemoryQueries['ask'] = async (name, args) => {
    await caughtUp()
    return thread.ask(name, args)
  }
  /** The same, but answers from incomplete indexes while they are rebuilt. */
  const ask: MemoryQueries['ask'] = async (name, args) => {
    await caughtUpWithin(caughtUp)
    return thread.ask(name, args)
  }
  const common = {
    append,
    queries,
    utterances,
    thread: learning,
    caughtUp,
    counters,
    lock,
    timezone,
    isHalted: options.isHalted,
    newId,
    nowMs,
  }

  const memories = createMemories({
    ...common,
    ledger: storage.ledger,
    indexed: () => caughtUpWithin(caughtUp),
  })
  const pinned = createPinned({ queries, maxTokens: () => config.get().maxInjectedTokens, timezone })
  const byHand = createByHand({ ...common, pinned })
  const utility = () => options.model().utility
  const reactor = createMemoryReactor({
    ...common,
    extraction: createExtraction({ ...common, utility, mayLearn: options.mayLearn ?? (() => true), log }),
    windows: createWindowReader({ ledger: storage.ledger, utterances, isHidden: queries.repeatsBarred }),
    onHeadMoved: storage.onHeadMoved,
    onFault(error) {
      onFault(error)
      options.onLearningFailed?.(error)
    },
  })
  const embedding = createEmbedding({
    vectors,
    model: () => options.model().embedding,
    isHalted: options.isHalted,
    caughtUp,
    onHeadMoved: storage.onHeadMoved,
    nowMs,
    log,
    cueTimeoutMs: options.cueTimeoutMs,
  })
  const passive = createPassiveRecall({
    meaning: embedding,
    engine: options.engine ?? {
      indexed: createIndexing({ views, ledger: storage.ledger, catchUp: caughtUp }),
      recall: (question) => thread.ask('recall', question),
      choose: (question) => thread.ask('chooseRecalled', question),
    },
    config: config.get,
    pinned,
    judge,
    isRead: () => options.model().utility !== null,
    append,
    counters,
    timezone,
    nowMs,
    onFault,
  })

  const present = createMemoryPresenter(storage)
  const ages = () => ({ nowMs: nowMs(), halfLifeDays: config.get().strengthHalfLifeDays })

  /** The model that the owner chose, or the utility model; null if neither can judge. */
  function judge(): StructuredModel | null {
    const { utility, structured } = options.model()
    const { model } = config.get().arbitrator
    return model === null || !structured ? utility : structured(model)
  }

  /** What recall ranks highest for a query, weak matches included: the model that asks can judge them. */
  async function lookUp(query: string, context: ToolContext): Promise<LookedUp> {
    const { channel, conversationId, spanId, turnId, messageSeq } = context
    const place = { channel, conversationId, spanId, turnId }
    // A service that is down or slow must not hold up the turn.
    const isFast = embedding.answersWithin(LOOKUP_EMBEDDING_MS)
    const near = isFast ? await embedding.near(query, { purpose: 'recall', ...place }) : null
    const beforeSeq = messageSeq ?? storage.ledger.head().seq + 1
    const question = passive.questionOf({ ...place, text: query, beforeSeq, inContextSeqs: [] })
    const { judged } = await ask('recall', {
      ...question,
      contextTurns: 0,
      near: near ?? [],
      config: { ...question.config, relevanceThreshold: 0 },
      withWords: true,
    })
    return {
      memories: judged.flatMap(({ memory }) => (memory ? (queries.byId(memory.id) ?? []) : [])),
      said: judged.filter(({ kind }) => kind === 'turn').toSorted((a, b) => b.score - a.score),
    }
  }

  return {
    memories,
    byHand,
    /** Memories from imported conversations. */
    imported: createImportedLearning({ ...common, utility }),
    /** Whether somebody waits for an answer. A local model may serve one request at a time. */
    isAnswering: utterances.hasUnanswered,
    /** The tools of memory. Takes what erases, and the choices that a turn has offered to the owner. */
    tools: (forgetting: Forgetting, offeredIn: (turnId: string) => readonly string[]) =>
      memoryTools({
        memories,
        forgetting,
        offeredIn,
        candidates: (asked) =>
          ask('forgetCandidates', { ...asked, isRead: options.model().utility !== null }),
        latest: (limit) => queries.current(Number.MAX_SAFE_INTEGER, limit),
        lookUp,
        settled: () => reactor.settled(SETTLE_MS),
        isIndexed: () => caughtUpWithin(caughtUp),
      }),
    /** What forgetting memories and messages starts from; null if there is nothing left to forget. */
    forgettable: (chosen: Chosen) => askAll('forgettable', chosen),
    /** Runs work while learning is paused. */
    exclusively: lock,
    /** The facts about memories when another message takes the place of one. */
    retire: (seq: number) => createRetiring({ queries, utterances })([seq], 'replaced'),
    recall: passive.recall,
    /** Resolves when the vectors of these events are overwritten on disk. */
    forgetVectors: vectors.forget,
    /** Records a change of the memory settings, then applies it. */
    async changeConfig(change: MemoryConfigChange) {
      await append([
        { type: 'settings.changed', actor: 'owner', channel: 'system', facts: { keys: ['memory-config'] } },
      ])
      return config.put(change)
    },
    config,
    counters,
    /** Documents of the memory routes. Reading a memory here does not count as a use. */
    api: {
      /** Newest first. `beforeSeq` comes from the `nextCursor` of the previous page. */
      async list(
        query: Pick<MemoryListQuery, 'q' | 'limit' | 'beforeSeq'> & { readonly pinned?: boolean | null },
      ) {
        const listed = await ask('listMemories', { pinned: null, ...query, ...ages() })
        const pinnedTokens = pinned.tokens()
        return { ...listed, ...(pinnedTokens.used > 0 ? { pinnedTokens } : {}) }
      },
      present: (row: MemoryRow) => present(row, ages()),
      recallExamples: createRecallExamples({
        lastMessages: () => ask('lastMessages', null),
        questionOf: passive.questionOf,
        near: embedding.near,
        byThreshold: (question) => thread.ask('recallByThreshold', question),
      }),
      async insights() {
        const { store, unread, recentEvents } = await thread.ask('memoryStore', null)
        const failure = utterances.lastFailure()
        return {
          store,
          deduplication: counters.read(),
          runtime: {
            extraction: {
              method: utility() === null ? ('rules' as const) : ('model' as const),
              running: reactor.isRunning(),
              unread,
              lastFailure: failure
                ? {
                    at: failure.at,
                    kind: failure.kind,
                    attempt: failure.attempt,
                    final: failure.final === 1,
                    retryAt: failure.retryAt,
                  }
                : null,
            },
            recall: passive.runtime(),
            embedding: embedding.state(),
          },
          recentEvents,
        }
      },
    },
    settled: reactor.settled,
    /** Whether learning fails until something changes. */
    isStalled: reactor.isStalled,
    /** After another model was chosen. */
    wake: embedding.wake,
    /** Recalls once, so that the next recall is fast. */
    warm: passive.warm,
    start() {
      reactor.start()
      embedding.start()
    },
    async close() {
      closing.abort(new Error('memory is closing'))
      // Closing the thread rejects a hanging call, so that its caller ends.
      await Promise.all([reactor.close(), passive.close(), embedding.close(), learning.close()])
    },
  }
}
