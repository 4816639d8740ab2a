import { expect, onTestFinished, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { openErasing } from '../support/erasing.ts'
import { exampleOf } from '../support/facts.ts'
import { openTestQueries, type TestQueries } from '../support/queries.ts'
import { openTestStorage } from '../support/storage.ts'
import { said } from '../support/writer.ts'

test('retries an erasure whose last plan fails, with all its words', async () => {
  const directory = testDirectory()
  let nowMs = Date.UTC(2030, 0, 1)
  const storage = await openTestStorage(directory, { nowMs: () => nowMs })
  const queries = openTestQueries(directory)
  let failures = 0
  const ask: TestQueries['ask'] = (name, args) => {
    if (name !== 'planErasure' || failures === 0) return queries.ask(name, args)
    failures -= 1
    return Promise.reject(new Error('the thread ended'))
  }
  const faults: unknown[] = []
  const { erasures } = openErasing(
    storage,
    { ...queries, ask },
    { nowMs: () => nowMs, onFault: (error) => void faults.push(error) },
  )
  onTestFinished(async () => {
    await erasures.close()
    await queries.close()
    await storage.close()
  })
  const stored = exampleOf('memory.stored', { derivedFrom: [1] })
  if (stored.type !== 'memory.stored') throw new Error('no memory')
  const words = { subject: 'owner', slot: '', value: 'zanderbrick', quote: 'I like zanderbrick' }
  const keys = { canonicalKey: 'k', slotKey: '', statementKey: '' }
  await storage.append([
    said('I like zanderbrick'),
    {
      ...stored,
      facts: { ...stored.facts, memoryId: 'm', sourceSeqs: [1], supersedes: null, linkedTo: null },
      body: { text: 'I like zanderbrick', ...words, ...keys },
    },
  ])
  erasures.start()
  await erasures.request({ kind: 'memory', id: 'm' })
  const reply = { type: 'chat.reply.sent', actor: 'delegate', facts: {} } as const
  const appended = await storage.append([
    { ...reply, derivedFrom: [1], body: { text: 'Zanderbrick for dinner, or soup?' } },
  ])
  const seq = (appended.status === 'appended' && appended.events[0]?.seq) || 0
  failures = 1
  nowMs += 61_000
  await expect.poll(() => erasures.list(null, 1).erasures[0]?.status).toBe('erased')
  expect(faults).toHaveLength(1)
  const [left] = storage.ledger.readSeqs([seq])
  expect(left?.erased).toBe(true)
  const copies = storage.ledger.readAfter(seq, 100).filter((event) => event.type === 'reply.redacted')
  expect(copies).toMatchObject([{ body: { text: '[erased] for dinner, or soup?' } }])
})

test('begins no further erasure once it closes, and carries it out at the next start', async () => {
  const directory = testDirectory()
  let nowMs = Date.UTC(2030, 0, 1)
  const storage = await openTestStorage(directory, { nowMs: () => nowMs })
  const queries = openTestQueries(directory)
  const gate = Promise.withResolvers<void>()
  let isHeld = false
  const plan: TestQueries['ask'] = async (name, args) => {
    if (name === 'planErasure' && isHeld) await gate.promise
    return queries.ask(name, args)
  }
  const open = () => openErasing(storage, { ...queries, ask: plan }, { nowMs: () => nowMs }).erasures
  const [first, second] = [open(), open()]
  onTestFinished(async () => {
    await second.close()
    await queries.close()
    await storage.close()
  })
  await storage.append([said('one'), said('two')])
  for (const id of ['1', '2']) await first.request({ kind: 'message', id })
  const erased = () => first.list(null, 2).erasures.filter(({ status }) => status === 'erased').length
  isHeld = true
  nowMs += 61_000
  first.start()
  const started = () =>
    storage.ledger.readAfter(0, 100).filter(({ type }) => type === 'erasure.started').length
  await expect.poll(started).toBe(1)
  const closed = first.close()
  gate.resolve()
  await closed
  expect([started(), erased()]).toEqual([1, 1])
  second.start()
  await expect.poll(erased).toBe(2)
})
