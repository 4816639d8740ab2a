import { expect, test } from 'vitest'
import { toDraft } from '../../ledger/codec.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { createIds } from '../../ledger/ids.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import { ofType } from '../phone/phone-harness.ts'
import { ACCOUNT, AUTH_TOKEN, GUEST, NUMBER, OWNER } from '../phone/provider.ts'
import { startWithTexts, text } from '../sms/sms-harness.ts'
import { testDirectory } from '../support/directory.ts'
import { SHORT_PAUSES } from '../support/service.ts'

const report = (phone: Awaited<ReturnType<typeof startWithTexts>>, MessageSid: string, more: object) =>
  phone.provider.post('/sms/status', { MessageSid, ...more })

test('shows an accepted but undelivered text once and tells the delegate', async () => {
  const phone = await startWithTexts()
  phone.text.reply({ text: 'At nine fifteen.' })
  await text(phone, 'SM1', OWNER, 'When does it leave?')
  await phone.eventsUntil('the answer', (all) => ofType(all, 'sms.sent').length === 1)
  const sid = phone.double.messages[0]?.sid ?? ''
  await report(phone, sid, { MessageStatus: 'sent' })
  expect(ofType(await phone.events(), 'sms.undelivered')).toEqual([])
  await report(phone, sid, { MessageStatus: 'undelivered', ErrorCode: '30003' })
  await report(phone, sid, { MessageStatus: 'failed', ErrorCode: '30003' })
  const all = await phone.eventsUntil('the report', (events) => ofType(events, 'sms.undelivered').length > 0)
  const [sent] = ofType(all, 'sms.sent')
  expect(ofType(all, 'sms.undelivered')).toMatchObject([
    {
      internal: false,
      conversationId: sent.conversationId,
      payload: { status: 'undelivered', providerCode: 30003, to: OWNER, text: 'At nine fifteen.' },
    },
  ])
  const operations = await phone.service.client.get('/api/session/operations?hours=1')
  expect(operations.json.texts).toMatchObject({ attempts: 1, failedAttempts: 0, notSent: 1 })
  await phone.service.client.post('/api/chat', { content: 'Hello?' })
  expect(turnRequests(phone.text).at(-1)?.text).toContain('did not arrive')
})

test('reports a status that arrives before its text is recorded, but no failure after delivery', async () => {
  const phone = await startWithTexts()
  // The double numbers texts from 1, so this status names a text that is not sent yet.
  await report(phone, `SM${'1'.padStart(32, '0')}`, { MessageStatus: 'failed', ErrorCode: '30006' })
  await text(phone, 'SM1', GUEST, 'Hello')
  await phone.eventsUntil('the report', (all) => ofType(all, 'sms.undelivered').length === 1)
  await text(phone, 'SM2', GUEST, 'Hello again')
  await phone.eventsUntil('the second', (all) => ofType(all, 'sms.sent').length === 2)
  const second = phone.double.messages[1]?.sid ?? ''
  await report(phone, second, { MessageStatus: 'delivered' })
  await report(phone, second, { MessageStatus: 'failed' })
  const all = await phone.events()
  expect(ofType(all, 'sms.undelivered')).toMatchObject([{ conversationId: null }])
})

/** Leaves a text that was handed over when the process died: an attempt without an outcome. */
async function orphaned(directory: string) {
  const first = await startWithTexts({ directory })
  await first.service.stop()
  const ledger = openLedger(directory, createIds(Date.now))
  const facts = { deliveryId: 'd1', channel: 'sms' as const }
  const head = { conversationId: null, spanId: null, actor: 'service' as const, channel: 'sms' as const }
  const newId = createIds(Date.now)
  const draft = (event: NewEvent) =>
    toDraft(event, { newId, newSalt: () => '0'.repeat(32), at: new Date().toISOString() })
  const requested = draft({
    type: 'delivery.requested',
    ...head,
    facts: { ...facts, taskId: null, maxAttempts: 3 },
    body: { target: OWNER, text: 'Your train leaves at nine.' },
  })
  const attempted = draft({ type: 'delivery.attempted', ...head, facts: { ...facts, attempt: 1 } })
  expect(ledger.commit([[requested, attempted]])).toMatchObject([{ status: 'appended' }])
  ledger.close()
}

test.each([true, false])(
  'looks up a text orphaned by a crash and never sends it again (the provider has it: %s)',
  async (taken) => {
    const directory = testDirectory()
    await orphaned(directory)
    const double = await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN })
    if (taken) double.take({ from: NUMBER, to: OWNER, body: 'Your train leaves at nine.' })
    const phone = await startWithTexts({ directory, double, outboundPauses: SHORT_PAUSES })
    const all = await phone.eventsUntil('an outcome', (events) =>
      events.some(({ type }) => type === 'sms.sent' || type === 'delivery.unknown'),
    )
    if (taken) {
      expect(ofType(all, 'sms.sent')).toMatchObject([{ payload: { messageSid: double.messages[0]?.sid } }])
    } else expect(ofType(all, 'sms.failed')).toMatchObject([{ payload: { kind: 'unknown' } }])
    expect(double.requests.filter(({ method }) => method === 'POST')).toEqual([])
    expect(double.requests.filter(({ method }) => method === 'GET').length).toBeGreaterThan(0)
  },
)
