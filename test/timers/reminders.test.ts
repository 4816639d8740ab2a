import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { httpFaults, type Reply } from '../doubles/model/script.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { openTab } from '../support/chat-tab.ts'
import { startWholeService } from '../support/service.ts'

const WORDS = 'Take the bread out of the oven'
const isActivation = (body: Record<string, unknown>) => /Nobody has spoken/.test(String(body.instructions))

/** A service whose model answers the owner, and gives `reply` when a reminder wakes it. */
async function startReminding(reply: Reply, environment: Readonly<Record<string, string>> = {}) {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(({ body }) => (isActivation(body) ? reply : { text: 'Here I am.' }))
  const service = await startWholeService({
    // A model that hangs would hold the end of the test.
    waits: { workGraceMs: 100 },
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
      ...environment,
    },
  })
  const tab = await openTab(service)
  const remind = async () => {
    const at = new Date(Date.now() + 100).toISOString()
    const set = await service.client.post('/api/timers', { title: WORDS, at })
    expect(set.status, set.text).toBe(201)
    const { event } = await tab.hear(({ event }) => event?.type === 'timer.fired')
    return event
  }
  return { double, service, tab, remind }
}

test('shows a reminder although the model fails, and records the failure as internal', async () => {
  const { double, service, tab, remind } = await startReminding({ fault: httpFaults.unauthorised() })
  const fired = await remind()
  expect(fired).toMatchObject({ internal: false, payload: { text: WORDS } })
  const { event: failed } = await tab.hear(({ event }) => event?.type === 'turn.failed')
  expect(failed).toMatchObject({ internal: true, payload: { kind: 'auth' } })
  await tab.hear(({ event }) => event?.type === 'activation.failed')
  // The socket reports no error, because nobody asked, and the timeline page matches the socket.
  expect(tab.heard.filter(({ type }) => type === 'chat.error')).toEqual([])
  const { events } = (await service.client.get('/api/timeline')).json
  const onPage = (seq: number) => events.find((event: { seq: number }) => event.seq === seq)
  expect([onPage(fired.seq), onPage(failed.seq)]).toEqual([fired, failed])

  expect((await service.client.get('/api/timeline/search?q=bread')).json.hits).toContainEqual(
    expect.objectContaining({ seq: fired.seq, type: 'timer.fired' }),
  )
  await service.client.post('/api/chat', { content: 'What was that reminder?' })
  expect(turnRequests(double).at(-1)?.text).toContain(WORDS)
})

test('shows a reminder while the model hangs, and answers the owner meanwhile', async () => {
  const { service, remind } = await startReminding({ fault: { kind: 'hang', at: 'headers' } })
  expect((await remind()).payload.text).toBe(WORDS)
  const answer = await service.client.post('/api/chat', { content: 'Are you there?' })
  expect(answer.json.reply.text).toBe('Here I am.')
})

test('shows a reminder when the daily token budget is exhausted', async () => {
  const { double, service, remind } = await startReminding({ text: 'Never said.' }, { DAILY_TOKENS: '1' })
  await service.client.post('/api/chat', { content: 'Hello' })
  expect((await remind()).payload.text).toBe(WORDS)
  expect(turnRequests(double).filter(({ body }) => isActivation(body))).toEqual([])
})

test('tells the model that the owner sees the reminder, and shows the model’s addition after it', async () => {
  const { double, tab, remind } = await startReminding({ text: 'The oven gloves are in the drawer.' })
  const fired = await remind()
  const { event: reply } = await tab.hear(({ event }) => event?.type === 'chat.reply.sent')
  expect(reply.payload.text).toBe('The oven gloves are in the drawer.')
  expect(reply.seq).toBeGreaterThan(fired.seq)
  expect(turnRequests(double).at(-1)?.text).toContain(
    `The timer “${WORDS}” is due. The owner already sees this reminder.`,
  )
})

test('keeps a reminder fired between conversations for the next one', async () => {
  const { double, service, tab, remind } = await startReminding({ text: '[silent]' })
  await service.client.post('/api/chat', { content: 'Hello' })
  const [{ id }] = (await service.client.get('/api/conversations')).json.conversations
  expect((await service.client.post(`/api/conversations/${id}/end`)).status).toBe(200)
  const fired = await remind()
  expect(fired.conversationId).not.toBe(id)
  await tab.hear(({ event }) => event?.type === 'activation.completed')
  await service.client.post('/api/chat', { content: 'What was that reminder?' })
  expect(turnRequests(double).at(-1)?.text).toContain(WORDS)
})

test('erases a reminder together with its timer', async () => {
  const { service, tab, remind } = await startReminding({ text: '[silent]' })
  const fired = await remind()
  await tab.hear(({ event }) => event?.type === 'activation.completed')
  const timer = tab.events().find(({ type }) => type === 'timer.set')
  expect((await service.client.delete(`/api/timeline/events/${timer.seq}`)).status).toBe(200)
  const page = await service.client.get('/api/timeline')
  expect(page.text).not.toContain(WORDS)
  expect(page.json.events.find(({ seq }: { seq: number }) => seq === fired.seq).payload.erased).toBe(true)
})

test('erases a changed and a snoozed reminder together with the timer that was set', async () => {
  const { service, tab } = await startReminding({ text: '[silent]' })
  const { client } = service
  const soon = () => new Date(Date.now() + 100).toISOString()
  const { id } = (await client.post('/api/timers', { title: WORDS, at: '2099-01-01' })).json
  await client.put(`/api/timers/${id}`, { at: soon() })
  await tab.hear(({ event }) => event?.type === 'timer.fired')
  const snooze = (await client.post(`/api/timers/${id}/snooze`, { minutes: 60 })).json
  await tab.hear(({ event }) => event?.type === 'activation.completed')
  const set = tab.events().find(({ type }) => type === 'timer.set')
  expect((await client.delete(`/api/timeline/events/${set.seq}`)).status).toBe(200)
  expect((await client.get('/api/timeline')).text).not.toContain(WORDS)
  expect((await client.get('/api/timers')).text).not.toContain(WORDS)
  expect((await client.get('/api/timers.ics')).text).not.toContain(WORDS)
  expect((await client.post(`/api/timers/${id}/snooze`, { minutes: 5 })).json.id).toBe(snooze.id)
})

test('ticks off, without a model, a reminder that was set on its page once the owner says that it is done', async () => {
  const service = await startWholeService()
  const set = { title: WORDS, at: new Date(Date.now() + 50).toISOString() }
  const { id } = (await service.client.post('/api/timers', set)).json
  await expect.poll(async () => (await service.client.get(`/api/timers/${id}`)).json.status).toBe('done')
  const { reply } = (await service.client.post('/api/chat', { content: 'done' })).json
  expect(reply.text).toBe(`Ticked off: “${WORDS}”.`)
  expect((await service.client.get(`/api/timers/${id}`)).json.settled).toBe('done')
})
