import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { createClient } from '../http/client.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD } from '../support/service.ts'
import { startServiceProcess } from '../torture/service-process.ts'

/** A service in a process of its own, told to stop while the model is answering. */
async function stopWhileAnswering() {
  const model = await startModelDouble()
  const directory = testDirectory()
  const start = () => startServiceProcess(directory, { OPENAI_BASE_URL: model.url, CHAT_MODEL: 'test-model' })
  const running = start()
  onTestFinished(async () => {
    await running.kill()
    await model.close()
  })
  const client = createClient(await running.listening)
  await client.post('/api/install', { password: PASSWORD, setupCode: running.setupCode() })
  const release = Promise.withResolvers<void>()
  onTestFinished(() => release.resolve())
  model.reply({ text: 'At noon.', pause: { at: 'headers', until: release.promise } })
  const answer = client
    .post('/api/chat', { content: 'When does the ferry leave?', clientMessageId: 'm1' })
    .catch(() => null)
  await expect.poll(() => model.requests('/responses').length, { timeout: 20_000 }).toBe(1)
  expect((await client.get('/ready')).status).toBe(200)
  const stopped = running.stop()
  return { model, client, answer, release, stopped, start }
}

test('told to stop while it answers, the service says that it is not ready, and finishes the answer', {
  timeout: 120_000,
}, async () => {
  const { client, answer, release, stopped } = await stopWhileAnswering()
  await expect
    .poll(async () => (await client.get('/ready')).json, { timeout: 5_000 })
    .toMatchObject({ status: 503, code: 'not_ready', checks: { reactors: { ok: false } } })
  expect((await client.get('/health')).status).toBe(200)
  release.resolve()
  expect((await answer)?.json.reply.text).toBe('At noon.')
  expect(await stopped).toBe(0)
})

test('told to stop while the model hangs, the service ends by itself, and answers after the next start', {
  timeout: 120_000,
}, async () => {
  const { model, stopped, start, release } = await stopWhileAnswering()
  expect(await stopped).toBe(0)
  release.resolve()
  model.answerWith(() => ({ text: 'At noon.' }))
  const again = start()
  onTestFinished(() => again.kill())
  const client = createClient(await again.listening)
  await client.post('/login', { password: PASSWORD })
  const answer = await client.post('/api/chat', {
    content: 'When does the ferry leave?',
    clientMessageId: 'm1',
  })
  expect(answer.json.reply.text).toBe('At noon.')
})
