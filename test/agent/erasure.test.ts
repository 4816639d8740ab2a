import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { filesHolding } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

const CANARY = 'heliotrope4417'

/** A model that calls the tool named in the last message, then repeats the result. */
async function startObeying() {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(({ body, text }) => {
    const input = Array.isArray(body.input) ? body.input : []
    const last = input.at(-1)
    if (last?.type === 'function_call_output') return { text: `It says: ${String(last.output)}` }
    const order = /do (\w+) (\{.*?\})/.exec(
      JSON.stringify(last).replaceAll('\\"', '"').replaceAll('\\\\', ''),
    )
    if (order?.[1])
      return { toolCalls: [{ name: order[1], arguments: order[2] }], reasoning: `Thinking of ${CANARY}` }
    return { text: text.includes(CANARY) ? `You mentioned ${CANARY} before.` : 'I know nothing of it.' }
  })
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  }
  return await startWholeService({ environment })
}

test('removes an erased conversation and its erased note from every file', async () => {
  const service = await startObeying()
  const { client } = service
  const say = async (content: string) => {
    const answer = await client.post('/api/chat', { content })
    expect(answer.status, answer.text).toBe(200)
    return answer.json
  }
  const first = await say(`I am allergic to ${CANARY}; do remember {"text":"I am allergic to ${CANARY}"}`)
  await say(`do create_note {"title":null,"content":"Note of ${CANARY}"}`)
  await say('do recall {"query":"allergic"}')
  await say('do search_timeline {"query":"allergic","channel":"chat","from":null,"to":null}')
  expect((await say('What did I mention?')).reply.text).toContain(CANARY)
  expect((await client.get(`/api/timeline/search?q=${CANARY}`)).json.hits.length).toBeGreaterThan(2)
  expect((await client.post('/api/session/context/compact')).status).toBe(200)
  expect(filesHolding(service.directory, CANARY)).not.toEqual([])

  const { events } = (await client.get('/api/timeline')).json
  const said = events.filter(
    (event: { type: string; payload: { text?: string; arguments?: string } }) =>
      event.type === 'chat.message.received' && JSON.stringify(event.payload).includes(CANARY),
  )
  expect(said[0].turnId).toBe(first.turnId)
  const note = events.find((event: { type: string }) => event.type === 'note.created')
  // The note stays until it is erased by name.
  for (const { seq } of said) await client.delete(`/api/timeline/events/${seq}`)
  expect((await client.get('/api/notes')).text).toContain(CANARY)
  for (const { seq } of [note, ...said]) {
    const erased = await client.delete(`/api/timeline/events/${seq}`)
    expect(erased.status, erased.text).toBe(200)
  }
  expect((await client.get(`/api/timeline/search?q=${CANARY}`)).json.hits).toEqual([])
  expect((await client.get('/api/timeline')).text).not.toContain(CANARY)
  expect(filesHolding(service.directory, CANARY)).toEqual([])
  expect((await say('What did I mention?')).reply.text).toBe('I know nothing of it.')
})
