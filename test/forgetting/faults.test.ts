import { Kysely, SqliteDialect } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { buildErasing } from '../../src/erasing.ts'
import { openQueries, type Queries } from '../../src/storage/queries.ts'
import { testDirectory } from '../support/directory.ts'
import { exampleOf } from '../support/facts.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId, said } from '../support/writer.ts'

test('an erasure whose last plan fails is tried again with all its words', async () => {
  const directory = testDirectory()
  let nowMs = Date.UTC(2030, 0, 1)
  const storage = await openTestStorage(directory, { nowMs: () => nowMs })
  const queries = openQueries(directory)
  let failures = 0
  const ask: Queries['ask'] = (name, args) => {
    if (name !== 'planErasure' || failures === 0) return queries.ask(name, args)
    failures -= 1
    return Promise.reject(new Error('the thread ended'))
  }
  const faults: unknown[] = []
  const { erasures } = buildErasing({
    storage,
    queries: { ...queries, ask },
    kysely: new Kysely({ dialect: new SqliteDialect({ database: storage.views }) }),
    memory: {
      forgettable: {
        memory: (id) => queries.ask('forgettableMemory', id),
        words: (words) => queries.ask('forgettableWords', words),
        leftoverSeqs: () =>
          storage.views
            .prepare<[], number>(
              "SELECT storedSeq FROM memories WHERE status = 'deleted' AND text IS NOT NULL",
            )
            .pluck()
            .all(),
      },
      exclusively: (work) => work(),
    },
    forgetVectors: async () => undefined,
    spanSeqs: () => [],
    adaptationSeqs: () => [],
    removeAdaptationFiles: async () => undefined,
    nowMs: () => nowMs,
    newId,
    onFault: (error) => void faults.push(error),
  })
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
  await expect.poll(() => erasures.list(null, 1).erasures[0]?.status, { timeout: 60_000 }).toBe('erased')
  expect(faults).toHaveLength(1)
  const [left] = storage.ledger.readSeqs([seq])
  expect(left?.erased).toBe(true)
  const copies = storage.ledger.readAfter(seq, 100).filter((event) => event.type === 'reply.redacted')
  expect(copies).toMatchObject([{ body: { text: '[erased] for dinner, or soup?' } }])
})
