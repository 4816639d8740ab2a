import { expect, test } from 'vitest'
import type { EventOf } from '../../../ledger/event.ts'
import type { Hit } from '../../../src/memory/recall/ranker.ts'
import type { RecallQuestion } from '../../../src/memory/recall/recall-port.ts'
import { type Mind, openMind } from '../mind.ts'

const hit = (seq: number, kind: 'turn' | 'memory', relevance = 0.9): Hit => ({
  seq,
  kind,
  speaker: 'owner',
  atMs: Date.UTC(2030, 0, 1),
  score: relevance,
  relevance,
})

/** An engine whose answers the test settles. */
function heldEngine() {
  const waiting: { query: RecallQuestion; settle: PromiseWithResolvers<readonly Hit[]> }[] = []
  return {
    waiting,
    engine: (query: RecallQuestion) => {
      const settle = Promise.withResolvers<readonly Hit[]>()
      waiting.push({ query, settle })
      return settle.promise
    },
  }
}

const recalledFacts = (mind: Mind) =>
  mind.facts('memory.recalled').flatMap((event) => (event.type === 'memory.recalled' ? [event.facts] : []))
const suppressedFacts = (mind: Mind) =>
  mind
    .facts('memory.recall.suppressed')
    .flatMap((event) =>
      event.type === 'memory.recall.suppressed'
        ? [event.facts as EventOf<'memory.recall.suppressed'>['facts']]
        : [],
    )

/** A mind with one stored memory and an engine held by the test. */
async function mindWithTea() {
  const held = heldEngine()
  let isHeld = false
  const mind = await openMind({
    engine: (query) => (isHeld ? held.engine(query) : Promise.resolve([])),
    config: { retrieveTimeoutMs: 30 },
  })
  await mind.say('I like oolong tea')
  await mind.settle()
  const [tea] = mind.known()
  if (!tea) throw new Error('no memory was stored')
  isHeld = true
  return { mind, held, tea, free: () => (isHeld = false) }
}

test('recalls a memory as a dated line and records it as a fact of the turn', async () => {
  const mind = await openMind()
  await mind.say('I like oolong tea')
  await mind.settle()
  const [tea] = mind.known()
  const { recalled, turnId } = await mind.say('Which tea should I order?')
  expect(recalled.text).toMatch(/2030-01-01 memory \(active\): I like oolong tea/)
  expect(mind.facts('memory.recalled')).toMatchObject([
    { turnId, facts: { ids: [tea?.memoryId], late: false } },
  ])
  expect(mind.known()[0]?.lastSurfacedAt).not.toBeNull()
})

test('does not strengthen a memory by recalling it', async () => {
  const mind = await openMind()
  await mind.say('I like oolong tea')
  await mind.settle()
  for (let turn = 0; turn < 5; turn += 1)
    await mind.say('Which tea should I order?', { reply: 'Any you like.' })
  await mind.settle()
  expect(mind.known()).toMatchObject([{ reinforcements: 0 }])
  await mind.say('Which tea should I order?', { reply: 'Oolong tea, as ever.' })
  await mind.settle()
  expect(mind.facts('memory.reinforced')).toMatchObject([{ facts: { use: 'citation' } }])
})

test('recalls nothing if nothing fits', async () => {
  const mind = await openMind()
  await mind.say('I like oolong tea')
  await mind.settle()
  const { recalled } = await mind.say('Quelle heure est-il?')
  expect(recalled).toMatchObject({ text: null, seqs: [] })
})

test('serves a late result in the next turn, and records it only then', async () => {
  const { mind, held, tea } = await mindWithTea()
  const first = await mind.say('Which tea should I order?')
  expect(first.recalled).toMatchObject({ text: null, facts: [] })
  held.waiting[0]?.settle.resolve([hit(tea.storedSeq, 'memory')])
  await new Promise((resolve) => setImmediate(resolve))
  expect(recalledFacts(mind)).toEqual([])
  const next = mind.say('So which tea, then?')
  await until(() => held.waiting.length === 2)
  held.waiting[1]?.settle.resolve([])
  expect((await next).recalled.text).toContain('I like oolong tea')
  expect(recalledFacts(mind)).toMatchObject([{ ids: [tea.memoryId], late: true }])
})

test('drops a late result as a duplicate, irrelevant or expired after two turns', async () => {
  const { mind, held, tea } = await mindWithTea()
  await mind.say('Which tea should I order?')
  held.waiting[0]?.settle.resolve([hit(tea.storedSeq, 'memory')])
  const repeated = mind.say('Which tea was it?')
  await until(() => held.waiting.length === 2)
  held.waiting[1]?.settle.resolve([hit(tea.storedSeq, 'memory')])
  await repeated
  expect(suppressedFacts(mind)).toMatchObject([{ ids: [tea.memoryId], late: true, reason: 'duplicate' }])

  await mind.say('Which tea?')
  held.waiting[2]?.settle.resolve([hit(tea.storedSeq, 'memory')])
  const other = mind.say('Quelle heure est-il?')
  await until(() => held.waiting.length === 4)
  held.waiting[3]?.settle.resolve([])
  await other
  expect(suppressedFacts(mind).at(-1)).toMatchObject({
    ids: [tea.memoryId],
    late: true,
    reason: 'irrelevant',
  })

  for (let turn = 0; turn < 3; turn += 1) await mind.say('Which tea?')
  held.waiting[4]?.settle.resolve([hit(tea.storedSeq, 'memory')])
  await until(() => suppressedFacts(mind).length === 3)
  expect(suppressedFacts(mind).at(-1)).toMatchObject({ ids: [tea.memoryId], late: true, reason: 'expired' })
})

test('keeps a result within its conversation', async () => {
  const { mind, held, tea, free } = await mindWithTea()
  await mind.say('Which tea should I order?')
  held.waiting[0]?.settle.resolve([hit(tea.storedSeq, 'memory')])
  free()
  const other = await mind.say('Which tea should I order?', { conversationId: 'another' })
  expect(other.recalled.text).toBeNull()
  const same = await mind.say('Which tea should I order?')
  expect(same.recalled.text).toContain('I like oolong tea')
})

/** The result came too late for its turn. */
async function mindWithLateResult() {
  const { mind, held, tea } = await mindWithTea()
  await mind.say('Which tea should I order?')
  held.waiting[0]?.settle.resolve([hit(tea.storedSeq, 'memory')])
  await new Promise((resolve) => setImmediate(resolve))
  return { mind, tea }
}

test('expires waiting results when memory closes', async () => {
  const { mind, tea } = await mindWithLateResult()
  await mind.memory.close()
  expect(suppressedFacts(mind)).toMatchObject([{ ids: [tea.memoryId], late: true, reason: 'expired' }])
})

test('closes although the ledger refuses what expired', async () => {
  const { mind } = await mindWithLateResult()
  await mind.storage.close()
  await mind.memory.close()
  expect(mind.written.join('')).toContain('the ledger is closed')
})

test('answers a turn without recall if the engine fails', async () => {
  const mind = await openMind({ engine: () => Promise.reject(new Error('the thread died')) })
  expect((await mind.say('Hello there')).recalled).toEqual({ text: null, seqs: [], facts: [] })
  expect((await mind.memory.api.insights()).runtime.recall).toMatchObject({ queries: 1, failed: 1 })
})

test('does not recall what is already in the context', async () => {
  const mind = await openMind()
  const { seq } = await mind.say('I like oolong tea')
  await mind.settle()
  const recalled = await mind.memory.recall({
    text: 'Which tea should I order?',
    turnId: 'turn',
    conversationId: 'conversation',
    spanId: null,
    channel: 'chat',
    beforeSeq: Number.MAX_SAFE_INTEGER,
    inContextSeqs: new Set([seq]),
  })
  expect(recalled.text ?? '').not.toContain('oolong')
})

test('takes earlier messages as an explanation of a question, and not as the question', async () => {
  const mind = await openMind()
  for (const message of [
    'Aunt Gerda turns eighty on a Sunday in February',
    'Aunt Gerda wants a cake with cherries for that',
    'Where does aunt Gerda buy her cherries for cakes?',
  ])
    await mind.say(message)
  await mind.settle()
  expect((await mind.say('good night')).recalled.text).toBeNull()
  await mind.say('Aunt Gerda is coming')
  expect((await mind.say('How about the cake?')).recalled.text).toContain('cherries')
})

test('respects the limits on memories and tokens, and records what it drops', async () => {
  const mind = await openMind({ config: { maxInjectedMemories: 1 } })
  await mind.say('I like oolong tea')
  await mind.say('I like sencha tea')
  await mind.settle()
  await mind.say('Which tea should I order, oolong tea or sencha tea?')
  expect(recalledFacts(mind).at(-1)?.ids).toHaveLength(1)
  expect(suppressedFacts(mind)).toMatchObject([{ reason: 'budget', late: false }])
  mind.memory.config.put({ maxInjectedTokens: 0 })
  expect((await mind.say('Which tea?')).recalled.text).toBeNull()
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2))
}
