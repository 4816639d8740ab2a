import { expect, test } from 'vitest'
import { filesHolding } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { BREAD, chatGptZip, conversationsOf, FERN, over, upload } from './exports.ts'

test('erases one conversation and a whole import: no byte of them is left, and they do not come back', async () => {
  const clock = { aheadMs: 0 }
  const service = await startWholeService({ nowMs: () => Date.now() + clock.aheadMs })
  const { client } = service
  const id = await upload(service, await chatGptZip())
  await over(service, id)
  const plan = (await client.get('/api/erasures.plan?kind=imported&id=chatgpt-fern')).json
  expect(plan.named).toEqual([
    { kind: 'import', count: 1, items: [expect.objectContaining({ text: 'Ferns indoors' })] },
  ])
  const erasure = (await client.post('/api/erasures', { kind: 'imported', id: 'chatgpt-fern' })).json
  expect((await conversationsOf(service)).length).toBe(1)
  expect((await client.get('/api/imported/chatgpt-fern')).status).toBe(404)
  expect(await conversationsOf(service, '?q=Lisbon')).toEqual([])
  expect((await client.post(`/api/erasures/${erasure.id}/undo`)).status).toBe(200)
  expect((await conversationsOf(service)).length).toBe(2)
  expect((await conversationsOf(service, '?q=Lisbon')).length).toBe(1)
  expect(filesHolding(service.directory, 'Lisbon')).not.toEqual([])

  const goneFor = async (target: object) => {
    const { id: erasureId } = (await client.post('/api/erasures', target)).json
    clock.aheadMs += 61_000
    const stateOf = async () => (await client.get(`/api/erasures/${erasureId}`)).json.status
    await expect.poll(stateOf).toBe('erased')
  }
  await goneFor({ kind: 'imported', id: 'chatgpt-fern' })
  expect(filesHolding(service.directory, 'Lisbon')).toEqual([])
  expect(filesHolding(service.directory, 'Ferns indoors')).toEqual([])
  expect(filesHolding(service.directory, 'Sourdough')).not.toEqual([])
  await goneFor({ kind: 'import', id })
  expect(filesHolding(service.directory, 'Sourdough')).toEqual([])
  expect(filesHolding(service.directory, 'chatgpt.zip')).toEqual([])
  expect(await over(service, await upload(service, await chatGptZip()))).toMatchObject({
    state: 'completed',
    messages: 0,
    known: 6,
  })
  expect(await conversationsOf(service)).toEqual([])
})

test('erases what an import adds to a conversation while its erasure can be undone', async () => {
  const clock = { aheadMs: 0 }
  const service = await startWholeService({ nowMs: () => Date.now() + clock.aheadMs })
  const { client } = service
  await over(service, await upload(service, await chatGptZip()))
  const { id } = (await client.post('/api/erasures', { kind: 'imported', id: 'chatgpt-fern' })).json
  const longer = { ...FERN, texts: [...FERN.texts, 'And in Reykjavik?', 'Less.'] }
  const done = await over(service, await upload(service, await chatGptZip([longer, BREAD])))
  expect(done).toMatchObject({ messages: 2, known: 6 })
  clock.aheadMs += 61_000
  const receipt = async () => (await client.get(`/api/erasures/${id}`)).json
  await expect.poll(async () => (await receipt()).status).toBe('erased')
  expect(await receipt()).toMatchObject({ events: 2, kinds: [{ kind: 'import', count: 2 }] })
  expect(await conversationsOf(service)).toMatchObject([{ id: 'chatgpt-bread' }])
  expect(await conversationsOf(service, '?q=Reykjavik')).toEqual([])
  expect(filesHolding(service.directory, 'Reykjavik')).toEqual([])
})

test('refuses to erase an import that is not over, and says to cancel it first', async () => {
  const service = await startWholeService()
  const { client } = service
  // It waits for the first one.
  const talks = Array.from({ length: 1500 }, (_, index) => ({ ...FERN, id: `fern${index}` }))
  const first = await upload(service, await chatGptZip(talks))
  const id = await upload(service, await chatGptZip([BREAD]))
  const refused = { status: 409, json: { code: 'import_running' } }
  expect(await client.get(`/api/erasures.plan?kind=import&id=${id}`)).toMatchObject(refused)
  expect(await client.post('/api/erasures', { kind: 'import', id })).toMatchObject(refused)
  for (const each of [first, id]) expect((await client.post(`/api/imports/${each}/cancel`)).status).toBe(204)
  expect((await client.post('/api/erasures', { kind: 'import', id })).status).toBe(201)
  expect((await client.post('/api/erasures', { kind: 'import', id: 'none' })).status).toBe(404)
})
