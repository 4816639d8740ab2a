import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { ledgerFile, viewsFile } from '../../ledger/files.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { openTab } from '../support/chat-tab.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

async function startWithDouble(directory = testDirectory(), answer?: string) {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  if (answer !== undefined) double.answerWith(() => ({ text: answer }))
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  }
  const service = await startWholeService({ directory, environment, waits: { workGraceMs: 300 } })
  return { double, service, environment }
}

const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type)

test('answers twenty concurrent posts with one clientMessageId as one message', async () => {
  const { double, service } = await startWithDouble()
  double.answerWith(() => ({ text: 'Once.' }))
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      service.client.post('/api/chat', { content: 'Hello', clientMessageId: 'message-1' }),
    ),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(answers.map(({ json }) => json.turnId)).size).toBe(1)
  expect(turnRequests(double)).toHaveLength(1)
  const page = (await service.client.get('/api/timeline')).json
  expect(typesOf(page.events).filter((type) => type === 'chat.reply.sent')).toHaveLength(1)
})

test('answers a repeated message with its first outcome and runs nothing twice', async () => {
  const { double, service } = await startWithDouble()
  double.answerWith(({ text }) =>
    text.includes('Fail') ? { fault: { kind: 'status', status: 401, body: {} } } : { text: 'Once.' },
  )
  const said = { type: 'chat.message', content: 'Tell me', clientMessageId: 'm1' }
  const first = await openTab(service)
  first.send(said)
  // A repetition during the turn gets its one outcome when it ends.
  first.send(said)
  await first.hear(({ type }) => type === 'chat.done')
  const responses = () => first.heard.filter(({ type }) => type === 'chat.response')
  expect(responses()).toHaveLength(1)
  first.send(said)
  await first.hear((message) => message === responses()[1])
  expect(responses()[1]).toEqual(responses()[0])

  const refused = (await service.client.post('/api/chat', { content: 'Fail', clientMessageId: 'm2' })).json
  // A second tab knows the message from its page only.
  const second = await openTab(service)
  second.send(said)
  second.send({ type: 'chat.message', content: 'Fail', clientMessageId: 'm2' })
  const ends = () => second.heard.filter(({ type }) => type.startsWith('chat.'))
  await second.hear(() => ends().length === 4)
  const { turnId } = responses()[0]
  expect(ends()).toEqual([
    responses()[0],
    { type: 'chat.done', turnId },
    { type: 'chat.error', turnId: expect.any(String), clientMessageId: null, problem: refused },
    { type: 'chat.done', turnId: expect.any(String) },
  ])
  // Learning goes on in the background and may end only now.
  expect(second.events().filter(({ type }) => !type.startsWith('memory.'))).toEqual([])
  expect(turnRequests(double)).toHaveLength(2)
})

test('answers concurrent messages one after the other, in order', async () => {
  const { double, service } = await startWithDouble()
  let running = 0
  let most = 0
  double.answerWith(async ({ text }) => {
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setTimeout(resolve, 20))
    running -= 1
    return { text: `Answer to ${text.match(/question \d/g)?.at(-1)}` }
  })
  const tab = await openTab(service)
  for (const number of [1, 2, 3])
    tab.send({ type: 'chat.message', content: `question ${number}`, clientMessageId: `m${number}` })
  await tab.hear((message) => message.type === 'chat.response' && message.content === 'Answer to question 3')
  const replies = tab.heard.filter(({ type }) => type === 'chat.response').map(({ content }) => content)
  expect(replies).toEqual(['Answer to question 1', 'Answer to question 2', 'Answer to question 3'])
  expect(most).toBe(1)
})

test('keeps the partial reply of a stopped turn for the next turn', async () => {
  const { double, service } = await startWithDouble()
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  double.reply({ text: ['The first half', ' and the second'], pause: { at: 5, until: never.promise } })
  const tab = await openTab(service)
  tab.send({ type: 'chat.message', content: 'Tell me', clientMessageId: 'm1' })
  await tab.hear(({ type }) => type === 'chat.delta')
  expect((await service.client.post('/api/chat/stop')).json).toEqual({ stopped: true })
  const response = await tab.hear(({ type }) => type === 'chat.response')
  expect(response.content).toBe('The first half')
  double.reply({ text: 'Going on.' })
  await service.client.post('/api/chat', { content: 'Go on' })
  expect(turnRequests(double).at(-1)?.text).toContain('The first half')
})

test('keeps the known context size after a stopped turn', async () => {
  const { double, service } = await startWithDouble()
  const context = async () => (await service.client.get('/api/session/context')).json
  double.reply({ text: 'Good morning.', usage: { inputTokens: 30_000, outputTokens: 10 } })
  await service.client.post('/api/chat', { content: 'Hello' })
  const { thresholdUtilization } = await context()
  expect(thresholdUtilization).toBeGreaterThan(0.1)
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  double.reply({ text: ['One', ' two'], pause: { at: 5, until: never.promise } })
  const tab = await openTab(service)
  tab.send({ type: 'chat.message', content: 'Count', clientMessageId: 'm1' })
  await tab.hear(({ type }) => type === 'chat.delta')
  await service.client.post('/api/chat/stop')
  await tab.hear(({ type }) => type === 'chat.response')
  expect((await context()).thresholdUtilization).toBe(thresholdUtilization)
})

test('streams a turn to every tab and ends with the same text in all', async () => {
  const { double, service } = await startWithDouble()
  double.reply({ text: ['One ', 'two ', 'three'] })
  const tabs = await Promise.all([openTab(service), openTab(service)])
  const answer = await service.client.post(
    '/api/chat',
    { content: 'Count' },
    { headers: { accept: 'text/event-stream' } },
  )
  const names = [...answer.text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name)
  expect(names[0]).toBe('chat.working')
  expect(names.slice(-2)).toEqual(['chat.response', 'chat.done'])
  for (const tab of tabs) {
    await tab.hear(({ type }) => type === 'chat.done')
    const deltas = tab.heard.filter(({ type }) => type === 'chat.delta').map(({ text }) => text)
    expect(deltas.join('')).toBe('One two three')
    expect((await tab.hear(({ type }) => type === 'chat.response')).content).toBe('One two three')
  }
})

test('sends a tab that reconnects with since every missed event exactly once', async () => {
  const { double, service } = await startWithDouble()
  double.answerWith(() => ({ text: 'Yes.' }))
  const tab = await openTab(service)
  await service.client.post('/api/chat', { content: 'One' })
  await tab.hear(
    (message) => message.type === 'timeline.event' && message.event.type === 'context.usage.recorded',
  )
  const last = tab.events().at(-1).seq
  tab.close()
  await service.client.post('/api/chat', { content: 'Two' })
  const again = await openTab(service, last)
  await service.client.post('/api/chat', { content: 'Three' })
  const { events } = (await service.client.get('/api/timeline')).json
  const head = events.at(-1).seq
  await again.hear((message) => message.type === 'timeline.event' && message.event.seq === head)
  // Learning runs behind the turns and may already have added events.
  const seqs = again.events().map(({ seq }) => seq)
  expect(seqs.filter((seq) => seq <= head)).toEqual(
    Array.from({ length: head - last }, (_, index) => last + 1 + index),
  )
  expect(again.heard.some(({ type }) => type === 'history.page')).toBe(false)
})

test('sends a new tab the events that the views do not have yet', async () => {
  const { service } = await startWithDouble()
  const ledger = new Database(ledgerFile(service.directory), { readonly: true })
  const views = new Database(viewsFile(service.directory))
  onTestFinished(() => {
    ledger.close()
    views.close()
  })
  // Keeps the views behind the ledger.
  views.exec('BEGIN IMMEDIATE')
  const created = service.client.post('/api/notes', { title: 'Trip', content: 'Pack bags' })
  const appended = ledger.prepare("SELECT count(*) FROM events WHERE type = 'note.created'").pluck()
  await expect.poll(() => appended.get()).toBe(1)
  const tab = await openTab(service)
  const { page } = await tab.hear(({ type }) => type === 'history.page')
  expect(typesOf(page.events)).not.toContain('note.created')
  views.exec('ROLLBACK')
  await tab.hear((message) => message.type === 'timeline.event' && message.event.type === 'note.created')
  await created
})

test('answers a message that waits at shutdown after the restart', async () => {
  const directory = testDirectory()
  const first = await startWithDouble(directory)
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  first.double.reply({ text: 'never said', pause: { at: 'headers', until: never.promise } })
  const tab = await openTab(first.service)
  tab.send({ type: 'chat.message', content: 'Are you there?', clientMessageId: 'm1' })
  await tab.hear(({ type }) => type === 'chat.working')
  await first.service.stop()

  const second = await startWithDouble(directory, 'Now I am.')
  const answer = await second.service.client.post('/api/chat', {
    content: 'Are you there?',
    clientMessageId: 'm1',
  })
  expect(answer.json.reply.text).toBe('Now I am.')
  const { events } = (await second.service.client.get('/api/timeline')).json
  expect(typesOf(events).filter((type) => type === 'chat.message.received')).toHaveLength(1)
})

test('says that a message is too long to be remembered', async () => {
  const service = await startWholeService()
  const content = `Remember that ${'my bicycle has another part '.repeat(40)}`
  const { reply } = (await service.client.post('/api/chat', { content })).json
  expect(reply.text).toBe('That is too long for me to take. A note holds long texts.')
})

test('says that the model service cut an answer off', async () => {
  const { double, service } = await startWithDouble()
  double.reply({ text: 'As far as it we', incomplete: 'max_output_tokens' })
  const { json } = await service.client.post('/api/chat', { content: 'Tell me a long story.' })
  expect(json.reply.text).toMatch(/^As far as it we\n\n\(My answer is cut off here/)
})
