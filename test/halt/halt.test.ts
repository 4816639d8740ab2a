import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { isMemoryRequest } from '../doubles/model/model-double.ts'
import { obedient, order } from '../doubles/model/obedient.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { script, speech } from '../phone/call/call-harness.ts'
import { ofType, type TimelineEvent } from '../phone/phone-harness.ts'
import { GUEST, OWNER } from '../phone/provider.ts'
import { runScript } from '../scripts/run-script.ts'
import { startWithTexts, text } from '../sms/sms-harness.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD, startWholeService, type WholeService } from '../support/service.ts'
import { ASSISTANT, isAlive } from '../tasks/task-harness.ts'

const OTHER = '+14155550177'
const NOT_HALTED = { halted: false, since: null, by: null }
/** Longer than every reactor needs to begin what it may. */
const QUIET_MS = 700

const quiet = (ms = QUIET_MS) => new Promise((resolve) => setTimeout(resolve, ms))
const state = async ({ client }: Pick<WholeService, 'client'>) => (await client.get('/api/halt')).json
const halt = ({ client }: Pick<WholeService, 'client'>) => client.post('/api/halt')
const release = ({ client }: Pick<WholeService, 'client'>, password = PASSWORD) =>
  client.post('/api/halt/release', { password })
const haltsOf = (events: readonly TimelineEvent[]) =>
  events.flatMap(({ type, payload }) =>
    type.startsWith('delegation.') ? [`${type} ${payload.by ?? ''}`.trim()] : [],
  )

/** The owner's webhook. It fails until it is mended, so that a delivery is tried again and again. */
async function startReceiver() {
  const statuses: number[] = []
  let status = 503
  const server = createServer((incoming, answer) => {
    statuses.push(status)
    incoming.resume()
    answer.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  function mend(): void {
    status = 204
  }
  return { statuses, url, mend }
}

test('holds every effect from the halt to the release, and then does each once', async () => {
  const receiver = await startReceiver()
  const directory = testDirectory()
  const environment = {
    COPILOT_COMMAND: ASSISTANT,
    UTILITY_MODEL: 'test-model',
    EMBEDDING_MODEL: 'test-model',
    DELIVERY_WEBHOOK_URL: receiver.url,
    DELIVERY_WEBHOOK_SECRET: 'the secret of the webhook',
  }
  const phone = await startWithTexts({
    directory,
    environment,
    outboundPauses: { firstRetryMs: 500, lookUpAfterMs: [0] },
  })
  const { client } = phone.service
  const files = testDirectory()
  const [situation, marker] = [join(files, 'running'), join(files, 'queued')]
  const task = async (prompt: string, more = {}) =>
    (await client.post('/api/tasks', { title: 'Tidy up', prompt, ...more })).json.id

  const running = await task(steps({ tellSituation: situation }, { hang: true }))
  await phone.eventsUntil('the task', () => existsSync(situation))
  // By what is asked, because an activation may come between.
  phone.text.answerWith(({ body }) =>
    JSON.stringify((body.input as unknown[]).at(-1)).includes(`Text ${OTHER}`)
      ? { toolCalls: [{ name: 'send_sms', arguments: { to: OTHER, text: 'I am late.' } }] }
      : { text: 'Yes.' },
  )
  await client.post('/api/chat', { content: `Text ${OTHER} that I am late` })
  const [proposal] = (await client.get('/api/proposals')).json.proposals

  expect(await state(phone.service)).toEqual(NOT_HALTED)
  // The last thing before the halt: its attempts are few.
  await task(steps({ print: 'Done.' }), { notify: 'webhook' })
  await phone.eventsUntil('the first attempt', () => receiver.statuses.length > 0)
  const halted = await halt(phone.service)
  expect([halted.status, halted.json]).toEqual([
    200,
    { halted: true, since: expect.any(String), by: 'browser' },
  ])
  expect((await halt(phone.service)).json).toEqual(halted.json)
  await phone.eventsUntil('the end of the task', (all) => ofType(all, 'task.cancelled').length === 1)
  const { pid } = JSON.parse(readFileSync(situation, 'utf8'))
  await expect.poll(() => isAlive(pid)).toBe(false)
  await quiet()
  const tried = receiver.statuses.length
  const learned = phone.text.requests().filter(isMemoryRequest).length
  const asked = turnRequests(phone.text).length

  await text(phone, 'SM1', OWNER, 'I keep my skis in Zanzibar')
  await text(phone, 'SM2', GUEST, 'Hello')
  expect((await client.post(`/api/proposals/${proposal.id}/confirm`)).status).toBe(200)
  await task(steps({ tellSituation: marker }))
  await client.post('/api/timers', { title: 'Tea', at: new Date(Date.now() + 300).toISOString() })
  const chat = await client.post('/api/chat', { content: 'I keep my boots in Zermatt' })
  expect(chat.json).toMatchObject({ reply: { text: 'Yes.' } })
  await phone.eventsUntil('the reminder', (all) => ofType(all, 'timer.fired').length === 1)
  await quiet(1_500)
  const during = await phone.events()
  expect(ofType(during, 'sms.received')).toHaveLength(2)
  const haltedSeq = ofType(during, 'delegation.halted')[0].seq
  const activations = (all: readonly TimelineEvent[]) =>
    ofType(all, 'activation.started').filter(({ seq }) => seq > haltedSeq)
  expect(activations(during)).toEqual([])
  expect(phone.double.messages).toEqual([])
  expect(receiver.statuses).toHaveLength(tried)
  expect(existsSync(marker)).toBe(false)
  expect(turnRequests(phone.text)).toHaveLength(asked + 1)
  expect(phone.text.requests().filter(isMemoryRequest)).toHaveLength(learned)
  expect(JSON.stringify(phone.text.requests('/embeddings'))).not.toContain('Zanzibar')
  const ready = (await client.get('/ready')).json
  expect([ready.status, ready.halt.by]).toEqual(['ready', 'browser'])
  expect((await client.get('/api/session/health')).json.halt).toEqual(halted.json)

  expect((await release(phone.service, 'not the password')).json).toMatchObject({
    code: 'wrong_password',
    status: 401,
  })
  expect((await state(phone.service)).halted).toBe(true)
  receiver.mend()
  const released = await release(phone.service)
  expect([released.status, released.json]).toEqual([200, NOT_HALTED])
  await phone.eventsUntil(
    'all that waited',
    (all) =>
      ofType(all, 'sms.sent').length === 3 &&
      activations(all).length >= 1 &&
      ofType(all, 'task.finished').length === 2 &&
      receiver.statuses.includes(204) &&
      phone.text.requests().filter(isMemoryRequest).length > learned,
  )
  await quiet()
  const after = await phone.events()
  expect(phone.double.messages.map(({ to }) => to).sort()).toEqual([OWNER, OTHER, GUEST].sort())
  expect(receiver.statuses.filter((status) => status === 204)).toHaveLength(1)
  expect(existsSync(marker)).toBe(true)
  expect((await client.get(`/api/tasks/${running}`)).json.status).toBe('cancelled')
  expect(JSON.stringify(phone.text.requests('/embeddings'))).toContain('Zanzibar')
  expect(haltsOf(after)).toEqual(['delegation.halted browser', 'delegation.released'])
  const [fact] = ofType(after, 'delegation.halted')
  expect(fact).toMatchObject({ actor: 'owner', payload: { by: 'browser' } })
})

test('offers and runs only tools that read while halted, also in a turn that was running', async () => {
  const phone = await startWithTexts({ environment: { COPILOT_COMMAND: ASSISTANT } })
  const { client } = phone.service
  const acts = [
    order('send_sms', { to: OWNER, text: 'Hello' }),
    order('create_note', { title: 'Plan', content: 'All of it' }),
    order('dispatch_task', { title: 'Tidy', prompt: '[]', notify: null }),
    order('remember', { text: 'The owner likes tea' }),
  ]
  const gate = Promise.withResolvers<void>()
  phone.text.answerWith(obedient)
  phone.text.reply({
    toolCalls: [{ name: 'create_note', arguments: { title: 'Mine', content: 'Words' } }],
    pause: { at: 'headers', until: gate.promise },
  })
  const amid = client.post('/api/chat', { content: 'Make a note' })
  await phone.eventsUntil('the turn', () => turnRequests(phone.text).length === 1)
  await halt(phone.service)
  gate.resolve()
  expect((await amid).json.reply.text).toContain('Done.')
  await client.post('/api/chat', { content: `${acts.join(' ')} ${order('current_time', {})}` })

  const returned = ofType(await phone.events(), 'tool.returned').map(
    ({ payload }) => `${payload.tool} ${payload.reason ?? payload.outcome}`,
  )
  expect(returned).toEqual([
    'create_note halted',
    'send_sms halted',
    'create_note halted',
    'dispatch_task halted',
    'remember halted',
    'current_time ok',
  ])
  const body = turnRequests(phone.text).at(-1)?.body as { tools: { name: string }[]; instructions: string }
  expect(body.tools.map(({ name }) => name)).toContain('current_time')
  for (const { name } of body.tools) expect(name).toMatch(/^(?:recall|current_|list_|read_|search_|look)/)
  expect(body.instructions).toContain('You are halted')
  expect((await client.get('/api/notes')).json.notes).toEqual([])
  expect((await client.get('/api/tasks')).json.tasks).toEqual([])
  expect((await client.get('/api/proposals')).json.proposals).toEqual([])
})

test('halts on the owner’s text HALT, confirms it in the markup, and ignores a guest’s', async () => {
  const phone = await startWithTexts()
  await text(phone, 'SM1', GUEST, 'HALT')
  await phone.eventsUntil('the guest’s answer', (all) => ofType(all, 'sms.sent').length === 1)
  expect(await state(phone.service)).toEqual(NOT_HALTED)
  const asked = turnRequests(phone.text).length
  const answer = await text(phone, 'SM2', OWNER, ' halt! ')
  expect(answer.text).toContain('Halted.')
  expect((await state(phone.service)).by).toBe('sms')
  const all = await phone.events()
  expect(ofType(all, 'sms.ignored').map(({ payload }) => payload.reason)).toEqual(['halt'])
  expect(turnRequests(phone.text)).toHaveLength(asked)

  // A repeated webhook does not halt again after the release.
  await release(phone.service)
  await text(phone, 'SM2', OWNER, ' halt! ')
  expect(await state(phone.service)).toEqual(NOT_HALTED)
})

test('halts on the text HALT of a number that has opted out, without an answer', async () => {
  const phone = await startWithTexts()
  await text(phone, 'SM1', OWNER, 'STOP')
  const answer = await text(phone, 'SM2', OWNER, 'HALT')
  expect(answer.text).not.toContain('<Message')
  expect((await state(phone.service)).halted).toBe(true)
})

test('stops a turn by text that runs when the halt comes, and resumes it after the release', async () => {
  const phone = await startWithTexts()
  const gate = Promise.withResolvers<void>()
  phone.text.reply({ text: 'At nine.', pause: { at: 'headers', until: gate.promise } })
  await text(phone, 'SM1', OWNER, 'When does my train leave?')
  await phone.eventsUntil('the turn', () => turnRequests(phone.text).length === 1)
  await halt(phone.service)
  expect(await turnRequests(phone.text)[0]?.ended).toBe('aborted')
  gate.resolve()
  await quiet()
  expect(turnRequests(phone.text)).toHaveLength(1)
  expect(ofType(await phone.events(), 'turn.failed')).toEqual([])
  await release(phone.service)
  await phone.eventsUntil('the answer', (all) => ofType(all, 'sms.sent').length === 1)
  expect(phone.double.messages.map(({ body }) => body)).toEqual(['Yes.'])
})

test('halts on a call whose caller says only “Delegate, halt”, ends it, and explains itself to the next', async () => {
  const words = ['Halt.', 'Delegate, halt.']
  const phone = await startWithTexts({ script: script({ words: (index) => words[index] ?? null }) })
  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  await caller.say(speech('caller-question'))
  await phone.eventsUntil('an answer', (all) => ofType(all, 'call.reply.spoken').length === 2)
  expect(await state(phone.service)).toEqual(NOT_HALTED)
  await caller.say(speech('caller-question'))
  const all = await phone.eventsUntil('the end', (events) => ofType(events, 'call.ended').length === 1)
  expect(ofType(all, 'call.ended')[0].payload.reason).toBe('halted')
  expect((await state(phone.service)).by).toBe('voice')

  const sessions = phone.realtime.sessions()
  for (const [sid, from] of [
    ['CA2', OWNER],
    ['CA3', GUEST],
  ] as const) {
    const { text: markup } = await phone.provider.ring(sid, from)
    expect(markup).toContain('This assistant is halted.')
    expect(markup).not.toContain('<Stream')
  }
  expect(phone.realtime.sessions()).toBe(sessions)
  const rejected = ofType(await phone.events(), 'call.rejected')
  expect(rejected.map(({ payload }) => payload.reason)).toEqual(['halted', 'halted'])
})

test('never halts on a guest’s call', async () => {
  const phone = await startWithTexts({ script: script({ words: () => 'Delegate, halt.' }) })
  const { caller } = await phone.dial('CA1', GUEST)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  await caller.say(speech('caller-question'))
  await phone.eventsUntil('an answer', (all) => ofType(all, 'call.reply.spoken').length === 2)
  expect(await state(phone.service)).toEqual(NOT_HALTED)
})

test('halts from the shell, before the start and while it runs, and outlives restarts and new views', async () => {
  const directory = testDirectory()
  const first = await startWholeService({ directory })
  const { code, out } = await runScript('halt', directory)
  expect([code, out]).toEqual([0, expect.stringContaining('choose Release in the browser')])
  expect((await state(first)).halted).toBe(true)
  await expect.poll(() => existsSync(join(directory, 'halt'))).toBe(false)
  const recorded = await state(first)
  expect(recorded).toMatchObject({ halted: true, by: 'shell', since: expect.any(String) })
  await first.stop()
  for (const file of ['views.sqlite', 'views.sqlite-wal', 'views.sqlite-shm'])
    rmSync(join(directory, file), { force: true })

  const second = await startWholeService({ directory })
  expect(await state(second)).toEqual(recorded)
  const chat = await second.client.post('/api/chat', { content: 'Remind me to call Mum tomorrow at 9' })
  expect(chat.json.reply.text).toContain('I am halted')
  expect((await release(second)).status).toBe(200)
  await second.stop()

  await runScript('halt', directory)
  const third = await startWholeService({ directory })
  expect((await state(third)).by).toBe('shell')
  expect(existsSync(join(directory, 'halt'))).toBe(false)
  const { events } = (await third.client.get('/api/timeline?limit=500')).json
  expect(haltsOf(events)).toEqual([
    'delegation.halted shell',
    'delegation.released',
    'delegation.halted shell',
  ])
})

test('is still halted after an export, an import and a restore, and wants the password', async () => {
  const first = await startWholeService()
  await halt(first)
  const recorded = await state(first)
  const [file, backup] = [join(testDirectory(), 'ledger.jsonl'), join(testDirectory(), 'backup')]
  expect((await runScript('backup', first.directory, [backup])).code).toBe(0)
  await first.stop()
  expect((await runScript('ledger-export', first.directory, [file])).code).toBe(0)
  const [imported, restored] = [join(testDirectory(), 'data'), join(testDirectory(), 'data')]
  expect((await runScript('ledger-import', imported, [file])).code).toBe(0)
  expect((await runScript('restore', restored, [backup])).code).toBe(0)
  expect((await runScript('owner-reset-password', imported, [], { input: `${PASSWORD}\n` })).code).toBe(0)
  for (const directory of [imported, restored]) {
    const service = await startWholeService({ directory })
    expect(await state(service)).toEqual(recorded)
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await release(service, 'a guess')).status).toBe(401)
    expect((await release(service)).status).toBe(429)
    await service.stop()
  }
})
