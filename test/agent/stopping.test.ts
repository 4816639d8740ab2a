import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

test('reports not ready while shutting down, and finishes the answer in progress', async () => {
  const model = await startModelDouble()
  onTestFinished(() => model.close())
  const service = await startWholeService({
    environment: { OPENAI_BASE_URL: model.url, CHAT_MODEL: 'test-model' },
  })
  const { client } = service
  const release = Promise.withResolvers<void>()
  onTestFinished(() => release.resolve())
  model.reply({ text: 'At noon.', pause: { at: 'headers', until: release.promise } })
  const answer = client.post('/api/chat', { content: 'When does the ferry leave?' })
  await expect.poll(() => model.requests('/responses').length).toBe(1)
  expect((await client.get('/ready')).status).toBe(200)
  const stopped = service.stop()
  await expect
    .poll(async () => (await client.get('/ready')).json)
    .toMatchObject({ status: 503, code: 'not_ready', checks: { reactors: { ok: false } } })
  expect((await client.get('/health')).status).toBe(200)
  release.resolve()
  expect((await answer).json.reply.text).toBe('At noon.')
  await stopped
})

test('tells a message whose turn will not run any more that it is kept', async () => {
  const model = await startModelDouble()
  onTestFinished(() => model.close())
  const directory = testDirectory()
  const environment = { OPENAI_BASE_URL: model.url, CHAT_MODEL: 'test-model' }
  const service = await startWholeService({ directory, environment, waits: { workGraceMs: 50 } })
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  model.reply({ text: 'Too late.', pause: { at: 'headers', until: never.promise } })
  const asked = { content: 'When does the ferry leave?', clientMessageId: 'm1' }
  const answer = service.client.post('/api/chat', asked)
  const stream = service.client.post('/api/chat', asked, { headers: { accept: 'text/event-stream' } })
  await expect.poll(() => model.requests('/responses').length).toBe(1)
  await service.stop()
  expect(await answer).toMatchObject({ status: 503, json: { code: 'stopping' } })
  expect((await stream).text).toMatch(/event: chat.error\ndata: .*"code":"stopping".*\n\nevent: chat.done/)

  model.reply({ text: 'At noon.' })
  const again = await startWholeService({ directory, environment })
  expect((await again.client.post('/api/chat', asked)).json.reply.text).toBe('At noon.')
})

test('stops the running turn of a conversation before it ends the conversation', async () => {
  const model = await startModelDouble()
  onTestFinished(() => model.close())
  const { client } = await startWholeService({
    environment: { OPENAI_BASE_URL: model.url, CHAT_MODEL: 'test-model' },
  })
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  model.reply({ text: 'Too late.', pause: { at: 'headers', until: never.promise } })
  const answer = client.post('/api/chat', { content: 'When does the ferry leave?' })
  await expect.poll(() => model.requests('/responses').length).toBe(1)
  const [{ id }] = (await client.get('/api/conversations')).json.conversations
  expect((await client.post(`/api/conversations/${id}/end`)).status).toBe(200)
  await answer
  const { events } = (await client.get(`/api/conversations/${id}/events`)).json
  const types = events.map(({ type }: { type: string }) => type)
  expect(types.slice(-2)).toEqual(['span.closed', 'conversation.ended'])
})
