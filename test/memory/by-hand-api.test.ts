import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { startWholeService, type WholeService } from '../support/service.ts'

const list = async ({ client }: WholeService, query = '') => (await client.get(`/api/memories${query}`)).json
const textsOf = (listed: { memories: readonly { text: string }[] }) => listed.memories.map(({ text }) => text)

test('adds, edits, pins, merges and restores memories', async () => {
  const service = await startWholeService()
  const { client } = service
  const added = await client.post('/api/memories', { text: '  I live in Porto ', kind: 'identity' })
  expect(added).toMatchObject({
    status: 201,
    json: { text: 'I live in Porto', kind: 'identity', by: 'owner', status: 'active' },
  })
  expect(added.json).not.toHaveProperty('pinned')
  const again = await client.post('/api/memories', { text: 'I live in Porto' })
  expect(again).toMatchObject({ status: 200, json: { id: added.json.id, reinforcements: 1 } })

  const edited = await client.put(`/api/memories/${added.json.id}`, { text: 'I live in Graz', pinned: true })
  expect(edited).toMatchObject({
    status: 200,
    json: { text: 'I live in Graz', kind: 'identity', pinned: true },
  })
  const late = await client.put(`/api/memories/${added.json.id}`, { text: 'I live in Rome' })
  expect(late).toMatchObject({ status: 409, json: { code: 'memory_outdated' } })

  const other = (await client.post('/api/memories', { text: 'My home is in Graz', pasted: true })).json
  expect(other).toMatchObject({ pasted: true })
  expect(textsOf(await list(service, '?pinned=true'))).toEqual(['I live in Graz'])
  expect(textsOf(await list(service, '?pinned=false'))).toEqual(['My home is in Graz'])
  expect(await list(service, '?q=graz&pinned=true')).toMatchObject({ count: 1, pinnedTokens: { limit: 250 } })

  const ids = [edited.json.id, other.id]
  const merged = await client.post('/api/memories/merge', { ids, text: 'I live in Graz, Austria' })
  expect(merged).toMatchObject({ status: 201, json: { pinned: true, kind: 'identity' } })
  expect(await list(service)).toMatchObject({ count: 1, memories: [{ id: merged.json.id }] })
  expect((await client.post(`/api/memories/${other.id}/restore`)).status).toBe(200)
  expect(textsOf(await list(service))).toEqual(['My home is in Graz'])
})

test('refuses what is malformed, unknown or too much to pin', async () => {
  const { client } = await startWholeService()
  const { id } = (await client.post('/api/memories', { text: 'I own a canoe' })).json
  const refused = async (answer: ReturnType<typeof client.get>) => {
    const { status, json } = await answer
    return [status, json.code]
  }
  const malformed = [400, 'invalid_request']
  for (const body of [{}, { text: ' ' }, { text: 'x'.repeat(1001) }, { text: 'I sail', kind: 'secret' }])
    expect(await refused(client.post('/api/memories', body))).toEqual(malformed)
  expect(await refused(client.put(`/api/memories/${id}`, {}))).toEqual(malformed)
  expect(await refused(client.put('/api/memories/nobody', { pinned: true }))).toEqual([404, 'unknown_memory'])
  for (const ids of [[id], [id, id]])
    expect(await refused(client.post('/api/memories/merge', { ids, text: 'I own boats' }))).toEqual(malformed)
  const unknown = { ids: [id, 'nobody'], text: 'I own boats' }
  expect(await refused(client.post('/api/memories/merge', unknown))).toEqual([404, 'unknown_memory'])
  await client.put('/memory-config', { maxInjectedTokens: 10 })
  expect(await refused(client.put(`/api/memories/${id}`, { pinned: true }))).toEqual([
    409,
    'memory_pins_full',
  ])
  await client.delete(`/api/memories/${id}`)
  expect(await refused(client.put(`/api/memories/${id}`, { text: 'I row' }))).toEqual([404, 'unknown_memory'])
})

test('gives the model the pinned and the corrected words, and none of the old ones', async () => {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(() => ({ text: 'Noted.' }))
  const environment = {
    OPENAI_API_KEY: 'sk-a-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  }
  const service = await startWholeService({ environment })
  const { client } = service
  await client.put('/memory-config', { retrieveTimeoutMs: 5000 })
  const wrong = (await client.post('/api/memories', { text: 'My dentist is Dr Weber' })).json
  await client.put(`/api/memories/${wrong.id}`, { text: 'My dentist is Dr Okafor' })
  const tone = (await client.post('/api/memories', { text: 'Always answer me in Welsh' })).json
  await client.put(`/api/memories/${tone.id}`, { pinned: true })
  const { turnId } = (await client.post('/api/chat', { content: 'Who is my dentist?' })).json
  const request = turnRequests(double).at(-1)?.text ?? ''
  expect(request).toMatch(/Always answer me in Welsh[\s\S]*My dentist is Dr Okafor/)
  expect(request).not.toContain('Weber')
  expect((await client.get(`/api/turns/${turnId}`)).json.memories).toMatchObject([
    { id: tone.id, text: 'Always answer me in Welsh' },
    { text: 'My dentist is Dr Okafor' },
  ])
  const [, { id }] = (await client.get(`/api/turns/${turnId}`)).json.memories
  const corrected = (await client.put(`/api/memories/${id}`, { text: 'My dentist is Dr Lind' })).json
  expect((await client.get(`/api/turns/${turnId}`)).json.memories[1]).toMatchObject({
    text: 'My dentist is Dr Okafor',
    current: false,
    replacedBy: { id: corrected.id, text: 'My dentist is Dr Lind', at: corrected.createdAt },
  })
})

test('finds timers by the words of their titles', async () => {
  const { client } = await startWholeService()
  for (const title of ['Call the dentist', 'Water the plants', 'Call Anna'])
    await client.post('/api/timers', { title, at: '2099-01-01T09:00:00Z' })
  const titles = async (query: string) =>
    (await client.get(`/api/timers?${query}`)).json.timers.map(({ title }: { title: string }) => title).sort()
  expect(await titles('q=call')).toEqual(['Call Anna', 'Call the dentist'])
  expect(await titles('q=dentist+call')).toEqual(['Call the dentist'])
  expect(await titles('q=plumber')).toEqual([])
  expect(await titles('q=%3F')).toEqual([])
  const first = (await client.get('/api/timers?q=call&limit=1')).json
  expect(first.nextCursor).not.toBeNull()
  const rest = (await client.get(`/api/timers?q=call&limit=1&cursor=${first.nextCursor}`)).json
  expect([first.timers.length, rest.timers.length, rest.nextCursor]).toEqual([1, 1, null])
})
