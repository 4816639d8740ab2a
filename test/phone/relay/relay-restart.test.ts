import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../http/client.ts'
import { testDirectory } from '../../support/directory.ts'
import { PASSWORD } from '../../support/service.ts'
import { startServiceProcess } from '../../torture/service-process.ts'
import { startPhoneDoubles } from '../phone-doubles.ts'
import { ofType, spokenLines } from '../phone-harness.ts'
import { createProvider, OWNER } from '../provider.ts'
import { followRelay } from './relay-caller.ts'
import { startWithRelay } from './relay-harness.ts'

const QUESTION = 'When does my train to Lisbon leave tomorrow?'

type Fields = Readonly<Record<string, string>>

/** Kills the service in the middle of a call. Returns how the provider asks for markup afterwards. */
async function dieInACall(
  directory: string,
  verdict = 'No-TN-Validation',
): Promise<{ path: string; fields: Fields }> {
  const doubles = await startPhoneDoubles()
  const process = startServiceProcess(directory, { ...doubles.environment, PHONE_CARRIAGE: 'relay' })
  onTestFinished(async () => {
    await process.kill()
    await doubles.close()
  })
  const port = await process.listening
  const client = createClient(port)
  await client.post('/api/install', { password: PASSWORD, setupCode: process.setupCode() })
  const provider = createProvider(port)
  const asked = Promise.withResolvers<{ path: string; fields: Fields }>()
  const caller = await followRelay(
    { port, provider },
    {
      callSid: 'CA1',
      from: OWNER,
      markup: (await provider.post('/voice-markup', { ...provider.call('CA1', OWNER), StirVerstat: verdict }))
        .text,
      async action(path, fields) {
        asked.resolve({ path, fields })
        return ''
      },
    },
  )
  const heard = (count: number) => async () =>
    (await client.get('/api/timeline')).json.events.filter(
      ({ type }: { type: string }) => type === 'call.reply.spoken',
    ).length === count
  await expect.poll(heard(1)).toBe(true)
  await caller.say(QUESTION)
  await expect.poll(heard(2)).toBe(true)
  await process.kill()
  return asked.promise
}

test('continues a call that a crash interrupted, in the same conversation, once', {
  tags: ['long'],
}, async () => {
  const directory = testDirectory()
  const { path, fields } = await dieInACall(directory)
  expect(fields).toMatchObject({ SessionStatus: 'failed', ErrorCode: '64105', CallStatus: 'in-progress' })

  const phone = await startWithRelay({ directory })
  const at = { port: phone.service.port, provider: phone.provider }
  const forged = await phone.provider.post(path, fields, { 'x-twilio-signature': 'bm9wZQ==' })
  expect(forged.status).toBe(403)
  const markup = (await phone.provider.post(path, fields)).text
  const caller = await followRelay(at, { callSid: 'CA1', from: OWNER, markup })
  await phone.eventsUntil('the delegate is back', (all) => ofType(all, 'call.reply.spoken').length === 3)
  await caller.say('Are you still there?')
  const all = await phone.eventsUntil('an answer', (all) => ofType(all, 'call.reply.spoken').length === 4)
  expect(spokenLines(all)).toContain('caller: Are you still there?')
  expect(JSON.stringify(phone.text.requests())).toContain(QUESTION)
  const legs = ofType(all, 'call.offered')
  expect(legs.map(({ payload }) => payload.callSid)).toEqual(['CA1', 'CA1~2'])
  expect(new Set(legs.map(({ conversationId }) => conversationId)).size).toBe(1)
  caller.hangUp()
  const ended = await phone.eventsUntil('the end', (events) => ofType(events, 'call.ended').length === 2)
  expect(ofType(ended, 'call.ended').map(({ payload }) => payload.reason)).toEqual([
    'interrupted',
    'caller_hung_up',
  ])
  // A replay of the webhook gets no token.
  expect((await phone.provider.post(path, fields)).text).not.toContain('token')
  expect((await phone.provider.ring('CA1', OWNER)).text).toContain('<Reject')
})

test('a guest whose number failed its attestation stays a guest after a crash', {
  tags: ['long'],
}, async () => {
  const directory = testDirectory()
  const { path, fields } = await dieInACall(directory, 'TN-Validation-Failed-C')
  const phone = await startWithRelay({ directory })
  const markup = (await phone.provider.post(path, fields)).text
  const at = { port: phone.service.port, provider: phone.provider }
  const caller = await followRelay(at, { callSid: 'CA1', from: OWNER, markup })
  await phone.eventsUntil('the delegate is back', (all) => ofType(all, 'call.reply.spoken').length === 3)
  caller.hangUp()
  const all = await phone.eventsUntil('the end', (events) => ofType(events, 'call.ended').length === 2)
  const guest = { conversationId: null, payload: { party: 'guest', attestation: 'failed' } }
  expect(ofType(all, 'call.offered')).toMatchObject([guest, guest])
})
