import { expect, test } from 'vitest'
import { ofType } from '../phone/phone-harness.ts'
import { GUEST, NUMBER, OWNER } from '../phone/provider.ts'
import { startWithTexts, text } from './sms-harness.ts'

test('treats everyone as a guest while no phone is linked, and says how to link one', async () => {
  const phone = await startWithTexts({ environment: { OWNER_PHONE_NUMBER: '' } })
  phone.text.answerWith(() => ({ text: 'Hello there. '.repeat(60) }))
  await text(phone, 'SM1', OWNER, 'Hello')
  const all = await phone.eventsUntil('the answer', (events) => ofType(events, 'sms.sent').length === 1)
  expect(ofType(all, 'sms.received')).toMatchObject([{ payload: { party: 'guest' } }])
  const [message] = phone.double.messages
  expect(message?.body).toMatch(/^Hello there\. /)
  expect(message?.body).toMatch(/link .*phone.*Settings/)
  expect(message?.body.length).toBeLessThanOrEqual(459)

  await phone.service.client.put('/api/config', { entries: { OWNER_PHONE_NUMBER: OWNER } })
  await text(phone, 'SM2', GUEST, 'Hello')
  await phone.eventsUntil('an answer', (events) => ofType(events, 'sms.sent').length === 2)
  expect(phone.double.messages.at(-1)?.body).not.toContain('Settings')
})

test('answers from the number that was texted when no own number is set', async () => {
  const phone = await startWithTexts({ environment: { TELEPHONY_PHONE_NUMBER: '' } })
  expect((await text(phone, 'SM1', OWNER, 'Hello')).text).toMatch(/<Response\/>$/)
  await phone.eventsUntil('the answer', (events) => ofType(events, 'sms.sent').length === 1)
  expect(phone.double.messages).toMatchObject([{ from: NUMBER, to: OWNER, body: 'Yes.' }])
})
