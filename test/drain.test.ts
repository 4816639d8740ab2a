// @module-tag long

import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { steps } from './doubles/assistant/assistant.ts'
import { isMemoryRequest } from './doubles/model/model-double.ts'
import { turnRequests } from './doubles/model/turn-requests.ts'
import { startTelephonyDouble } from './doubles/telephony/telephony-double.ts'
import { openMediaStream } from './doubles/telephony-stream/media-stream-client.ts'
import { createClient } from './http/client.ts'
import { openSocket } from './http/web-socket.ts'
import { startRawServer } from './model/openai/raw-server.ts'
import { script, speech, TRAIN } from './phone/call/call-harness.ts'
import { startPhoneDoubles } from './phone/phone-doubles.ts'
import { ACCOUNT, AUTH_TOKEN, createProvider, GUEST, OWNER, tokenOf } from './phone/provider.ts'
import { incoming } from './sms/sms-harness.ts'
import { testDirectory } from './support/directory.ts'
import { PASSWORD } from './support/service.ts'
import { within } from './support/within.ts'
import { ASSISTANT, isAlive } from './tasks/task-harness.ts'
import { startServiceProcess } from './torture/service-process.ts'

/** The shutdown time that the service promises. */
const DRAIN_MS = 10_000
const ASKED = { content: 'When does the ferry leave?', clientMessageId: 'm1' }

/** Everything that the service talks to, and a model reply that never comes. */
async function startDoubles() {
  const never = Promise.withResolvers<void>()
  const hung = { text: 'Too late.', pause: { at: 'headers', until: never.promise } } as const
  const audio = Buffer.concat(Array.from({ length: 20 }, () => speech('reply-train')))
  const { text, environment, close } = await startPhoneDoubles(
    script({ reply: () => ({ audio, transcript: TRAIN }) }),
  )
  const provider = await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN })
  onTestFinished(async () => {
    never.resolve()
    await close()
    await provider.close()
  })
  let posts = 0
  const receiver = await startRawServer(() => {
    posts += 1
  })
  return {
    text,
    provider,
    posts: () => posts,
    hung,
    environment: {
      ...environment,
      TELEPHONY_API_BASE_URL: provider.url,
      COPILOT_COMMAND: ASSISTANT,
      DELIVERY_WEBHOOK_URL: receiver,
      DELIVERY_WEBHOOK_SECRET: 'the secret of the receiver',
    },
  }
}

/** A service in its own process with every kind of work in progress and no one responding. */
async function startUnderLoad() {
  const doubles = await startDoubles()
  const { text, provider } = doubles
  const directory = testDirectory()
  const start = () => {
    const service = startServiceProcess(directory, doubles.environment)
    onTestFinished(() => service.kill())
    return service
  }
  const service = start()
  const port = await service.listening
  const client = createClient(port)
  const webhooks = createProvider(port)
  await client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode() })

  // Learning: the memory model never answers.
  text.reply({ text: 'At nine.' })
  text.answerMemoryWith(() => doubles.hung)
  await client.post('/api/chat', { content: 'When does my train leave?' })
  await expect.poll(() => text.requests().filter(isMemoryRequest).length).toBeGreaterThan(0)
  text.answerWith(() => doubles.hung)

  const file = join(directory, 'situation.json')
  const dispatch = (prompt: string, notify: string) =>
    client.post('/api/tasks', { title: 'Tidy up', prompt, notify })
  await dispatch(steps({ ignoreTermination: true }, { tellSituation: file }, { hang: true }), 'chat')
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('}')).toBe(true)

  const caller = await openMediaStream({
    url: `ws://127.0.0.1:${port}/call`,
    callSid: 'CA1',
    accountSid: ACCOUNT,
    token: tokenOf((await webhooks.ring('CA1', OWNER)).text),
  })
  onTestFinished(() => caller.drop())
  await caller.until('some of the greeting is heard', () => caller.heardBytes().length > 1_000)

  // A chat message and a guest's text whose replies never come.
  const asked = turnRequests(text).length
  const answer = client.post('/api/chat', ASKED).catch(() => null)
  await webhooks.post('/sms', incoming('SM1', GUEST, 'Who are you?'))
  await expect.poll(() => turnRequests(text).length).toBe(asked + 2)

  // A tab that ignores the closing handshake, a reader of the log, and half a request.
  const tab = await openSocket({ port, origin: `http://127.0.0.1:${port}` }, client)
  tab.deaf()
  const headers = { cookie: client.cookie() ?? '' }
  const log = get({ port, host: '127.0.0.1', path: '/api/logs/stream', headers })
  log.on('error', () => undefined)
  await once(log, 'response')
  const upload = connect(port, '127.0.0.1')
  upload.on('error', () => undefined)
  onTestFinished(() => void upload.destroy())
  upload.write(
    `POST /api/notes HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${headers.cookie}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"content":"',
  )

  // Outcomes that the provider and the receiver accept but never acknowledge.
  provider.fail({ type: 'accept_then_hang' })
  await dispatch(steps({ print: 'The gate is green.' }), 'sms')
  await dispatch(steps({ print: 'All is tidy.' }), 'webhook')
  await expect.poll(doubles.posts).toBe(1)
  await expect.poll(() => provider.messages.length).toBe(1)
  const program: number = JSON.parse(readFileSync(file, 'utf8')).pid
  return { ...doubles, service, start, client, answer, program }
}

test('reports not ready and exits within 10 seconds while everything it waits for hangs', async () => {
  const { service, start, client, answer, program, text, provider } = await startUnderLoad()
  const ended = within(DRAIN_MS, once(service.child, 'exit'))
  service.child.kill('SIGTERM')
  await expect
    .poll(async () => (await client.get('/ready')).json, { timeout: DRAIN_MS, interval: 20 })
    .toMatchObject({ status: 503, code: 'not_ready', checks: { reactors: { ok: false } } })
  expect(await ended, service.output()).toEqual([0, null])
  await answer
  expect(isAlive(program)).toBe(false)

  // Nothing acknowledged is lost, and nothing that the provider accepted is sent again.
  text.answerWith(() => ({ text: 'At noon.' }))
  text.answerMemoryWith(() => ({ text: '{"candidates":[]}' }))
  const again = createClient(await start().listening)
  await again.post('/login', { password: PASSWORD })
  expect((await again.post('/api/chat', ASKED)).json.reply.text).toBe('At noon.')
  await expect.poll(() => provider.messages.map(({ to }) => to)).toEqual([OWNER, GUEST])
  const { events } = (await again.get('/api/timeline?limit=5000')).json
  const types: string[] = events.map(({ type }: { type: string }) => type)
  expect(types.filter((type) => type === 'sms.received')).toHaveLength(1)
  expect(types.filter((type) => type === 'call.ended')).toHaveLength(1)
  expect(types.filter((type) => type === 'delivery.unknown')).toHaveLength(1)
})
