import { expect, test } from 'vitest'
import { script, speech } from '../phone/call/call-harness.ts'
import { ofType } from '../phone/phone-harness.ts'
import { GUEST, OWNER } from '../phone/provider.ts'
import { SHORT_PAUSES } from '../support/service.ts'
import { startWithTexts, text } from './sms-harness.ts'

const FREE = { input: 0, output: 0 }
const pricesWith = (more: object) =>
  JSON.stringify({ models: { 'test-model': FREE, 'gpt-transcribe': FREE }, ...more })

test('pays a text by its segments, and holds one back until the owner allows more', async () => {
  const phone = await startWithTexts({
    environment: { PRICES: pricesWith({ textSegment: 0.4 }), ALLOWANCE_DAY: '1' },
    outboundPauses: SHORT_PAUSES,
  })
  phone.text.reply({ text: 'a'.repeat(170) })
  await text(phone, 'SM1', OWNER, 'One')
  const sent = (count: number) =>
    phone.eventsUntil(`${count} texts`, (all) => ofType(all, 'delivery.succeeded').length === count)
  const all = await sent(1)
  expect(ofType(all, 'spend.reserved')).toMatchObject([
    { channel: 'sms', payload: { purpose: 'text', model: null, amountMicros: 800_000 } },
  ])
  const { turnId } = ofType(all, 'sms.sent')[0]
  const cost = async () => (await phone.service.client.get(`/api/turns/${turnId}`)).json.costMicros
  await expect.poll(cost).toBe(800_000)

  await text(phone, 'SM2', OWNER, 'Two')
  await phone.eventsUntil('the delay', (events) => ofType(events, 'sms.delayed').length === 1)
  const { json } = await phone.service.client.get('/api/spending')
  expect(json.windows[0]).toMatchObject({ spentMicros: 800_000, limitMicros: 1_000_000 })
  expect(phone.double.messages).toHaveLength(1)
  await phone.service.client.post('/api/allowance/raise', { amountMicros: 500_000 })
  const after = await sent(2)
  expect(ofType(after, 'sms.failed')).toEqual([])
  expect(phone.double.messages).toHaveLength(2)
})

test('explains to callers that no minute is affordable, and pays the minutes of a call', async () => {
  const phone = await startWithTexts({
    script: script({ reply: () => ({ audio: speech('caller-thanks'), transcript: 'Hello.' }) }),
    environment: {
      PRICES: pricesWith({
        models: {
          'test-model': FREE,
          'gpt-transcribe': FREE,
          'test-realtime': { input: 10, output: 20, audioInput: 100, audioOutput: 200, minute: 0.5 },
        },
        callMinute: 0.25,
      }),
      ALLOWANCE_DAY: '0.7',
    },
  })
  for (const caller of [OWNER, GUEST])
    expect((await phone.provider.ring(`CA-${caller}`, caller)).text).toContain('any more calls today')
  await phone.service.client.post('/api/allowance/raise', { amountMicros: 100_000 })
  // Strangers may use only 90 % of it.
  expect((await phone.provider.ring('CA-guest', GUEST)).text).toContain('any more calls today')

  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the greeting', (events) => ofType(events, 'turn.completed').length === 1)
  caller.hangUp()
  const all = await phone.eventsUntil('the end', (events) => ofType(events, 'spend.settled').length === 1)
  expect(ofType(all, 'spend.reserved')).toMatchObject([
    { channel: 'voice', payload: { purpose: 'call', amountMicros: 750_000 } },
  ])
  // A minute of the line; 5 tokens cached, 5 of text and 10 of audio; 4 written and 6 spoken.
  expect(ofType(all, 'spend.settled')[0].payload.amountMicros).toBe(250_000 + 50 + 50 + 1000 + 80 + 1200)
})
