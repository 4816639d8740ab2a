import { Kysely, SqliteDialect } from 'kysely'
import { onTestFinished } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createMemoryQueries, type MemoryRow } from '../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import { buildErasing } from '../../src/erasing/index.ts'
import { queryFunctions as erasingFunctions } from '../../src/erasing/query-functions.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Recalled } from '../../src/lib/recall.ts'
import type { MemoryConfigChange } from '../../src/memory/config.ts'
import { buildMemory } from '../../src/memory/index.ts'
import { type LearningThread, learningFunctions } from '../../src/memory/learn/learning-functions.ts'
import { queryFunctions as memoryFunctions } from '../../src/memory/query-functions.ts'
import { createRecallAnswers } from '../../src/memory/recall/answer.ts'
import { createRecallRanker, type Hit } from '../../src/memory/recall/ranker.ts'
import type { RecallAnswer, RecallPort, RecallQuestion } from '../../src/memory/recall/recall-port.ts'
import type { EmbeddingModel, ModelService, StructuredModel } from '../../src/model/port.ts'
import type { Tool } from '../../src/model/tool.ts'
import { testDirectory } from '../support/directory.ts'
import { openInPlace } from '../support/in-place.ts'
import { openTestQueries, type TestQueries } from '../support/queries.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

export type MindOptions = {
  readonly directory?: string
  /** The model for extraction; without one, rules extract. */
  readonly utility?: StructuredModel | null
  /** Replaces ranking; its hits are read and selected as usual. */
  readonly engine?: (question: RecallQuestion) => Promise<readonly Hit[]>
  /** Whether to use threads, as the service does. A test without them costs half as much. */
  readonly isThreaded?: boolean
  /** Replaces the learning thread. */
  readonly learning?: (directory: string) => LearningThread
  /** The model for vectors; none without one. */
  readonly embedding?: EmbeddingModel | null
  readonly cueTimeoutMs?: number
  readonly startMs?: number
  readonly config?: MemoryConfigChange
  /** Replaces waiting until the indexes have caught up. */
  readonly catchUpLagging?: () => Promise<void>
  /** Whether learning starts at once; otherwise call `start`. */
  readonly started?: boolean
  /** Sees each answer of recall before it is delivered. */
  readonly onRecalled?: (answer: RecallAnswer) => void
  /** Replaces the end of the test, for a benchmark, which calls `close` itself. */
  readonly onEnd?: (cleanup: () => Promise<void>) => void
}

export type SaidOptions = {
  readonly reply?: string | null
  readonly conversationId?: string
  readonly at?: 'chat' | 'sms' | 'voice'
  readonly party?: 'owner' | 'guest'
  /** The reply may repeat words of others. */
  readonly foreign?: boolean
  /** Leaves the turn unanswered until `finish`. */
  readonly open?: boolean
  /** The part of the text that is pasted: the rest of it from here. */
  readonly pastedFrom?: number
  /** The message whose place it takes. */
  readonly replaces?: Pick<SaidTurn, 'turnId' | 'seq'> & { readonly sameWords: boolean }
  /** Runs between the message and the recall of its turn. */
  readonly meanwhile?: (seq: number) => Promise<unknown>
}

export type SaidTurn = {
  readonly turnId: string
  readonly seq: number
  readonly replySeq: number | null
  readonly recalled: Recalled
}

export const TIMEZONE = 'Europe/Berlin'
/** Half an hour into 2030 in that timezone, and still 2029 in UTC. */
export const NEW_YEAR = Date.UTC(2029, 11, 31, 23, 30)
const MINUTE_MS = 60_000

/** Memory over real storage, with turns recorded as the agent records them. */
export async function openMind(options: MindOptions = {}) {
  const directory = options.directory ?? testDirectory()
  let nowMs = options.startMs ?? Date.UTC(2030, 0, 1, 9)
  const clock = () => nowMs
  const { isThreaded = false, onEnd = onTestFinished, onRecalled } = options
  const storage = await openTestStorage(directory, { nowMs: clock, verifyAfterMs: 3_600_000 }, onEnd)
  const threads: TestQueries = isThreaded
    ? openTestQueries(directory)
    : { ...openInPlace({ ...memoryFunctions, ...erasingFunctions }, directory), warm: () => undefined }
  const learning = options.learning?.(directory)
  const { append, ledger, views } = storage
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)
  const written: string[] = []
  const { log } = createLog({
    level: 'warn',
    write: (line) => void written.push(line),
    secretValues: () => [],
  })
  let utility = options.utility ?? null
  let embedding = options.embedding ?? null
  let looks = 0
  const memory = buildMemory({
    storage: options.catchUpLagging ? { ...storage, catchUpLagging: options.catchUpLagging } : storage,
    queries: threads,
    ...(onRecalled ? { engine: overheard(onRecalled) } : {}),
    // Memory uses nothing else of a model service.
    model: () => {
      looks += 1
      return { utility, embedding } as ModelService
    },
    directory,
    cueTimeoutMs: options.cueTimeoutMs,
    ...(isThreaded && !learning ? {} : { learning: learning ?? openInPlace(learningFunctions, directory) }),
    ...(options.engine ? { engine: overHits(options.engine) } : {}),
    documents: { document: () => null, writeDocument: () => undefined },
    timezone: () => TIMEZONE,
    isHalted: () => false,
    newId,
    nowMs: clock,
    log,
  })
  memory.config.put({ retrieveTimeoutMs: 5000, ...options.config })
  const { erasures, forgetting } = buildErasing({
    storage,
    queries: threads,
    kysely: new Kysely({ dialect: new SqliteDialect({ database: views }) }),
    memory,
    forgetVectors: memory.forgetVectors,
    spanSeqs: () => [],
    adaptationSeqs: () => [],
    importedSeqs: () => [],
    copiesFrom: () => [],
    backupsHolding: async () => null,
    removeAdaptationFiles: async () => undefined,
    nowMs: clock,
    newId,
    onFault: (error) => log.error({ err: error }, 'erasing failed'),
  })
  const tools = memory.tools(forgetting, () => [])
  if (options.started !== false) {
    memory.start()
    erasures.start()
  }

  /** A synchronous recall port without a thread. The test decides what comes too late. */
  function overHits(find: NonNullable<MindOptions['engine']>): RecallPort {
    const { choose } = createRecallAnswers({ views, ledger, ranker: createRecallRanker({ views }) })
    return {
      choose: async (question) => choose(question),
      recall: async (question) => choose({ ...question, hits: await find(question) }),
    }
  }

  /** The recall port of the service, overheard. */
  function overheard(tell: (answer: RecallAnswer) => void): RecallPort {
    return {
      choose: (question) => threads.ask('chooseRecalled', question),
      async recall(question) {
        const answer = await threads.ask('recall', question)
        tell(answer)
        return answer
      },
    }
  }

  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= Promise.all([memory.close(), erasures.close()]).then(async () => {
      await threads.close()
      await storage.close()
    })
    return closed
  }
  onEnd(close)

  async function appended(events: readonly NewEvent[]): Promise<number[]> {
    const result = await append(events)
    if (result.status !== 'appended') throw new Error('a fact of the test already exists')
    return result.events.map(({ seq }) => seq)
  }

  /** Records a turn as the agent does: message, recall and reply. */
  async function say(text: string, said: SaidOptions = {}): Promise<SaidTurn> {
    const {
      reply = 'All right.',
      conversationId = 'conversation',
      at = 'chat',
      party = 'owner',
      foreign = false,
      open = false,
      replaces,
      meanwhile,
    } = said
    nowMs += MINUTE_MS
    const turnId = newId()
    const place = { conversationId, spanId: `span-${conversationId}`, turnId, channel: at } as const
    const message = heard(text, place, party, said.pastedFrom)
    const [seq = 0] =
      replaces && message.type === 'chat.message.received'
        ? (
            await appended([
              ...(replaces.sameWords ? [] : memory.retire(replaces.seq)),
              { ...message, facts: { ...message.facts, replaces } },
            ])
          ).slice(-1)
        : await appended([message])
    await meanwhile?.(seq)
    if (party === 'guest')
      return { turnId, seq, replySeq: null, recalled: { text: null, seqs: [], facts: [] } }
    const recalled = await memory.recall({
      text,
      turnId,
      conversationId,
      spanId: place.spanId,
      channel: at,
      beforeSeq: seq,
      inContextSeqs: new Set(),
    })
    nowMs += MINUTE_MS
    const facts: NewEvent[] = [...recalled.facts]
    if (reply !== null && !open) facts.push(replied(place, reply, [seq, ...recalled.seqs], foreign))
    if (open) return { turnId, seq, replySeq: null, recalled }
    const seqs = await appended([...facts, completed(place)])
    return { turnId, seq, replySeq: reply === null ? null : (seqs.at(-2) ?? null), recalled }
  }

  /** Ends a turn that was left open, with a reply if one is given. */
  async function finish(
    { turnId, seq }: { readonly turnId: string | null; readonly seq: number },
    conversationId = 'conversation',
    reply: string | null = null,
  ): Promise<void> {
    const place = { conversationId, spanId: `span-${conversationId}`, turnId, channel: 'chat' } as const
    await appended([...(reply === null ? [] : [replied(place, reply, [seq])]), completed(place)])
  }

  /** Waits until everything that can be learned is learned. */
  async function settle(): Promise<void> {
    for (let round = 0; round < 200; round += 1) {
      await memory.settled(10_000)
      if (utterances.readable(1).length === 0 || isWaiting()) break
    }
    await storage.catchUpLagging()
  }

  function isWaiting(): boolean {
    const failure = utterances.lastFailure()
    return failure?.retryAt != null && Date.parse(failure.retryAt) > nowMs
  }

  /** Runs a tool as a turn does, on behalf of the owner's message. */
  async function use(
    name: string,
    args: Record<string, unknown>,
    messageSeq: number | null,
    conversationId = 'conversation',
  ) {
    const tool: Tool | undefined = tools.find((each) => each.name === name)
    if (!tool) throw new Error(`no such tool: ${name}`)
    const callId = newId()
    const [calledSeq = 0] = await appended([
      {
        type: 'tool.called',
        actor: 'delegate',
        conversationId,
        facts: { callId, tool: name, round: 1, idempotent: true },
        body: { arguments: JSON.stringify(args) },
      },
    ])
    return tool.run(tool.parameters.parse(args), {
      turnId: `turn-${callId}`,
      callId,
      conversationId,
      spanId: null,
      channel: 'chat',
      messageSeq,
      calledSeq,
      key: `tool:${callId}`,
      timezone: TIMEZONE,
      nowMs,
      signal: new AbortController().signal,
    })
  }

  return {
    directory,
    storage,
    memory,
    queries,
    utterances,
    written,
    say,
    finish,
    settle,
    use,
    appended,
    close,
    nowMs: clock,
    advance: (ms: number) => {
      nowMs += ms
    },
    erasures,
    /** Erases one event and its copies for good. */
    erase: (seq: number) => erasures.eraseNow({ kind: 'message', id: String(seq) }),
    /** Forgets a memory for good, as the memories page does. */
    forget: (memoryId: string) => erasures.eraseNow({ kind: 'memory', id: memoryId }),
    setEmbedding: (model: EmbeddingModel | null) => {
      embedding = model
    },
    /** How often memory has asked which models there are. */
    looks: () => looks,
    setUtility: (model: StructuredModel | null) => {
      utility = model
    },
    /** The current memories, oldest first. */
    known: (): MemoryRow[] => queries.current(Number.MAX_SAFE_INTEGER, 10_000).reverse(),
    texts: (): (string | null)[] =>
      queries
        .current(Number.MAX_SAFE_INTEGER, 10_000)
        .reverse()
        .map(({ text }) => text),
    /** The facts of the given types, oldest first. */
    facts: (...types: readonly string[]) =>
      ledger.readAfter(0, 1_000_000).filter(({ type }) => types.includes(type)),
  }
}

export type Mind = Awaited<ReturnType<typeof openMind>>

type TestPlace = Pick<NewEvent, 'conversationId' | 'spanId' | 'turnId'> & {
  readonly channel: 'chat' | 'sms' | 'voice'
}

function heard(text: string, place: TestPlace, party: 'owner' | 'guest', pastedFrom?: number): NewEvent {
  const actor = party === 'owner' ? 'owner' : 'guest'
  if (place.channel === 'sms') {
    const facts = { messageSid: newId(), party, segments: 1, mediaTypes: [], replyBy: 'rest' as const }
    return {
      type: 'sms.received',
      actor,
      ...place,
      facts,
      body: { from: '+15550100', to: '+15550101', text },
    }
  }
  if (place.channel === 'voice' || party === 'guest') {
    return {
      type: 'call.utterance.heard',
      actor,
      ...place,
      channel: 'voice',
      facts: { callSid: 'call', itemId: newId(), party, transcribed: true },
      body: { text },
    }
  }
  const pasted = pastedFrom === undefined ? [] : [[pastedFrom, text.length] as [number, number]]
  return { type: 'chat.message.received', actor, ...place, facts: { pasted }, body: { text } }
}

function replied(place: TestPlace, text: string, derivedFrom: readonly number[], foreign = false): NewEvent {
  return {
    type: 'chat.reply.sent',
    actor: 'delegate',
    ...place,
    derivedFrom,
    facts: { foreign },
    body: { text },
  }
}

function completed(place: TestPlace): NewEvent {
  return {
    type: 'turn.completed',
    actor: 'service',
    ...place,
    facts: {
      model: { provider: 'test', model: 'test' },
      usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
      contextTokens: 1,
      responseId: null,
      rounds: 1,
      durationMs: 1,
    },
  }
}
