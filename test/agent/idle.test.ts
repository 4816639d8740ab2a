import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

test('closes an idle interaction with one checkpoint and keeps the conversation open', async () => {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(() => ({ text: 'Yes.' }))
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  }
  const directory = testDirectory()
  const first = await startWholeService({ directory, environment })
  const one = (await first.client.post('/api/chat', { content: 'One' })).json
  const two = (await first.client.post('/api/chat', { content: 'Two' })).json
  expect(two.spanId).toBe(one.spanId)
  await first.stop()

  const hourLater = Date.now() + 3_600_000
  const second = await startWholeService({ directory, environment, nowMs: () => hourLater })
  const checkpoints = async () => {
    const { events } = (await second.client.get('/api/timeline')).json
    return events.filter(({ type }: { type: string }) => type === 'memory.checkpoint.created')
  }
  await expect.poll(checkpoints).toHaveLength(1)
  expect((await checkpoints())[0].payload).toMatchObject({ turns: 2, reason: 'idle' })
  const span = (await second.client.get(`/api/timeline/spans/${one.spanId}`)).json
  expect(span.reason).toBe('idle')

  const three = (await second.client.post('/api/chat', { content: 'Three' })).json
  expect(three.conversationId).toBe(one.conversationId)
  expect(three.spanId).not.toBe(one.spanId)
  await second.stop()
  const third = await startWholeService({ directory, environment, nowMs: () => hourLater + 7_200_000 })
  await expect
    .poll(async () => {
      const { events } = (await third.client.get('/api/timeline')).json
      return events.flatMap(({ type, payload }: { type: string; payload: { turns: number } }) =>
        type === 'memory.checkpoint.created' ? [payload.turns] : [],
      )
    })
    .toEqual([2, 1])
})
