import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import { type Draft, newSalt, toDraft } from '../../ledger/codec.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { createIds } from '../../ledger/ids.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { buildErasing } from '../../src/erasing/index.ts'
import { createLog } from '../../src/lib/log.ts'
import { buildMemory } from '../../src/memory/index.ts'
import type { ModelService } from '../../src/model/port.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { openTestQueries } from '../support/queries.ts'
import { longestHold } from './held.ts'
import { quantile, round } from './statistics.ts'
import { openService, time } from './turn.ts'

/*
 * What memories cost a turn: compares the same conversation with few and with many memories, alternating
 * turns. Also measures how long memory's own work holds the main thread.
 */

const MESSAGES = 2000
/** The limit for one turn of the event loop, because the voice path waits for it. */
const MAX_HELD_MS = 2
/**
 * Repetitions of each round. The least of their longest holds is the work itself, because compilation and
 * garbage collection do not hit every repetition.
 */
const TIMES = 3
/** Rounds that only warm up the compiler. */
const WARM_ROUNDS = 10
const READ_AT_ONCE = 100
const BATCH_EVENTS = 2000
const THINGS =
  'bicycle teapot violin passport garden camera jacket piano kayak lantern suitcase telescope'.split(' ')
const PLACES = 'attic cellar garage hallway kitchen study loft shed balcony wardrobe drawer bakery'.split(' ')

/** The seq of a message; three facts of its turn follow. */
const saidAt = (message: number): number => 1 + 4 * message

const thing = (index: number): string => THINGS[index % THINGS.length] ?? ''
const place = (index: number): string => PLACES[Math.floor(index / THINGS.length) % PLACES.length] ?? ''
const statement = (index: number): string => `My ${thing(index)} number ${index} is in the ${place(index)}`
const question = (index: number): string => `Where is my ${thing(index * 7)}, in the ${place(index * 5)}?`

/** A conversation whose length does not depend on `memories`; the memories have its messages as sources. */
function* eventsOf(memories: number): Generator<NewEvent> {
  const envelope = { conversationId: 'conversation', spanId: 'span', channel: 'chat' } as const
  for (let index = 0; index < MESSAGES; index += 1) {
    const turnId = `turn-${index}`
    yield {
      type: 'chat.message.received',
      actor: 'owner',
      ...envelope,
      turnId,
      facts: {},
      body: { text: statement(index) },
    }
    const turn = { actor: 'delegate', ...envelope, turnId } as const
    const model = { provider: 'test', model: 'test' }
    const trigger = {
      trigger: 'message' as const,
      party: 'owner' as const,
      model,
      adaptationIds: [],
      signalIds: [],
    }
    const usage = { inputTokens: 100, outputTokens: 2, cachedTokens: 0 }
    // Answered, because pending messages would be answered first.
    yield { type: 'turn.started', ...turn, facts: trigger }
    yield { type: 'chat.reply.sent', ...turn, facts: {}, body: { text: 'All right.' } }
    yield {
      type: 'turn.completed',
      ...turn,
      facts: { model, usage, contextTokens: 100, responseId: null, rounds: 1, durationMs: 1 },
    }
  }
  // Marked as read, because learning would otherwise run during the measured turns.
  for (let first = 0; first < MESSAGES; first += READ_AT_ONCE) {
    const utteranceSeqs = Array.from({ length: READ_AT_ONCE }, (_, index) => saidAt(first + index))
    yield {
      type: 'memory.extraction.completed',
      actor: 'service',
      channel: 'inner',
      facts: {
        fromSeq: utteranceSeqs[0] ?? 1,
        toSeq: utteranceSeqs.at(-1) ?? 1,
        utteranceSeqs,
        method: 'rules',
        candidates: 0,
        accepted: 0,
        usage: null,
      },
    }
  }
  for (let index = 0; index < memories; index += 1) {
    const text = statement(index)
    const value = `the ${place(index)} ${index}`
    yield {
      type: 'memory.stored',
      actor: 'service',
      channel: 'inner',
      facts: {
        memoryId: `memory-${index}`,
        kind: 'episode',
        sourceSeqs: [saidAt(index % MESSAGES)],
        supersedes: null,
        linkedTo: null,
        singleValued: index % 10 === 0,
        eventTime: null,
        validFrom: '2026-01-01T00:00:00.000Z',
        validUntil: null,
        by: 'extraction',
      },
      body: {
        text,
        subject: 'owner',
        slot: `${thing(index)} ${index}`,
        value,
        quote: text,
        canonicalKey: `key ${index}`,
        slotKey: `slot ${index}`,
        statementKey: `statement ${index}`,
      },
    }
  }
}

function writeLedger(directory: string, memories: number): void {
  mkdirSync(directory, { recursive: true })
  let nowMs = Date.UTC(2026, 0, 1)
  const newId = createIds(() => nowMs)
  const ledger = openLedger(directory, newId)
  let batch: Draft[] = []
  for (const event of eventsOf(memories)) {
    nowMs += 1000
    batch.push(toDraft(event, { newId, newSalt, at: new Date(nowMs).toISOString() }))
    if (batch.length < BATCH_EVENTS) continue
    ledger.commit([batch])
    batch = []
  }
  ledger.commit([batch])
  ledger.close()
}

/** Turn times with `few` and with `many` memories, alternating turn by turn, and their ratio. */
export async function benchMemories({ few, many, turns }: { few: number; many: number; turns: number }) {
  const root = mkdtempSync(join(tmpdir(), 'delegate-bench-'))
  const double = await startModelDouble({ validate: false, record: false })
  double.answerWith(() => ({ text: 'Yes.', usage: { inputTokens: 100, outputTokens: 2 } }))
  const environment = {
    OPENAI_API_KEY: 'sk-bench-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  }
  const ways = []
  for (const memories of [few, many]) {
    const directory = join(root, String(memories))
    writeLedger(directory, memories)
    ways.push({
      memories,
      directory,
      samples: [] as number[],
      ...(await openService(environment, directory)),
    })
  }
  try {
    for (let index = 0; index < turns + 50; index += 1) {
      for (const { client, samples } of ways) {
        await time(index < 50 ? [] : samples, () => client.post('/api/chat', { content: question(index) }))
      }
    }
  } finally {
    for (const { close } of ways) await close()
    await double.close()
  }
  const figures = ways.map(({ memories, samples }) => ({
    memories,
    p50Ms: round(quantile(samples, 0.5)),
    p99Ms: round(quantile(samples, 0.99)),
  }))
  const [least, most] = figures
  // A service deletes its directory when it closes, so this measurement has its own.
  const alone = join(root, 'alone')
  writeLedger(alone, many)
  const blocking = await benchMainThread(alone, Math.min(turns, 60))
  rmSync(root, { recursive: true, force: true })
  return {
    turns,
    ways: figures,
    p99Ratio: least && most ? Number((most.p99Ms / least.p99Ms).toFixed(2)) : null,
    mainThread: blocking,
  }
}

type Held = {
  readonly p50Ms: number
  readonly p90Ms: number
  readonly maxMs: number
  /** Likewise for each single repetition, including all other load. */
  readonly onceMaxMs: number
  readonly onceOver2Ms: number
  /** Rounds in which the work itself took longer than 2 ms. */
  readonly over2Ms: number
}

/** How long memory holds the main thread in one turn of the event loop, for each kind of work. */
async function benchMainThread(directory: string, rounds: number) {
  const newId = createIds(Date.now)
  const storage = await openStorage({
    directory,
    nowMs: Date.now,
    newId,
    onWarning: () => undefined,
    onFatal: (error) => {
      throw error
    },
    verifyAfterMs: 3_600_000,
  })
  const queries = openTestQueries(directory)
  const { log } = createLog({
    level: 'error',
    write: (line) => process.stderr.write(line),
    secretValues: () => [],
  })
  const memory = buildMemory({
    storage,
    queries,
    model: () => ({ utility: null, embedding: null }) as Partial<ModelService> as ModelService,
    directory,
    documents: { document: () => null, writeDocument: () => undefined },
    timezone: () => 'Europe/Berlin',
    isHalted: () => false,
    newId,
    nowMs: Date.now,
    log,
  })
  const { erasures } = buildErasing({
    storage,
    queries,
    kysely: new Kysely({ dialect: new SqliteDialect({ database: storage.views }) }),
    memory,
    forgetVectors: memory.forgetVectors,
    spanSeqs: () => [],
    adaptationSeqs: () => [],
    importedSeqs: () => [],
    copiesFrom: () => [],
    backupsHolding: async () => null,
    removeAdaptationFiles: async () => undefined,
    nowMs: Date.now,
    newId,
    onFault: (error) => log.error({ err: error }, 'erasing failed'),
  })
  const work: Readonly<Record<string, (index: number) => Promise<unknown>>> = {
    // The baseline: what the machine adds to an idle loop.
    nothing: () => new Promise((resolve) => setTimeout(resolve, 20)),
    recall: async (index) => {
      const text = question(index)
      const cue = {
        turnId: `t${index}`,
        conversationId: 'conversation',
        spanId: null,
        channel: 'chat',
      } as const
      const { facts } = await memory.recall({
        ...cue,
        text,
        beforeSeq: Number.MAX_SAFE_INTEGER,
        inContextSeqs: new Set(),
      })
      if (facts.length > 0) await storage.append(facts)
    },
    learn: async (index) => {
      const envelope = {
        conversationId: 'conversation',
        spanId: 'span',
        channel: 'chat',
        turnId: `l${index}`,
      } as const
      const text = `I like ${thing(index)} ${index} music. I live in the ${place(index)} of house ${index}.`
      await storage.append([
        { type: 'chat.message.received', actor: 'owner', ...envelope, facts: {}, body: { text } },
        { type: 'chat.reply.sent', actor: 'delegate', ...envelope, facts: {}, body: { text: 'All right.' } },
      ])
      await memory.settled(10_000)
    },
    list: () => memory.api.list({ q: null, limit: 50, beforeSeq: null }),
    search: (index) => memory.api.list({ q: thing(index), limit: 50, beforeSeq: null }),
    insights: () => memory.api.insights(),
    forget: (index) => erasures.eraseNow({ kind: 'memory', id: `memory-${index}` }),
  }
  memory.start()
  await storage.catchUpLagging()
  const figures: Record<string, Held> = {}
  for (const [name, run] of Object.entries(work)) {
    for (let index = 0; index < WARM_ROUNDS; index += 1) await run(index)
    const singles: number[] = []
    const longest: number[] = []
    for (let each = 0; each < rounds; each += 1) {
      const holds: number[] = []
      for (let time = 0; time < TIMES; time += 1)
        holds.push(await longestHold(() => run(WARM_ROUNDS + each * TIMES + time)))
      singles.push(...holds)
      longest.push(Math.min(...holds))
    }
    figures[name] = {
      p50Ms: round(quantile(longest, 0.5)),
      p90Ms: round(quantile(longest, 0.9)),
      maxMs: round(Math.max(...longest)),
      onceMaxMs: round(Math.max(...singles)),
      onceOver2Ms: singles.filter((heldMs) => heldMs > MAX_HELD_MS).length,
      over2Ms: longest.filter((heldMs) => heldMs > MAX_HELD_MS).length,
    }
  }
  await memory.close()
  await queries.close()
  await storage.close()
  return figures
}
