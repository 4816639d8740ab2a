// @module-tag long

import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { createClient } from '../http/client.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD } from '../support/service.ts'
import { startServiceProcess } from '../torture/service-process.ts'

test('answers a changed message once, whenever the process is killed', { timeout: 120_000 }, async () => {
  const model = await startModelDouble()
  onTestFinished(() => model.close())
  const directory = testDirectory()
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  let cookie: string | undefined

  async function start() {
    const service = startServiceProcess(directory, {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: model.url,
      CHAT_MODEL: 'test-model',
    })
    onTestFinished(() => service.kill())
    const client = createClient(await service.listening)
    if (cookie === undefined) {
      await client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode() })
      cookie = client.cookie()
    }
    client.useCookie(cookie)
    return { service, client }
  }
  const requestsWith = (words: string) =>
    turnRequests(model).filter(({ text }) => text.includes(words)).length
  const hang = () => model.reply({ text: 'Too late.', pause: { at: 'headers', until: never.promise } })

  const first = await start()
  hang()
  void first.client.post('/api/chat', { content: 'The shed in heliotrope.' }).catch(() => undefined)
  await expect.poll(() => requestsWith('heliotrope')).toBe(1)
  const { events } = (await first.client.get('/api/timeline')).json
  const { turnId } = events.find(({ type }: { type: string }) => type === 'chat.message.received')
  // The process dies while it answers the changed message, and has just stopped the other answer.
  hang()
  const changed = { content: 'The shed in vermilion.', replaces: turnId, clientMessageId: 'm1' }
  void first.client.post('/api/chat', changed).catch(() => undefined)
  await expect.poll(() => requestsWith('vermilion')).toBe(1)
  await first.service.kill()

  model.answerWith(() => ({ text: 'So vermilion it is.' }))
  const second = await start()
  expect((await second.client.post('/api/chat', changed)).json.reply.text).toBe('So vermilion it is.')
  expect(turnRequests(model).at(-1)?.text).not.toContain('heliotrope')
  expect(requestsWith('heliotrope')).toBe(1)
  await second.client.post('/api/chat', { content: 'And the door?' })
  expect(turnRequests(model).at(-1)?.text).not.toContain('heliotrope')
  const page = (await second.client.get('/api/timeline')).json
  const replacing = page.events.filter(({ payload }: { payload: object }) => 'replaces' in payload)
  expect(replacing).toHaveLength(1)
  expect(await second.service.stop()).toBe(0)
})
