import { expect, onTestFinished, test } from 'vitest'
import { factsOf } from '../backups/harness.ts'
import { type Answerer, startModelDouble } from '../doubles/model/model-double.ts'
import { filesHolding } from '../support/directory.ts'
import { startWholeService, type WholeService } from '../support/service.ts'
import { chatGptConversation, claudeConversation, jsonList, over, upload, writeZip } from './exports.ts'

const HOME = {
  id: 'home',
  title: 'Moving',
  texts: ['My sister lives in Porto.', 'How nice.', 'My favourite colour is teal.', 'A fine colour.'],
}
const PASTED = { id: 'pasted', title: 'Grammar', texts: ['Is this right?', 'My cat is called Evil.'] }

async function imported(service: WholeService, talks: readonly (typeof HOME)[] = [HOME, PASTED]) {
  const path = await writeZip('chatgpt.zip', {
    'conversations.json': () => jsonList(talks.map(chatGptConversation)),
  })
  const id = await upload(service, path)
  await over(service, id)
  return id
}

const readingsOf = async ({ client }: WholeService) => (await client.get('/api/imported.readings')).json

async function read(service: WholeService, selection: object) {
  const asked = await service.client.post('/api/imported.readings', selection)
  expect([asked.status, asked.text]).toEqual([201, expect.any(String)])
  await expect.poll(async () => (await readingsOf(service)).readings[0].state).toBe('completed')
  return (await service.client.get('/api/imported.candidates')).json
}

const memoriesOf = async ({ client }: WholeService) => (await client.get('/api/memories')).json.memories

test('finds memories by rules without a model, free, and stores only those that the owner keeps', async () => {
  const service = await startWholeService()
  const { client } = service
  const id = await imported(service)
  const estimate = (await client.post('/api/imported.readings/estimate', { importId: id })).json
  expect(estimate).toEqual({
    conversations: 2,
    messages: 3,
    requests: 2,
    method: 'rules',
    model: null,
    inputTokens: 0,
    outputTokens: 0,
    costMicros: 0,
  })
  const twice = { ids: ['chatgpt-home', 'chatgpt-home'] }
  expect((await client.post('/api/imported.readings/estimate', twice)).json).toMatchObject({ requests: 1 })
  expect(await readingsOf(service)).toEqual({ readings: [], candidates: 0 })
  const { candidates, count } = await read(service, { importId: id })
  expect(count).toBe(2)
  expect(candidates).toMatchObject([
    { text: expect.stringMatching(/sister lives in Porto/), importedId: 'chatgpt-home' },
    { text: expect.stringMatching(/favourite colour is teal/), saidAt: '2024-03-01T10:02:00.000Z' },
  ])
  // Nothing of the assistant's words, and nothing without the owner.
  expect(JSON.stringify(candidates)).not.toContain('Evil')
  expect(await memoriesOf(service)).toEqual([])

  const [sister, colour] = candidates.map((each: { id: string }) => each.id)
  const decide = async (ids: string[], keep: boolean) =>
    (await client.post('/api/imported.candidates', { ids, keep })).json
  expect(await decide([sister], true)).toEqual({ decided: 1 })
  expect(await decide([colour], false)).toEqual({ decided: 1 })
  expect(await decide([sister, colour], true)).toEqual({ decided: 0 })
  expect((await readingsOf(service)).candidates).toBe(0)
  const [memory, ...others] = await memoriesOf(service)
  expect(others).toEqual([])
  expect(memory).toMatchObject({
    text: expect.stringMatching(/sister lives in Porto/),
    validFrom: '2024-03-01T10:00:00.000Z',
    sources: [{ conversationId: null, importedId: 'chatgpt-home' }],
  })
  // What is known is not offered again.
  const again = await read(service, { ids: ['chatgpt-home'] })
  expect(again.candidates.map(({ text }: { text: string }) => text)).toEqual([expect.stringMatching(/teal/)])
})

test('takes what was pasted into Claude for no words of the owner', async () => {
  const service = await startWholeService()
  const talk = claudeConversation({ ...HOME, texts: ['My sister lives in Porto.', 'How nice.'] })
  const [asked, answer] = talk.chat_messages
  const pasted = { extracted_content: 'Hello!\n\nMy favourite colour is teal.\n```\nMy cat is called Evil.' }
  const messages = [{ ...asked, attachments: [pasted] }, answer]
  const path = await writeZip('claude.zip', {
    'conversations.json': () => jsonList([{ ...talk, chat_messages: messages }]),
  })
  const importId = await upload(service, path)
  await over(service, importId)
  expect((await service.client.get('/api/imported/claude-home')).text).toContain('is teal.')
  const { candidates } = await read(service, { importId })
  expect(candidates.map(({ quote }: { quote: string }) => quote)).toEqual([
    expect.stringMatching(/sister lives in Porto/),
  ])
})

const learned: Answerer = ({ text }) => ({
  text: JSON.stringify({
    candidates: [
      ['My sister lives in Porto.', 'relation'],
      ['My cat is called Evil.', 'relation'],
    ].flatMap(([quote = '', kind]) =>
      text.includes(quote) ? [{ ...CANDIDATE, quote, text: quote, value: quote, kind }] : [],
    ),
  }),
})

const CANDIDATE = {
  subject: 'owner',
  slot: '',
  modality: 'asserted',
  speaker: 'owner',
  secrecy: 'keep',
  singleValued: false,
  eventTime: null,
  validUntil: null,
  ends: null,
  keywords: [],
  relations: [],
}

async function startWithModel() {
  const double = await startModelDouble({ models: ['test-model', 'gpt-5.4-mini'] })
  onTestFinished(() => double.close())
  double.answerMemoryWith(learned)
  const service = await startWholeService({
    environment: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: double.url, PRICES: PRICED },
  })
  return { double, service }
}

/** Local services are free unless they have a price. */
const PRICED = JSON.stringify({ models: { 'gpt-5.4-mini': { input: 1, output: 4 } } })

test('estimates the price of a model first, and asks it only then', async () => {
  const { double, service } = await startWithModel()
  const id = await imported(service)
  const before = double.requests('/responses').length
  const { json } = await service.client.post('/api/imported.readings/estimate', { importId: id })
  expect(json).toMatchObject({ method: 'model', requests: 2, model: expect.any(String) })
  expect(json.inputTokens).toBeGreaterThan(1000)
  expect(double.requests('/responses').length).toBe(before)

  const { candidates } = await read(service, { importId: id })
  // The words of the assistant are no evidence, whatever the model says.
  expect(candidates).toMatchObject([{ quote: 'My sister lives in Porto.' }])
  expect(double.requests('/responses').length).toBe(before + 2)
  const { readings } = await readingsOf(service)
  expect(readings).toMatchObject([{ requests: 2, read: 2, failed: 0, candidates: 1 }])
})

test('offers what several conversations say once, and decides on all of it', async () => {
  const service = await startWholeService()
  const id = await imported(service, [HOME, { ...HOME, id: 'again', title: 'Again' }])
  const { candidates, count } = await read(service, { importId: id })
  expect([candidates.length, count]).toEqual([2, 2])
  const ids = candidates.map((each: { id: string }) => each.id)
  const { json } = await service.client.post('/api/imported.candidates', { ids, keep: false })
  expect([json, (await readingsOf(service)).candidates]).toEqual([{ decided: 2 }, 0])
})

test('treats a kept memory as words of others, and erases it with its conversation', async () => {
  const clock = { aheadMs: 0 }
  const service = await startWholeService({ nowMs: () => Date.now() + clock.aheadMs })
  const { client } = service
  await imported(service)
  const { candidates } = await read(service, { ids: ['chatgpt-home'] })
  const ids = candidates.map((each: { id: string }) => each.id)
  await client.post('/api/imported.candidates', { ids: ids.slice(0, 1), keep: true })
  const plan = (await client.get('/api/erasures.plan?kind=imported&id=chatgpt-home')).json
  expect(plan.derived).toMatchObject([
    { kind: 'memory', count: 1 },
    { kind: 'step', count: 1 },
  ])
  await client.post('/api/erasures', { kind: 'imported', id: 'chatgpt-home' })
  expect(await memoriesOf(service)).toEqual([])
  expect((await readingsOf(service)).candidates).toBe(0)
  clock.aheadMs += 61_000
  await expect.poll(() => factsOf(service, 'erasure.completed')).toMatchObject([{ erased: 3 }])
  expect(filesHolding(service.directory, 'Porto')).toEqual([])
})

test('stops a reading when the owner cancels it, and keeps what it found', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const talks = Array.from({ length: 400 }, (_, index) => ({
    ...HOME,
    id: `home${index}`,
    texts: [`My friend${index} lives in Porto.`, 'Fine.'],
  }))
  const id = await imported(service, talks)
  const { id: readingId } = (await service.client.post('/api/imported.readings', { importId: id })).json
  await expect.poll(async () => (await readingsOf(service)).readings[0].read).toBeGreaterThan(3)
  expect((await service.client.post(`/api/imported.readings/${readingId}/cancel`)).status).toBe(204)
  const [reading] = (await readingsOf(service)).readings
  expect(reading).toMatchObject({ state: 'cancelled', requests: 400 })
  expect(reading.read).toBeLessThan(400)
  expect((await service.client.post(`/api/imported.readings/${readingId}/cancel`)).status).toBe(404)
  expect((await service.client.post('/api/imported.readings', { ids: ['chatgpt-none'] })).status).toBe(404)
  expect((await service.client.post('/api/imported.readings', {})).status).toBe(400)
})
