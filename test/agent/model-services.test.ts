import { expect, onTestFinished, test } from 'vitest'
import {
  isMemoryRequest,
  type ModelDouble,
  type ModelDoubleOptions,
  startModelDouble,
} from '../doubles/model/model-double.ts'
import { type Fault, httpFaults } from '../doubles/model/script.ts'
import { openTab } from '../support/chat-tab.ts'
import { startWholeService } from '../support/service.ts'

// biome-ignore lint/suspicious/noExplicitAny: payloads have every shape.
type Json = any

const KEYS = { one: 'key-of-one-5d1c', two: 'key-of-two-7a2e' } as const
const PRICES = JSON.stringify({ models: { m1: { input: 5, output: 30 }, m2: { input: 1, output: 2 } } })
const FALLBACK = JSON.stringify([
  { service: 'two', model: 'm2' },
  { service: 'builtin', model: 'builtin-1' },
])

async function startDouble(name: 'one' | 'two', options: ModelDoubleOptions = {}) {
  const double = await startModelDouble({ apiKey: KEYS[name], models: ['m1', 'm2'], ...options })
  onTestFinished(() => double.close())
  double.answerWith(({ text }) => ({
    text: text.includes('Write the capsule now') ? `The ${name} capsule: heliotrope.` : `From ${name}.`,
  }))
  return double
}

/** A service with two model services: `main` is the double `one`, and `two` the other. */
async function start(
  environment: Readonly<Record<string, string>> = {},
  two: ModelDoubleOptions = { dialect: 'ollama', lacks: ['/responses'] },
) {
  const doubles = { one: await startDouble('one'), two: await startDouble('two', two) }
  const service = await startWholeService({
    modelLimits: { attempts: 1 },
    environment: {
      OPENAI_BASE_URL: doubles.one.url,
      OPENAI_API_KEY: KEYS.one,
      CHAT_MODEL: 'm1',
      PRICES,
      SERVICES: JSON.stringify([{ id: 'two', kind: 'other', title: 'Two', baseUrl: doubles.two.url }]),
      SERVICE_KEYS: JSON.stringify({ two: KEYS.two }),
      ...environment,
    },
  })
  const { client } = service
  const ask = (content: string, more: object = {}) => client.post('/api/chat', { content, ...more })
  const say = async (content: string, more: object = {}): Promise<string> => {
    const { status, text, json } = await ask(content, more)
    expect(status, text).toBe(200)
    return json.reply.text
  }
  const events = async (type: string): Promise<Json[]> =>
    (await client.get('/api/timeline?limit=1000')).json.events.filter((event: Json) => event.type === type)
  const lastTurn = async () => (await events('turn.completed')).at(-1)
  return { ...doubles, service, client, ask, say, events, lastTurn }
}

const modelOf = (double: ModelDouble, model: string) => ({ provider: new URL(double.url).host, model })
const turnsOf = (double: ModelDouble) =>
  double
    .requests()
    .filter(
      (request) => /^\/(?:responses|chat\/completions)$/.test(request.path) && !isMemoryRequest(request),
    )

test('asks each service only for its own uses, with its own key', async () => {
  const { one, two, client, say } = await start(
    {
      DEV_ROUTES: '1',
      UTILITY_SERVICE: 'two',
      UTILITY_MODEL: 'u',
      EMBEDDING_SERVICE: 'two',
      EMBEDDING_MODEL: 'e',
      TRANSCRIPTION_MODEL: 't',
      SPEECH_SERVICE: 'two',
      SPEECH_MODEL: 's',
    },
    {},
  )
  expect(await say('My sister lives in Lisbon.')).toBe('From one.')
  expect((await client.post('/_dev/walkie/voice', { audioBase64: 'AAAA', format: 'wav' })).status).toBe(200)
  await expect
    .poll(() => new Set(two.requests().map(({ path }) => path)))
    .toEqual(new Set(['/responses', '/embeddings', '/audio/speech']))
  expect(new Set(one.requests().map(({ path }) => path))).toEqual(
    new Set(['/responses', '/audio/transcriptions']),
  )
  expect(one.requests().filter(isMemoryRequest)).toEqual([])
  expect(turnsOf(two)).toEqual([])
  for (const [double, key] of [
    [one, KEYS.one],
    [two, KEYS.two],
  ] as const)
    expect(new Set(double.requests().map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${key}`]),
    )
})

test.for<[string, Fault, string]>([
  ['rejects the key', httpFaults.unauthorised(), 'auth'],
  ['has no quota left', httpFaults.outOfQuota(), 'quota'],
  ['breaks off before its first word', { kind: 'cut', at: 0 }, 'unavailable'],
])('lets the next model answer when the first %s, and records which', async ([, fault, kind]) => {
  const { one, two, client, say, events, lastTurn } = await start({ CHAT_FALLBACK: FALLBACK })
  one.reply({ fault })
  expect(await say('Hello')).toBe('From two.')
  const { turnId, payload } = await lastTurn()
  const failedModels = [{ model: modelOf(one, 'm1'), kind }]
  expect(payload).toMatchObject({ model: modelOf(two, 'm2'), failedModels })
  expect((await client.get(`/api/turns/${turnId}`)).json).toMatchObject({
    model: modelOf(two, 'm2'),
    failedModels,
  })
  const paid = async () => {
    const settled = await events('spend.settled')
    return (await events('spend.reserved'))
      .filter(({ payload }) => payload.purpose === 'reply')
      .map(({ payload: { model, reservationId } }) => {
        const end = settled.find((each) => each.payload.reservationId === reservationId)
        return [model.model, end?.payload.amountMicros]
      })
  }
  await expect.poll(paid).toEqual([
    ['m1', 0],
    ['m2', expect.any(Number)],
  ])
  expect((await paid())[1]?.[1]).toBeGreaterThan(0)

  one.reply({ text: 'From one.' })
  expect(await say('And now?')).toBe('From one.')
  expect((await lastTurn()).payload).not.toHaveProperty('failedModels')
})

test('asks no other model once words were shown, after a refusal, or when the allowance is used up', async () => {
  const { one, two, client, ask } = await start({ CHAT_FALLBACK: FALLBACK })
  one.reply({ text: ['Some ', 'words'], fault: { kind: 'cut', at: 5 } })
  expect((await ask('Hello')).json.code).toBe('model_unavailable')
  one.reply({ refusal: 'No.' })
  expect((await ask('Hello')).json.code).toBe('model_refused')
  await client.put('/api/config', { entries: { ALLOWANCE_DAY: 0.001 } })
  expect((await ask('Hello')).json.code).toBe('allowance_spent')
  expect(turnsOf(two)).toEqual([])
})

test('hands over in the middle of a turn with calls and results, and without opaque items', async () => {
  const { one, two, say, lastTurn } = await start({ CHAT_FALLBACK: FALLBACK })
  one.reply(
    {
      reasoning: 'opaque-canary',
      toolCalls: [{ name: 'create_note', arguments: { title: 'Tea', content: 'Buy.' } }],
    },
    { fault: httpFaults.serverError() },
  )
  expect(await say('Write a note about tea, please.')).toBe('From two.')
  const [first] = two.requests('/chat/completions').filter((request) => !isMemoryRequest(request))
  const { messages = [] }: Json = first?.body ?? {}
  expect(JSON.stringify(messages)).not.toContain('opaque-canary')
  expect(messages.slice(-2)).toMatchObject([
    { role: 'assistant', tool_calls: [{ function: { name: 'create_note' } }] },
    { role: 'tool', content: expect.stringContaining('Tea') },
  ])
  expect((await lastTurn()).payload).toMatchObject({ model: modelOf(two, 'm2'), rounds: 2 })
})

test('moves a compacted conversation to the fallback as text, and back', async () => {
  const { one, two, client, say } = await start({ CHAT_FALLBACK: FALLBACK })
  one.reply({ text: 'From one.', usage: { inputTokens: 50_000 } })
  expect(await say('The code word is heliotrope.')).toBe('From one.')
  expect((await client.post('/api/session/context/compact')).status).toBe(200)
  one.reply({ fault: httpFaults.serverError() })
  expect(await say('What is it?')).toBe('From two.')
  expect(turnsOf(two).at(-1)?.text).toContain('The one capsule: heliotrope.')
  expect(JSON.stringify(turnsOf(two).at(-1)?.body)).not.toContain('sealed')
  expect(await say('Thanks.')).toBe('From one.')
  const back = turnsOf(one).at(-1)
  expect(JSON.stringify(back?.body)).toContain('sealed')
  expect(back?.text).toContain('From two.')
})

test('answers by the builtin model when every other fails', async () => {
  const { one, two, say, lastTurn } = await start({ CHAT_FALLBACK: FALLBACK })
  one.reply({ fault: httpFaults.serverError() })
  two.reply({ fault: httpFaults.rateLimited() })
  expect(await say('Remember that my cat is called Minka.')).toContain('Minka')
  expect((await lastTurn()).payload).toMatchObject({
    model: { provider: 'builtin' },
    failedModels: [
      { model: modelOf(one, 'm1'), kind: 'unavailable' },
      { model: modelOf(two, 'm2'), kind: 'rate_limited' },
    ],
  })
})

test('takes the model of one message, with the fallback after it', async () => {
  const fallback = JSON.stringify([{ service: 'main', model: 'm1' }])
  const { one, two, service, client, ask, say, events, lastTurn } = await start({ CHAT_FALLBACK: fallback })
  const model = { service: 'two', model: 'm2' }
  expect(await say('Hello', { model })).toBe('From two.')
  expect((await events('chat.message.received')).at(-1).payload).toMatchObject({ model })
  expect(await say('Hello')).toBe('From one.')
  two.reply({ fault: httpFaults.serverError() })
  expect(await say('Hello', { model })).toBe('From one.')
  expect((await lastTurn()).payload).toMatchObject({
    model: modelOf(one, 'm1'),
    failedModels: [{ model: modelOf(two, 'm2') }],
  })
  expect(await say('Remember Minka.', { model: { service: 'builtin', model: 'builtin-1' } })).not.toContain(
    'From',
  )

  // A repeated message is answered as before, whatever services there are by then.
  const sent = { model, clientMessageId: 'once' }
  const first = await ask('Hello', sent)
  await client.put('/api/config', { entries: { SERVICES: '[]' } })
  expect((await ask('Hello', sent)).json).toEqual(first.json)

  const before = (await events('chat.message.received')).length
  const unknown = await ask('Hello', { model: { service: 'gone', model: 'm' } })
  expect([unknown.status, unknown.json.code, unknown.json.errors[0].path]).toEqual([
    400,
    'invalid_request',
    'model.service',
  ])
  const tab = await openTab(service)
  tab.send({ type: 'chat.message', content: 'Hello', model: { service: 'gone', model: 'm' } })
  await tab.hear((message) => JSON.stringify(message).includes('model.service'))
  expect(await events('chat.message.received')).toHaveLength(before)
})

test('names a service that does not exist in the check and in the answer, and goes on without it', async () => {
  const { client, ask, say, events } = await start({
    CHAT_SERVICE: 'gone',
    EMBEDDING_SERVICE: 'away',
    EMBEDDING_MODEL: 'e',
    CHAT_FALLBACK: '[{"service":"lost","model":"m"}]',
  })
  expect((await ask('Hello')).json.code).toBe('model_unavailable')
  expect((await events('spend.reserved')).filter(({ payload }) => payload.purpose === 'reply')).toEqual([])
  const { ok, steps } = (await client.post('/api/config.test', { service: 'model' })).json
  expect([ok, steps.map(({ detail }: Json) => detail)]).toEqual([
    false,
    [
      'CHAT_SERVICE names gone, but there is no such service. Choose another in Settings.',
      'EMBEDDING_SERVICE names away, but there is no such service. Choose another in Settings.',
      'CHAT_FALLBACK names lost, but there is no such service. Choose another in Settings.',
    ],
  ])
  await client.put('/api/config', { entries: { CHAT_FALLBACK: FALLBACK } })
  expect(await say('Hello')).toBe('From two.')
})
