import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

const isCapsuleRequest = (body: Record<string, unknown>) =>
  JSON.stringify(body.input).includes('Write the capsule now.')

/** A service with a low threshold, whose model searches before each answer. */
async function startTalkative(directory = testDirectory()) {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(({ body }) => {
    const input = Array.isArray(body.input) ? body.input : []
    const usage = { inputTokens: Math.ceil(JSON.stringify(body).length / 4), outputTokens: 50 }
    if (isCapsuleRequest(body)) return { text: '## Where we are\nWe talk about gardens.', usage }
    if (input.at(-1)?.type === 'function_call_output')
      return { text: 'Roses want sun and water. '.repeat(300), usage }
    const search = { query: 'gardens', channel: null, from: null, to: null }
    return { toolCalls: [{ name: 'search_timeline', arguments: search }], usage }
  })
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
    COMPACT_THRESHOLD_TOKENS: '4000',
    CAPSULE_TRIGGER_TOKENS: '2000000',
    LONG_ANSWER_CHARS: '100000',
  }
  const service = await startWholeService({ directory, environment })
  return {
    service,
    capsules: () => double.requests('/responses').filter(({ body }) => isCapsuleRequest(body)),
  }
}

test('compacts a conversation that holds an erased tool result, one request a round', {
  timeout: 20_000,
}, async () => {
  const { service, capsules } = await startTalkative()
  const { client } = service
  const say = async (content: string) => {
    const answer = await client.post('/api/chat', { content })
    expect(answer.status, answer.text).toBe(200)
  }
  await say('Hello')
  const { events } = (await client.get('/api/timeline?limit=1000')).json
  const result = events.find(({ type }: { type: string }) => type === 'tool.returned')
  expect((await client.delete(`/api/timeline/events/${result.seq}`)).status).toBe(200)
  const eventsNow = async () => (await client.get('/api/timeline?limit=1000')).json.events
  for (let turn = 0; turn < 3; turn += 1) await say(`Tell me more of roses, part ${turn}.`)
  await expect
    .poll(async () =>
      (await eventsNow()).some(({ type }: { type: string }) => type === 'context.compaction.succeeded'),
    )
    .toBe(true)
  await say('Thank you')
  const succeeded = (await eventsNow()).filter(
    ({ type }: { type: string }) => type === 'context.compaction.succeeded',
  )
  expect(succeeded[0].payload.erased).toBeUndefined()
  expect(capsules()).toHaveLength(succeeded.length)
})
