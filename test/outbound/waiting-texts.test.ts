import { expect, test } from 'vitest'
import { ofType } from '../phone/phone-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { startWithTexts, text } from '../sms/sms-harness.ts'
import { SHORT_PAUSES } from '../support/service.ts'

test('reports delayed texts once, counts them in /api/outbound, and sends them later', async () => {
  const phone = await startWithTexts({ outboundPauses: SHORT_PAUSES })
  phone.double.setOutage({ type: 'refuse', status: 503, code: 20503 })
  await text(phone, 'SM1', OWNER, 'One')
  await text(phone, 'SM2', OWNER, 'Two')
  const late = await phone.eventsUntil('the notice', (all) => ofType(all, 'sms.delayed').length === 1)
  expect(ofType(late, 'sms.delayed')).toMatchObject([{ internal: false, payload: { kind: 'unavailable' } }])
  await phone.eventsUntil('both turns', (all) => ofType(all, 'turn.completed').length === 2)
  const { waitingTexts } = (await phone.service.client.get('/api/outbound')).json
  expect(waitingTexts).toMatchObject({ count: 2, kind: 'unavailable' })
  expect(Date.parse(waitingTexts.until) - Date.parse(waitingTexts.since)).toBe(24 * 3_600_000)
  phone.double.setOutage(null)
  const all = await phone.eventsUntil('both texts', (events) => ofType(events, 'sms.sent').length === 2)
  expect(ofType(all, 'sms.delayed')).toHaveLength(1)
  expect((await phone.service.client.get('/api/outbound')).json.waitingTexts).toBeNull()
  const { texts } = (await phone.service.client.get('/api/session/operations?hours=1')).json
  expect(texts).toMatchObject({ attempts: texts.failedAttempts + 2, notSent: 0 })
})

test('sends a failed text again at the owner’s request, once', async () => {
  const phone = await startWithTexts()
  const { client } = phone.service
  phone.double.fail({ type: 'refuse', status: 400, code: 21211 })
  await text(phone, 'SM1', OWNER, 'One')
  const all = await phone.eventsUntil('the failure', (events) => ofType(events, 'sms.failed').length === 1)
  const [failed] = ofType(all, 'sms.failed')
  const path = `/api/outbound/texts/${failed.payload.deliveryId}/retry`
  expect((await client.post(path)).status).toBe(200)
  const sent = await phone.eventsUntil('the text', (events) => ofType(events, 'sms.sent').length === 1)
  expect(ofType(sent, 'sms.sent')).toMatchObject([
    { conversationId: failed.conversationId, payload: { text: failed.payload.text, to: OWNER } },
  ])
  expect((await client.post(path)).json.code).toBe('not_failed')
  expect((await client.post('/api/outbound/texts/nobody/retry')).json.code).toBe('unknown_text')
  expect(phone.double.messages).toHaveLength(1)
})
