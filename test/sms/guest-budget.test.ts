import { expect, test } from 'vitest'
import { ofType, type TimelineEvent } from '../phone/phone-harness.ts'
import { GUEST, OWNER } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { startWithTexts, text } from './sms-harness.ts'

test('runs nothing for guests’ texts over the daily budget and records one count', async () => {
  const directory = testDirectory()
  const phone = await startWithTexts({ directory, environment: { GUEST_DAILY_MESSAGES: '2' } })
  await Promise.all(['SM1', 'SM2', 'SM3'].map((sid) => text(phone, sid, GUEST, `Hello ${sid}`)))
  const isOver = (events: readonly TimelineEvent[]) =>
    ofType(events, 'delivery.succeeded').length === 2 && ofType(events, 'span.closed').length === 2
  const before = (await phone.eventsUntil('two answers', isOver)).length
  const flood = Array.from({ length: 300 }, (_, index) =>
    text(phone, `SMx${index}`, GUEST, 'x'.repeat(9_000)),
  )
  expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([200]))
  expect((await phone.events()).length).toBe(before)
  await text(phone, 'SM5', OWNER, 'I may always.')
  await phone.eventsUntil('the owner', (events) => ofType(events, 'sms.sent').length === 3)
  await phone.service.stop()
  const { ledger } = await openTestStorage(directory)
  const counted = ledger.readAfter(0, 10_000).filter(({ type }) => type === 'intrusion.counted')
  expect(counted).toMatchObject([{ facts: { kind: 'text_over_budget', count: 301 } }])
})

test('counts a flood of texts against the guest’s own share and answers others', async () => {
  const phone = await startWithTexts({ environment: { GUEST_DAILY_MESSAGES: '10' } })
  for (let index = 0; index < 10; index += 1) await text(phone, `SM${index}`, GUEST, 'Hello')
  for (const [index, from] of ['anonymous', '', '+266696687', 'Restricted'].entries())
    await text(phone, `SMw${index}`, from, 'Hello')
  await text(phone, 'SM20', '+14155550177', 'Hello')
  await text(phone, 'SM21', '+14155550178', 'Hello')
  const all = await phone.events()
  const from = (type: string) => ofType(all, type).map(({ payload }) => payload.from)
  expect(from('sms.received')).toEqual([GUEST, GUEST, GUEST, '+14155550177', '+14155550178'])
  expect(from('sms.ignored')).toEqual(['anonymous', '', '+266696687'])
})

test('does not answer a retry of a text over the budget once the budget frees up', async () => {
  let nowMs = Date.now()
  const phone = await startWithTexts({ environment: { GUEST_DAILY_MESSAGES: '1' }, nowMs: () => nowMs })
  for (const sid of ['SM1', 'SM2']) await text(phone, sid, GUEST, 'Hello')
  nowMs += 25 * 3_600_000
  await text(phone, 'SM2', GUEST, 'Hello')
  await text(phone, 'SM3', GUEST, 'Hello')
  const received = ofType(await phone.events(), 'sms.received').map(({ payload }) => payload.messageSid)
  expect(received).toEqual(['SM1', 'SM3'])
})

test('lets a guest over the budget opt out once and records no other keyword', async () => {
  const phone = await startWithTexts({ environment: { GUEST_DAILY_MESSAGES: '0' } })
  for (const [index, word] of ['HELP', '', 'STOP', 'STOP', 'START', 'STOP'].entries())
    await text(phone, `SM${index}`, GUEST, word)
  const facts = (await phone.events()).filter(({ type }) => type.startsWith('sms.'))
  expect(facts.map(({ type, payload }) => [type, payload.reason])).toEqual([['sms.ignored', 'opt_out']])
})

test('cuts a guest’s long text before storing it', async () => {
  const phone = await startWithTexts()
  await text(phone, 'SM1', GUEST, 'x'.repeat(15_000))
  const [received] = ofType(await phone.events(), 'sms.received')
  expect(received.payload.text).toHaveLength(1_600)
})

test('does not apply the guest budget to the owner', async () => {
  const phone = await startWithTexts({ environment: { GUEST_DAILY_MESSAGES: '0' } })
  await text(phone, 'SM5', OWNER, 'I may always.')
  await phone.eventsUntil('the owner', (events) => ofType(events, 'sms.sent').length === 1)
})
