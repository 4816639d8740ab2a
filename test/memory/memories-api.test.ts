import { expect, test } from 'vitest'
import { FIRST_MEMORY_ID } from '../../projections/recall-entries.ts'
import { defaultMemoryConfig } from '../../src/memory/config.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { startWholeService, type WholeService } from '../support/service.ts'
import { openMind } from './mind.ts'
import { scriptedModel } from './scripted-model.ts'

async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const value = await read()
    if (isSo(value)) return value
    if (Date.now() > deadline) throw new Error(`timed out: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const list = async (service: WholeService, query = '') =>
  (await service.client.get(`/api/memories${query}`)).json

async function learned(service: WholeService, count: number) {
  return until(
    () => list(service),
    (answer) => answer.count === count,
  )
}

test('lists, searches, pages and forgets memories for good', async () => {
  const service = await startWholeService()
  const said = ['My locker code is 4711.', 'I live in Porto.', "I'm allergic to papaya."]
  for (const content of said) await service.client.post('/api/chat', { content })
  const { memories } = await learned(service, 3)
  expect(memories.map(({ text }: { text: string }) => text)).toEqual([
    "I'm allergic to papaya",
    'I live in Porto',
    'My locker code is 4711',
  ])
  const page = (await service.client.get('/api/timeline')).json
  for (const memory of memories) {
    expect(memory).toMatchObject({
      id: expect.any(String),
      kind: expect.any(String),
      reinforcements: 0,
      createdAt: expect.stringMatching(/Z$/),
      lastReinforcedAt: null,
      sources: [{ seq: expect.any(Number), conversationId: expect.any(String) }],
    })
    expect(memory.strength).toBeGreaterThan(0.5)
    expect(memory.strength).toBeLessThanOrEqual(1)
    const source = page.events.find(({ seq }: { seq: number }) => seq === memory.sources[0].seq)
    expect(source.payload.text).toContain(memory.text)
  }

  const first = await list(service, '?limit=2')
  expect(first).toMatchObject({ count: 3, nextCursor: expect.any(String) })
  const rest = await list(service, `?limit=2&cursor=${first.nextCursor}`)
  expect(rest).toMatchObject({ count: 3, nextCursor: null })
  // Strengths fade while the test runs.
  const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id)
  expect(idsOf([...first.memories, ...rest.memories])).toEqual(idsOf(memories))
  const found = await list(service, '?q=locker')
  expect(found).toMatchObject({ count: 1, memories: [{ text: 'My locker code is 4711' }] })
  for (const unknown of ['nothing-of-the-kind', 'chat', 'locker+inner'])
    expect(await list(service, `?q=${unknown}`), unknown).toEqual({
      memories: [],
      count: 0,
      nextCursor: null,
    })
  expect((await service.client.get('/api/memories?limit=0')).status).toBe(400)

  const [{ id }] = found.memories
  expect((await service.client.delete(`/api/memories/${id}`)).status).toBe(204)
  expect((await service.client.delete(`/api/memories/${id}`)).status).toBe(404)
  await service.client.post('/api/chat', { content: 'What is my locker code?' })
  await service.client.post('/api/chat', { content: "I'm allergic to papaya." })
  await until(
    () => list(service),
    (answer) => answer.memories.some((memory: { reinforcements: number }) => memory.reinforcements > 0),
  )
  expect(JSON.stringify(await list(service))).not.toContain('4711')
  expect((await list(service)).count).toBe(2)
})

test('replaces a memory by its correction and undoes it', async () => {
  const service = await startWholeService()
  const said = (content: string) => service.client.post('/api/chat', { content })
  const texts = async () => (await list(service)).memories.map(({ text }: { text: string }) => text)
  await said('I live in Porto.')
  await learned(service, 1)
  await said('Actually, I live in Graz now.')
  await until(texts, ([text]) => text?.includes('Graz') === true)
  expect(await texts()).toHaveLength(1)
  const { recentEvents } = (await service.client.get('/api/memories/insights')).json
  const overridden = recentEvents.find(({ type }: { type: string }) => type === 'memory.overridden')
  expect(overridden.payload.text).toBe('I live in Porto')
  const undo = () => service.client.post(`/api/memories/${overridden.payload.memoryId}/restore`)
  expect((await undo()).json).toEqual({ restored: true })
  expect(await texts()).toEqual(['I live in Porto'])
  expect((await undo()).status).toBe(409)
  expect((await service.client.post('/api/memories/unknown/restore')).status).toBe(404)
})

test('restores a memory that waits for its erasure only by undoing the erasure', async () => {
  const service = await startWholeService()
  await service.client.post('/api/chat', { content: 'I live in Porto.' })
  await learned(service, 1)
  const [{ id }] = (await list(service)).memories
  const erasure = await service.client.post('/api/erasures', { kind: 'memory', id })
  expect(erasure.status).toBe(201)
  expect((await service.client.post(`/api/memories/${id}/restore`)).status).toBe(404)
  expect((await list(service)).memories).toEqual([])
})

test('lists the keywords of a memory, and erases them with it', async () => {
  const said = [
    { quote: 'I work at Siemens', text: 'The owner works at Siemens', keywords: ['job', 'employer'] },
    { quote: 'I like figs', text: 'The owner likes figs' },
  ]
  const utility = scriptedModel(({ turns }) =>
    said.filter(({ quote }) => turns.some(({ text, quotable }) => quotable && text.includes(quote))),
  )
  const mind = await openMind({ utility })
  const listed = async () =>
    (await mind.memory.api.list({ q: null, limit: 10, beforeSeq: null })).memories.map(
      ({ text, keywords }) => [text, keywords],
    )
  await mind.say('I work at Siemens.')
  await mind.say('I like figs.')
  await mind.settle()
  expect(await listed()).toEqual([
    ['The owner likes figs', undefined],
    ['The owner works at Siemens', ['job', 'employer']],
  ])
  const recalled = async () =>
    (await mind.say('Who is my employer?', { conversationId: 'later', reply: null })).recalled.text
  expect(await recalled()).toContain('Siemens')
  const indexed = () =>
    mind.storage.views
      .prepare('SELECT rowid FROM recall_index WHERE terms MATCH ? AND rowid >= ?')
      .all('employ*', FIRST_MEMORY_ID)
  expect(indexed()).toHaveLength(1)

  const [, work] = (await mind.memory.api.list({ q: null, limit: 10, beforeSeq: null })).memories
  await mind.forget(work?.id ?? '')
  await mind.settle()
  expect(await listed()).toEqual([['The owner likes figs', undefined]])
  expect(await recalled()).toBeNull()
  const [stored] = mind.facts('memory.stored')
  expect(stored).toMatchObject({ body: null })
  expect(indexed()).toEqual([])
})

test('reports counts in insights and operations, but no content', async () => {
  const service = await startWholeService()
  await service.client.post('/api/chat', { content: 'My car is a canary-yellow Saab.' })
  await learned(service, 1)
  await service.client.post('/api/chat', { content: 'My car is a canary-yellow Saab.' })
  const insights = await until(
    async () => (await service.client.get('/api/memories/insights')).json,
    ({ deduplication }) => deduplication.reinforced === 1,
  )
  expect(Object.keys(insights).sort()).toEqual(['deduplication', 'recentEvents', 'runtime', 'store'])
  expect(insights.store).toMatchObject({ total: 1, active: 1, forgotten: 0 })
  expect(insights.runtime.extraction).toMatchObject({ method: 'rules', lastFailure: null })
  expect(insights.recentEvents.map(({ type }: { type: string }) => type)).toContain('memory.stored')

  const { memory } = (await service.client.get('/api/session/operations')).json
  expect(memory).toEqual({
    scope: 'window',
    surfaced: expect.any(Number),
    suppressed: expect.any(Number),
    lateResults: { surfaced: 0, duplicate: 0, irrelevant: 0, expired: 0 },
    deduplication: {
      scope: 'process_runtime',
      since: expect.stringMatching(/Z$/),
      candidates: 2,
      inserted: 1,
      reinforced: 1,
      merged: 0,
      discarded: 0,
      suppressed: expect.any(Number),
    },
  })
  expect((await service.client.get('/api/session/operations')).text).not.toMatch(/canary|Saab/)
})

test('accepts partial settings within bounds and keeps them across a restart', async () => {
  const service = await startWholeService()
  const read = await service.client.get('/memory-config', { headers: { accept: 'application/json' } })
  expect(read.json).toEqual(defaultMemoryConfig)
  const put = await service.client.put('/memory-config', {
    maxInjectedTokens: 300,
    arbitrator: { enabled: true },
  })
  const changed = {
    ...defaultMemoryConfig,
    maxInjectedTokens: 300,
    arbitrator: { ...defaultMemoryConfig.arbitrator, enabled: true },
  }
  expect([put.status, put.json]).toEqual([200, changed])
  for (const wrong of [{ relevanceThreshold: 2 }, { surprise: 1 }, { arbitrator: { timeoutMs: 0 } }, []]) {
    const refused = await service.client.put('/memory-config', wrong)
    expect([refused.status, refused.headers['content-type']]).toEqual([
      400,
      expect.stringContaining('problem+json'),
    ])
  }
  const { events } = (await service.client.get('/api/timeline')).json
  expect(events.at(-1)).toMatchObject({ type: 'settings.changed', payload: { keys: ['memory-config'] } })
  await service.stop()
  const again = await startWholeService({ directory: service.directory })
  expect((await again.client.get('/memory-config')).json).toEqual(changed)
  // A browser that follows the link gets the page.
  const page = await again.client.get('/memory-config', { headers: { accept: 'text/html,*/*' } })
  expect(page.headers['content-type']).toContain('text/html')
})

test('learns after the reply, so that a hanging model delays no turn', async () => {
  const double = await startModelDouble()
  double.answerWith(() => ({ text: 'Noted.' }))
  double.answerMemoryWith(() => ({ fault: { kind: 'hang', at: 'headers' } }))
  const environment = {
    OPENAI_API_KEY: 'sk-a-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  }
  const service = await startWholeService({ environment })
  for (const content of ['I live in Porto.', 'I own a canoe.', 'I like figs.']) {
    const answer = await service.client.post('/api/chat', { content })
    expect([answer.status, answer.json.reply.text]).toEqual([200, 'Noted.'])
  }
  await service.stop()
  await double.close()
})

test('keeps a message after all, as often as asked, if only the owner’s wish not to keep it barred it', async () => {
  const service = await startWholeService()
  const { client } = service
  const [secret, plain] = [{ content: 'I live in Porto, off the record' }, { content: 'Good morning' }]
  for (const message of [secret, plain]) await client.post('/api/chat', message)
  const events = async () => (await client.get('/api/timeline')).json.events
  const { payload } = await until(
    async () => (await events()).find(({ type }: { type: string }) => type === 'memory.sources.barred'),
    (found) => found !== undefined,
  )
  const [seq] = payload.sourceSeqs
  const keep = (of: number | string) => client.post(`/api/timeline/events/${of}/keep`)
  for (let time = 0; time < 2; time += 1)
    expect(await keep(seq)).toMatchObject({ status: 200, json: { kept: true } })
  const { memories } = await learned(service, 1)
  expect(memories).toMatchObject([{ sources: [{ seq }] }])
  const other = (await events()).find(
    (event: { payload: { text?: string } }) => event.payload.text === 'Good morning',
  )
  expect(await keep(other.seq)).toMatchObject({ status: 409, json: { code: 'nothing_to_undo' } })
  expect((await keep(999_999)).status).toBe(404)
  expect((await keep('x')).status).toBe(400)
})
