import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { startRawServer } from '../model/openai/raw-server.ts'
import { script, speech } from '../phone/call/call-harness.ts'
import { ofType, startWithPhone } from '../phone/phone-harness.ts'
import { ACCOUNT, AUTH_TOKEN, OWNER } from '../phone/provider.ts'
import { incoming } from '../sms/sms-harness.ts'
import { openTab } from '../support/chat-tab.ts'
import { filesIn } from '../support/directory.ts'
import { SHORT_PAUSES } from '../support/service.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'

const KEY = 'canary-openai-1f3a'
const API_KEY_SECRET = 'canary-secret-3d5e'
const WEBHOOK_SECRET = 'canary-webhook-4f6a'
const GREETS = script({ reply: () => ({ audio: speech('caller-thanks'), transcript: 'Hello.' }) })

/** A provider that refuses every request and quotes its credentials. */
async function startQuotingProvider() {
  const quoted: string[] = []
  const url = await startRawServer((request, response) => {
    const { authorization = '' } = request.headers
    const signIn = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString()
    const message = `Refused: ${authorization}, which is ${signIn}`
    quoted.push(message)
    response.writeHead(400, { 'content-type': 'application/json', 'x-refused': authorization })
    response.end(JSON.stringify({ status: 400, code: 21211, message, more_info: `http://x/?${signIn}` }))
  })
  return { url, quoted }
}

test('does not pass on secrets that outside services quote back', async () => {
  const provider = await startQuotingProvider()
  const receiver = await startRawServer((_request, response) =>
    response.writeHead(500, WEBHOOK_SECRET, { 'x-secret': WEBHOOK_SECRET }).end(WEBHOOK_SECRET),
  )
  const phone = await startWithPhone({
    script: GREETS,
    outboundPauses: SHORT_PAUSES,
    environment: {
      TELEPHONY_AUTH_TOKEN: '',
      TELEPHONY_API_BASE_URL: provider.url,
      DELIVERY_WEBHOOK_URL: receiver,
      EMBEDDING_MODEL: 'test-embedding',
      COPILOT_COMMAND: ASSISTANT,
    },
  })
  const { service, text } = phone
  const { client } = service
  const entries = {
    OPENAI_API_KEY: KEY,
    TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
    TELEPHONY_API_KEY_SID: 'SK1',
    TELEPHONY_API_KEY_SECRET: API_KEY_SECRET,
    DELIVERY_WEBHOOK_SECRET: WEBHOOK_SECRET,
  }
  expect((await client.put('/api/config', { entries })).status).toBe(200)
  const tab = await openTab(service)
  const seen: string[] = []
  const askTelephony = async () => {
    seen.push((await client.post('/api/config.test', { service: 'telephony' })).text)
    const number = await client.get('/api/telephony/number')
    expect(number.status).toBe(502)
    seen.push(number.text)
  }

  // Requests to the models.
  for (const times of [1, 2]) text.replyTo('/embeddings', { fault: httpFaults.badRequest(`${KEY} ${times}`) })
  text.answerMemoryWith(() => ({ fault: httpFaults.unauthorised(KEY) }))
  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  phone.realtime.complain(KEY)
  seen.push((await client.post('/api/calls/current/hangup')).text)
  await caller.closed
  text.reply({ text: 'It is green.' })
  seen.push((await client.post('/api/chat', { content: 'My bicycle is green.' })).text)
  text.reply({ fault: httpFaults.unauthorised(KEY) })
  seen.push((await client.post('/api/chat', { content: 'What colour is it?' })).text)
  await phone.eventsUntil('memory', (all) => ofType(all, 'memory.extraction.failed').length > 0)

  // Requests to the provider and the webhook receiver.
  await phone.provider.post('/sms', incoming('SM1', OWNER, 'Hello'))
  await phone.eventsUntil('the refusal', (all) => ofType(all, 'sms.failed').length === 1)
  await askTelephony()
  const task = { title: 'Tidy', prompt: steps({ print: 'Tidy.' }), notify: 'webhook' }
  expect((await client.post('/api/tasks', task)).status).toBe(201)
  await phone.eventsUntil('the end of the delivery', (all) =>
    ofType(all, 'delivery.failed').some(({ payload }) => payload.channel === 'webhook' && payload.final),
  )
  await client.delete('/api/config/TELEPHONY_AUTH_TOKEN')
  await askTelephony()

  for (const path of [
    '/api/timeline?limit=5000',
    '/api/logs?limit=2000&level=trace',
    '/api/tasks',
    '/api/config',
    '/api/session/operations',
    '/ready',
  ])
    seen.push((await client.get(path)).text)
  seen.push(JSON.stringify(tab.heard), service.written.join(''))
  for (const request of text.requests()) seen.push(JSON.stringify(request.body))
  seen.push(JSON.stringify(phone.realtime.received))
  await service.stop()
  for (const file of filesIn(service.directory)) seen.push(readFileSync(file, 'latin1'))
  const signIns = [`${ACCOUNT}:${AUTH_TOKEN}`, `SK1:${API_KEY_SECRET}`]
  // Proves that there was something to repeat.
  for (const signIn of signIns) expect(provider.quoted.join()).toContain(signIn)
  const secrets = [KEY, AUTH_TOKEN, API_KEY_SECRET, WEBHOOK_SECRET]
  const encoded = signIns.map((signIn) => Buffer.from(signIn).toString('base64'))
  const all = seen.join('\n')
  for (const secret of [...secrets, ...encoded]) expect([secret, around(all, secret)]).toEqual([secret, null])
})

/** Describes where a secret was found. */
function around(all: string, secret: string): string | null {
  const at = all.indexOf(secret)
  return at === -1 ? null : all.slice(Math.max(0, at - 200), at + secret.length + 50)
}
