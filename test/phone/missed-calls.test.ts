import { expect, test } from 'vitest'
import { text } from '../sms/sms-harness.ts'
import { script, speech } from './call/call-harness.ts'
import { ofType, startWithPhone } from './phone-harness.ts'
import { GUEST, OWNER, tokenOf } from './provider.ts'

type Phone = Awaited<ReturnType<typeof startWithPhone>>
const NO_MODEL = { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', REALTIME_MODEL: '' }

const notified = async (phone: Phone) =>
  (await phone.service.client.get('/api/notifications')).json.notifications as {
    seq: number
    kind: string
    title: string
    text: string
  }[]
const status = (phone: Phone, callSid: string, state: string) =>
  phone.provider.post('/voice-status', { CallSid: callSid, CallStatus: state })
const ended = (phone: Phone, count: number) =>
  phone.eventsUntil(`end ${count}`, (all) => ofType(all, 'call.ended').length === count)
const missed = { kind: 'call', title: 'Missed call', text: `From ${GUEST}` }

test('notifies once of each call that somebody missed, and of none of the owner', async () => {
  const phone = await startWithPhone()
  for (const [index, state] of ['canceled', 'no-answer', 'failed'].entries()) {
    for (const from of [GUEST, OWNER]) {
      const callSid = `CA${index}${from}`
      await phone.provider.ring(callSid, from)
      await status(phone, callSid, state)
      await status(phone, callSid, 'completed')
    }
  }
  await ended(phone, 6)
  expect(await notified(phone)).toMatchObject([missed, missed, missed])
  await phone.service.client.post('/api/halt')
  for (const from of [GUEST, OWNER]) await phone.provider.ring(`CAhalted${from}`, from)
  expect(await notified(phone)).toHaveLength(4)
  expect((await notified(phone)).at(-1)).toMatchObject(missed)
})

test('notifies of the call of a guest that no model could answer', async () => {
  const phone = await startWithPhone({ environment: NO_MODEL })
  for (const [index, from] of [GUEST, OWNER].entries()) {
    const callSid = `CA${index}`
    const stream = await phone.stream(callSid, tokenOf((await phone.provider.ring(callSid, from)).text))
    await stream.closed
    await status(phone, callSid, 'completed')
    await ended(phone, index + 1)
  }
  expect(await notified(phone)).toMatchObject([missed])
})

test('records the call of a guest that is refused because the allowance is spent', async () => {
  const phone = await startWithPhone()
  await phone.service.client.put('/api/config', { entries: { ALLOWANCE_DAY: '0.01' } })
  for (const from of [GUEST, OWNER]) await phone.provider.ring(`CA${from}`, from)
  const rejected = ofType(await phone.events(), 'call.rejected')
  expect(rejected.map(({ payload }) => [payload.party, payload.reason])).toEqual([
    ['guest', 'budget'],
    ['owner', 'budget'],
  ])
  expect((await notified(phone)).filter(({ kind }) => kind === 'call')).toMatchObject([missed])
})

test('names a guest who called or texted, and leads to what they said', async () => {
  const phone = await startWithPhone({ script: script() })
  const { caller } = await phone.dial('CA1', GUEST)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  await caller.say(speech('caller-question'))
  const [heard] = ofType(
    await phone.eventsUntil('the words', (all) => ofType(all, 'call.utterance.heard').length === 1),
    'call.utterance.heard',
  )
  caller.hangUp()
  await ended(phone, 1)
  await text(phone, 'SM1', GUEST, 'Please call me back.')
  await text(phone, 'SM2', OWNER, 'Hello')
  const found = await notified(phone)
  expect(found).toMatchObject([
    { kind: 'call', title: 'Somebody called', text: `From ${GUEST}` },
    { kind: 'call', title: 'Text message', text: `From ${GUEST}` },
  ])
  const all = await phone.events()
  const facts = found.map(({ seq }) => all.find((event) => event.seq === seq))
  expect(facts).toMatchObject([{ type: 'call.ended', spanId: heard.spanId }, { type: 'sms.received' }])
})

test('notifies of a text that cannot be answered, and of no command to the provider', async () => {
  const phone = await startWithPhone()
  await text(phone, 'SM1', 'MYBANK', 'Your code is 123456.')
  await text(phone, 'SM2', GUEST, 'STOP')
  await text(phone, 'SM3', GUEST, 'And do not write again.')
  expect(await notified(phone)).toMatchObject([
    { kind: 'call', title: 'Text message', text: 'From MYBANK' },
    { kind: 'call', title: 'Text message', text: `From ${GUEST}` },
  ])
})
