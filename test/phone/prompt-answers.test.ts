import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../http/client.ts'
import { incoming } from '../sms/sms-harness.ts'
import { PASSWORD } from '../support/service.ts'
import { within } from '../support/within.ts'
import { ofType, startWithPhone } from './phone-harness.ts'
import { type Fields, GUEST, OWNER } from './provider.ts'

/** How long the provider waits for an answer. */
const WEBHOOK_MS = 2_000
const SIGN_INS = 100

test.each([
  ['through the API of the provider', {}],
  ['in the markup', { TELEPHONY_ACCOUNT_SID: '' }],
])('answers each webhook within two seconds while the model hangs: replies %s', async (_how, environment) => {
  const phone = await startWithPhone({ environment })
  const hung = Promise.withResolvers<void>()
  onTestFinished(() => hung.resolve())
  phone.text.answerWith(() => ({ text: 'Too late.', pause: { at: 'headers', until: hung.promise } }))
  const isAnswered = async (path: string, fields: Fields) => {
    const { status } = await within(WEBHOOK_MS, phone.provider.post(path, fields))
    expect([path, status < 300]).toEqual([path, true])
  }
  await Promise.all([
    isAnswered('/sms', incoming('SM1', OWNER, 'Are you there?')),
    isAnswered('/sms', incoming('SM2', GUEST, 'Are you there?')),
  ])
  await isAnswered('/sms/status', { MessageSid: 'SM1', MessageStatus: 'delivered' })
  await isAnswered('/voice-markup', phone.provider.call('CA1', OWNER))
  await isAnswered('/voice-status', { CallSid: 'CA1', CallStatus: 'completed' })
})

test('does not hold up a text from the owner behind 100 sign-ins', { tags: ['long'] }, async () => {
  const phone = await startWithPhone()
  const { port } = phone.service
  let pending = SIGN_INS
  const signIns = Array.from({ length: SIGN_INS }, async () => {
    const { status } = await createClient(port).post('/login', { password: PASSWORD })
    pending -= 1
    return status
  })
  // Once one has finished, all of them have started.
  await Promise.race(signIns)
  expect((await phone.provider.post('/sms', incoming('SM1', OWNER, 'Hello'))).status).toBe(200)
  expect(pending).toBeGreaterThan(SIGN_INS / 2)
  expect(new Set(await Promise.all(signIns))).toEqual(new Set([200]))
  expect(ofType(await phone.events(), 'sms.received')).toHaveLength(1)
})
