import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { filesHolding } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

const CANARY = 'heliotrope4417'

/** A conversation with an unmentioned timer, compacted by a model that writes `capsule`. */
async function compactWith(capsule: (given: string) => string) {
  const double = await startModelDouble({ lacks: ['/responses/compact'] })
  onTestFinished(() => double.close())
  double.answerWith(({ text }) => ({
    text: text.includes('Write the capsule now.') ? capsule(text) : 'Very well.',
  }))
  const service = await startWholeService({
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
    },
  })
  const { client } = service
  const title = `Ring  ${CANARY}\nabout it`
  expect((await client.post('/api/timers', { title, at: '2099-01-01T09:00' })).status).toBe(201)
  expect((await client.post('/api/chat', { content: 'Hello there.' })).status).toBe(200)
  const compacted = await client.post('/api/session/context/compact')
  expect(compacted.status, compacted.text).toBe(200)
  const { events } = (await client.get('/api/timeline')).json
  const find = (type: string) => events.find((event: { type: string }) => event.type === type)
  return { service, find }
}

test('names every open commitment in a capsule, even where the model omits it', async () => {
  const { find } = await compactWith(() => '## Where we are\nThey said hello.')
  expect(find('context.compaction.succeeded').payload.text).toBe(
    `## Where we are\nThey said hello.\n\n## Commitments\n- Ring ${CANARY} about it`,
  )
})

test('removes an erased timer from every file, including a capsule that names it', async () => {
  const { service, find } = await compactWith(() => `## Commitments\n- ring ${CANARY} about it`)
  const erased = await service.client.delete(`/api/timeline/events/${find('timer.set').seq}`)
  expect(erased.status, erased.text).toBe(200)
  expect(filesHolding(service.directory, CANARY)).toEqual([])
})
