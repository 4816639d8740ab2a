import { expect, test } from 'vitest'
import { httpFaults } from '../doubles/model/script.ts'
import type { Answer } from '../http/client.ts'
import { script, speech } from '../phone/call/call-harness.ts'
import { ofType } from '../phone/phone-harness.ts'
import { GUEST, NUMBER, OWNER } from '../phone/provider.ts'
import { startWithTexts, text } from '../sms/sms-harness.ts'
import { parseExposition } from './exposition.ts'

const TOKEN = 'canary-metrics-token-9f'

test('shows no word, name, number, id, path or secret, whatever was said, set and failed', async () => {
  const spoken = 'The canary-spoken train leaves at nine.'
  const phone = await startWithTexts({
    carriage: 'speech',
    script: script({
      reply: () => ({ audio: speech('caller-thanks'), transcript: spoken }),
      words: () => 'canary-heard',
    }),
    environment: { METRICS_TOKEN: TOKEN },
  })
  const { service } = phone
  const { client, directory } = service
  const scrape = async () => (await client.get('/metrics')).text
  const done = async (answer: Promise<Answer>) => expect((await answer).status).toBeLessThan(300)
  await scrape()

  const settings = {
    OPENAI_API_KEY: 'canary-key-1f',
    DELIVERY_WEBHOOK_SECRET: 'canary-webhook-2b',
  }
  for (const [key, value] of Object.entries(settings))
    await done(client.put('/api/config', { entries: { [key]: value } }))
  const service2 = {
    kind: 'other',
    title: 'canary-title',
    baseUrl: 'http://canary-host.invalid/v1',
    apiKey: 'canary-3c',
  }
  await done(client.put('/api/services/canary-service', service2))
  await client.post('/api/chat', {
    content: 'canary-second',
    model: { service: 'canary-service', model: 'canary-model' },
  })
  phone.text.answerWith(() => ({ text: 'canary-reply' }))
  const { conversationId, turnId } = (
    await client.post('/api/chat', { content: 'Remember the canary-message.' })
  ).json
  phone.text.reply({ fault: httpFaults.unauthorised('canary-quoted') })
  await client.post('/api/chat', { content: 'canary-failing' })
  await done(client.post('/api/notes', { title: 'canary-note', content: 'canary-content' }))
  await client.post('/api/timers', { title: 'canary-timer', at: new Date(Date.now() + 50).toISOString() })
  await done(client.post('/api/adaptations/canary', { title: 'canary-adaptation', content: 'canary-brief' }))
  await client.post('/api/tasks', { title: 'canary-task', prompt: 'canary-prompt' })
  await text(phone, 'SMcanary', OWNER, 'canary-text')
  await text(phone, 'SMcanary2', GUEST, 'canary-guest-text')
  await phone.eventsUntil('the replies by text', (all) => ofType(all, 'delivery.succeeded').length >= 2)
  const { caller } = await phone.dial('CAcanary', OWNER)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length >= 1)
  const during = await scrape()
  caller.hangUp()
  await phone.eventsUntil('the end', (all) => ofType(all, 'call.ended').length > 0)

  const shown = `${during}\n${await scrape()}`
  const { samples } = parseExposition(await scrape())
  // All of it was counted.
  for (const name of [
    'delegate_turns_total{channel="sms",outcome="completed"}',
    'delegate_turns_total{channel="chat",outcome="completed"}',
    'delegate_turns_total{channel="voice",outcome="completed"}',
    'delegate_deliveries_total{channel="sms",outcome="delivered"}',
    'delegate_notifications_total{kind="reminder"}',
    'delegate_model_requests_total{purpose="call",service="other",outcome="ok"}',
  ])
    expect([name, samples.get(name) ?? 0]).toEqual([name, expect.toSatisfy((count: number) => count > 0)])
  for (const hidden of [
    ...['canary', TOKEN, OWNER, GUEST, NUMBER, ...[OWNER, GUEST, NUMBER].map((number) => number.slice(1))],
    ...[directory, '127.0.0.1', 'localhost', 'test-model', 'test-ears', 'delegate.example.com'],
    ...[conversationId, turnId],
  ])
    expect([hidden, shown.includes(hidden)]).toEqual([hidden, false])
})
