import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createIds } from '../../ledger/ids.ts'
import { markImported } from '../../ledger/imported.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { postWebhook, signatureOf } from '../../src/outbound/webhook.ts'
import { steps } from '../doubles/assistant/assistant.ts'
import { OWNER } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import { SHORT_PAUSES } from '../support/service.ts'
import { ofType, startProvider, startWithAssistant } from '../tasks/task-harness.ts'

const busy = { type: 'refuse', status: 503, code: 20503 } as const
const refused = { type: 'refuse', status: 400, code: 21211 } as const
/** Too long for a second attempt before the service is stopped. */
const LONG_PAUSES = { ...SHORT_PAUSES, firstRetryMs: 60_000 }
const afterTheLongPause = () => Date.now() + 2 * LONG_PAUSES.firstRetryMs
const done = steps({ print: 'The gate is green.' })

test('retries a text until the provider takes it, and reports the rates', async () => {
  const { double, environment } = await startProvider()
  const assistant = await startWithAssistant({ environment, outboundPauses: SHORT_PAUSES })
  double.fail(busy, busy)
  const id = await assistant.dispatch(done, { notify: 'sms', title: 'Paint' })
  const task = await assistant.settled(id)
  expect(double.messages).toMatchObject([{ to: OWNER, body: 'Task "Paint" is done. The gate is green.' }])
  expect(task).toMatchObject({ status: 'finished', deliveryState: 'delivered' })
  expect(task.deliveries).toMatchObject([
    {
      channel: 'sms',
      status: 'delivered',
      attempts: [
        { attempt: 1, outcome: 'failed', kind: 'unavailable' },
        { attempt: 2, outcome: 'failed', kind: 'unavailable' },
        { attempt: 3, outcome: 'delivered', kind: null },
      ],
    },
  ])
  expect(await assistant.operations()).toEqual({
    scope: 'window',
    attempts: 3,
    successes: 1,
    failedAttempts: 2,
    retriedAttempts: 2,
    finalFailures: 0,
    attemptSuccessRate: 1 / 3,
    retryRate: 2 / 3,
  })
})

test('makes a refusal final and visible, falls back to chat, and delivers on a manual retry', async () => {
  const { double, environment } = await startProvider()
  const assistant = await startWithAssistant({ environment })
  double.fail(refused)
  const id = await assistant.dispatch(done, { notify: 'sms' })
  const task = await assistant.settled(id)
  expect(task.deliveryState).toBe('fallback')
  expect(task.deliveries).toMatchObject([
    { channel: 'sms', status: 'failed', kind: 'refused', attempts: [{ outcome: 'failed' }] },
    { channel: 'chat', status: 'delivered', fallbackOf: task.deliveries[0].id },
  ])
  const replies = ofType(await assistant.events(), 'chat.reply.sent').filter(
    ({ payload }) => payload.deliveryId,
  )
  expect(replies).toMatchObject([
    { payload: { text: expect.stringContaining('It could not be texted to you.') } },
  ])
  expect(double.messages).toEqual([])
  expect(await assistant.operations()).toMatchObject({
    attempts: 2,
    successes: 1,
    failedAttempts: 1,
    retriedAttempts: 0,
    finalFailures: 1,
    attemptSuccessRate: 0.5,
    retryRate: 0,
  })
  const retried = await assistant.client.post(`/api/tasks/${id}/retry`, {})
  expect([retried.status, retried.json.id]).toEqual([200, id])
  await assistant.until('the text', async () => (await assistant.task(id)).deliveryState === 'delivered')
  expect(double.messages).toHaveLength(1)
  expect((await assistant.client.post(`/api/tasks/${id}/retry`, {})).status).toBe(409)
})

test('falls back to chat after the last failed attempt', async () => {
  const { double, environment } = await startProvider()
  const assistant = await startWithAssistant({ environment, outboundPauses: SHORT_PAUSES })
  double.fail(...Array.from({ length: 20 }, () => ({ type: 'refuse', status: 429, code: 20429 }) as const))
  const id = await assistant.dispatch(done, { notify: 'sms' })
  const task = await assistant.until('the last attempt', async () => {
    const found = await assistant.task(id)
    return found.deliveryState === 'fallback' ? found : null
  })
  expect(task.deliveries[0]).toMatchObject({ status: 'failed', kind: 'rate_limited', maxAttempts: 5 })
  expect(task.deliveries[0].attempts).toHaveLength(5)
  expect(await assistant.operations()).toMatchObject({
    attempts: 6,
    successes: 1,
    failedAttempts: 5,
    retriedAttempts: 4,
    finalFailures: 1,
  })
})

test('continues the attempts after a restart and delivers one message', async () => {
  const { double, environment } = await startProvider()
  const directory = testDirectory()
  double.fail(busy, busy)
  const first = await startWithAssistant({ directory, environment, outboundPauses: LONG_PAUSES })
  const id = await first.dispatch(done, { notify: 'sms' })
  await first.until('a failed attempt', async () => ofType(await first.events(), 'delivery.failed').at(0))
  await first.service.stop()
  const second = await startWithAssistant({
    directory,
    environment,
    outboundPauses: SHORT_PAUSES,
    nowMs: afterTheLongPause,
  })
  const task = await second.settled(id)
  expect(task.deliveries).toMatchObject([{ status: 'delivered', attempts: [{}, {}, { attempt: 3 }] }])
  expect(double.messages).toHaveLength(1)
  expect(await second.operations()).toMatchObject({
    attempts: 3,
    successes: 1,
    retriedAttempts: 2,
    attemptSuccessRate: 1 / 3,
  })
})

test('retries a failure from a gateway without a provider code', async () => {
  const { double, environment } = await startProvider()
  const assistant = await startWithAssistant({ environment, outboundPauses: SHORT_PAUSES })
  double.fail({ type: 'refuse_without_code', status: 502 })
  const id = await assistant.dispatch(done, { notify: 'sms' })
  expect((await assistant.settled(id)).deliveries).toMatchObject([
    { status: 'delivered', attempts: [{ outcome: 'failed' }, { outcome: 'delivered' }] },
  ])
  expect(double.messages).toHaveLength(1)
})

test('leaves a delivery unknown and does not repeat it when the connection breaks', async () => {
  const { double, environment } = await startProvider()
  const assistant = await startWithAssistant({ environment, outboundPauses: SHORT_PAUSES })
  double.fail({ type: 'cut' })
  const id = await assistant.dispatch(done, { notify: 'sms' })
  const task = await assistant.settled(id)
  expect(task).toMatchObject({ deliveryState: 'unknown', deliveries: [{ status: 'unknown' }] })
  expect(await assistant.operations()).toMatchObject({ attempts: 1, successes: 0, failedAttempts: 1 })
  expect(double.messages).toEqual([])
  await assistant.client.post(`/api/tasks/${id}/retry`, { what: 'delivery' })
  await assistant.until('the text', async () => double.messages.length === 1)
})

test('falls back at once without a phone number or an account', async () => {
  const assistant = await startWithAssistant()
  const id = await assistant.dispatch(done, { notify: 'sms' })
  expect((await assistant.settled(id)).deliveries).toMatchObject([
    { channel: 'sms', status: 'failed', kind: 'not_configured', attempts: [] },
    { channel: 'chat', status: 'delivered' },
  ])
  expect(await assistant.operations()).toMatchObject({ attempts: 1, failedAttempts: 0, finalFailures: 1 })
})

type Post = { readonly headers: IncomingMessage['headers']; readonly body: string }

/** The owner's webhook: gives these answers in turn, then 204. */
async function startReceiver(...answers: readonly ((answer: ServerResponse) => void)[]) {
  const posts: Post[] = []
  const server = createServer((incoming, answer) => {
    text(incoming)
      .then((body) => {
        posts.push({ headers: incoming.headers, body })
        const next = answers[posts.length - 1]
        if (next) next(answer)
        else answer.writeHead(204).end()
      })
      .catch(() => answer.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=canary-of-the-target`
  const secret = 'the secret of the webhook'
  return { posts, secret, environment: { DELIVERY_WEBHOOK_URL: url, DELIVERY_WEBHOOK_SECRET: secret } }
}

test('signs a webhook over its time and body, and retries a failing receiver', async () => {
  const receiver = await startReceiver(
    (answer) => answer.writeHead(500).end(),
    (answer) => answer.writeHead(429, { 'retry-after': '1' }).end(),
  )
  const assistant = await startWithAssistant({
    environment: receiver.environment,
    outboundPauses: SHORT_PAUSES,
  })
  const startedS = Math.floor(Date.now() / 1000)
  const id = await assistant.dispatch(done, { notify: 'webhook', title: 'Paint' })
  const task = await assistant.settled(id)
  expect(task.deliveries).toMatchObject([{ channel: 'webhook', status: 'delivered', attempts: [{}, {}, {}] }])
  const [first, , last] = receiver.posts
  expect(new Set(receiver.posts.map(({ headers }) => headers['webhook-id']))).toEqual(
    new Set([task.deliveries[0].id]),
  )
  const timestamp = String(last?.headers['webhook-timestamp'])
  expect(Number(timestamp)).toBeGreaterThanOrEqual(startedS)
  expect(Number(timestamp)).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000))
  expect(last?.headers['webhook-signature']).toBe(
    signatureOf(receiver.secret, task.deliveries[0].id, timestamp, last?.body ?? ''),
  )
  expect(JSON.parse(first?.body ?? '')).toMatchObject({
    event: 'task.finished',
    title: 'Paint',
    status: 'finished',
    text: 'The gate is green.',
  })
})

test('says in the chat that the webhook lacks its secret', async () => {
  const assistant = await startWithAssistant({
    environment: { DELIVERY_WEBHOOK_URL: 'http://127.0.0.1:9/hook' },
  })
  await assistant.settled(await assistant.dispatch(done, { notify: 'webhook', title: 'Paint' }))
  expect(ofType(await assistant.events(), 'chat.reply.sent')).toMatchObject([
    {
      payload: {
        text: expect.stringContaining(
          'Task “Paint” is done. It could not be delivered to your webhook, which needs an address and a secret in the settings.',
        ),
      },
    },
  ])
})

test('honours Retry-After from a webhook receiver', async () => {
  const nowMs = Date.UTC(2030, 0, 1, 12)
  const receiver = await startReceiver((answer) =>
    answer.writeHead(503, { 'retry-after': new Date(nowMs + 90_000).toUTCString() }).end(),
  )
  const outcome = await postWebhook(
    { id: 'a', url: receiver.environment.DELIVERY_WEBHOOK_URL, secret: receiver.secret, body: '{}' },
    { nowMs: () => nowMs, signal: new AbortController().signal },
  )
  expect(outcome).toEqual({ status: 'failed', kind: 'unavailable', mayRetry: true, retryAfterMs: 90_000 })
})

test('matches the signature of the published example', () => {
  // From the reference libraries (https://github.com/standard-webhooks/standard-webhooks).
  expect(
    signatureOf(
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      '1614265330',
      '{"test": 2432232314}',
    ),
  ).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('does not retry a redirect or a refusal, and leaves a broken connection unknown', async () => {
  const cases = [
    {
      answer: (answer: ServerResponse) => void answer.writeHead(302, { location: '/elsewhere' }).end(),
      status: 'failed',
    },
    { answer: (answer: ServerResponse) => void answer.writeHead(410).end(), status: 'failed' },
    { answer: (answer: ServerResponse) => void answer.destroy(), status: 'unknown' },
  ]
  for (const { answer, status } of cases) {
    const receiver = await startReceiver(answer)
    const assistant = await startWithAssistant({ environment: receiver.environment })
    const id = await assistant.dispatch(done, { notify: 'webhook' })
    const task = await assistant.settled(id)
    expect(task.deliveries[0]).toMatchObject({ channel: 'webhook', status })
    expect(task.deliveries).toHaveLength(status === 'failed' ? 2 : 1)
    expect(receiver.posts).toHaveLength(1)
    await assistant.service.stop()
  }
})

test('holds tasks and webhooks after a restore until the owner releases them', async () => {
  const receiver = await startReceiver(
    ...Array.from({ length: 2 }, () => (answer: ServerResponse) => void answer.writeHead(503).end()),
  )
  const directory = testDirectory()
  const { environment } = receiver
  const first = await startWithAssistant({ directory, environment, outboundPauses: LONG_PAUSES })
  const id = await first.dispatch(done, { notify: 'webhook' })
  await first.until('a failed attempt', async () => ofType(await first.events(), 'delivery.failed').at(0))
  await first.service.stop()
  const ledger = openLedger(directory, createIds(Date.now))
  const { seq, hash } = ledger.head()
  markImported(ledger, { source: 'restore', headSeq: seq, headHash: hash })
  ledger.close()

  const second = await startWithAssistant({
    directory,
    environment,
    outboundPauses: SHORT_PAUSES,
    nowMs: afterTheLongPause,
  })
  const waiting = await second.dispatch(done)
  // By the end of this turn, everything due would have started.
  await second.client.post('/api/chat', { content: 'Hello' })
  expect((await second.task(waiting)).status).toBe('queued')
  expect((await second.task(id)).deliveryState).toBe('pending')
  expect(receiver.posts).toHaveLength(1)
  await second.client.post('/api/outbound/release')
  expect((await second.settled(waiting)).status).toBe('finished')
  expect((await second.settled(id)).deliveryState).toBe('delivered')
})
