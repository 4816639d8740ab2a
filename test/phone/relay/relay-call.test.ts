import { expect, test } from 'vitest'
import { excessOf } from '../../doubles/model/context.ts'
import { httpFaults } from '../../doubles/model/script.ts'
import { turnRequests } from '../../doubles/model/turn-requests.ts'
import { relayOf } from '../../doubles/telephony-relay/published.ts'
import { ofType, spokenLines, startWithPhone } from '../phone-harness.ts'
import { GUEST, OWNER, tokenOf } from '../provider.ts'
import { startWithRelay } from './relay-harness.ts'

const QUESTION = 'When does my train to Lisbon leave tomorrow?'
const TRAIN = 'Your train to Lisbon leaves at nine fifteen, from platform four.'
const LONG = Array.from({ length: 30 }, (_, at) => `The sentence number ${at + 1} is this one.`).join(' ')
const isOver = (events: readonly { type: string }[]) => ofType(events, 'call.ended').length > 0

const greeted = (phone: Awaited<ReturnType<typeof startWithRelay>>) =>
  phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length >= 1)

test('carries an owner’s call as words, and records what was said and heard', async () => {
  const phone = await startWithRelay()
  phone.text.reply({ text: 'Hello there, what is it?' })
  const caller = await phone.dial('CA1', OWNER)
  const opened = relayOf(caller.markups[0] ?? '')
  expect(opened).toMatchObject({
    url: 'wss://delegate.example.com/relay',
    action: 'https://delegate.example.com/relay-ended',
    attributes: { interruptible: 'speech', reportInputDuringAgentSpeech: 'dtmf', dtmfDetection: 'true' },
  })
  await greeted(phone)
  phone.text.reply({ text: TRAIN })
  await caller.say(QUESTION)
  await phone.eventsUntil('the answer', (all) => ofType(all, 'call.reply.spoken').length === 2)
  caller.hangUp()
  const all = await phone.eventsUntil('the end', isOver)
  expect(spokenLines(all)).toEqual([
    `delegate: Hello there, what is it?`,
    `caller: ${QUESTION}`,
    `delegate: ${TRAIN}`,
  ])
  expect(caller.heardText()).toBe(`Hello there, what is it?${TRAIN}`)
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'caller_hung_up' } }])
  expect(ofType(all, 'call.reply.spoken').map(({ payload }) => payload.interrupted)).toEqual([false, false])
  // A minute on the line and by relay.
  expect(ofType(all, 'spend.reserved').map(({ payload }) => payload.amountMicros)).toContain(90_000)
  expect(caller.problems).toEqual([])
})

for (const reports of [true, false])
  test(`records exactly what was heard before an interruption (reports: ${reports})`, {
    tags: reports ? [] : ['long'],
  }, async () => {
    const phone = await startWithRelay()
    phone.text.reply({ text: 'Hello.' })
    // Without reports, an estimate in real time decides between equal words.
    const caller = await phone.dial('CA1', OWNER, { reports, factor: reports ? 20 : 1 })
    await greeted(phone)
    phone.text.reply({ text: LONG })
    await caller.say(QUESTION)
    await caller.until('some of the answer is heard', () => caller.heardText().length > 60)
    phone.text.reply({ text: 'All right.' })
    await caller.say('Stop, that is enough.')
    const all = await phone.eventsUntil(
      'the next reply',
      (events) => ofType(events, 'call.reply.spoken').length === 3,
    )
    const [, answer] = ofType(all, 'call.reply.spoken')
    expect(answer.payload).toMatchObject({ interrupted: true })
    const heard = caller.heardText().slice('Hello.'.length, -'All right.'.length)
    // A word that was cut off counts as not heard.
    expect(heard.startsWith(answer.payload.text)).toBe(true)
    expect(heard.length - answer.payload.text.length).toBeLessThan(12)
    expect(LONG.startsWith(answer.payload.text)).toBe(true)
    // The model is told the same.
    const asked = turnRequests(phone.text).at(-1)?.text ?? ''
    expect(asked).toContain(answer.payload.text)
    expect(asked).not.toContain('sentence number 30')
    caller.hangUp()
    await phone.eventsUntil('the end', isOver)
    expect(caller.problems).toEqual([])
  })

test('continues a call whose relay breaks, and ends it after three breaks', async () => {
  const phone = await startWithRelay()
  phone.text.answerWith(() => ({ text: 'I am here.' }))
  const caller = await phone.dial('CA1', OWNER)
  await greeted(phone)
  await caller.say(QUESTION)
  await phone.eventsUntil('an answer', (all) => ofType(all, 'call.reply.spoken').length === 2)
  for (const [round, sessions] of [2, 3, 4].entries()) {
    caller.drop()
    await caller.until('another relay', () => caller.sessions.length === sessions)
    await phone.eventsUntil(
      'the delegate is back',
      (all) => spokenLines(all).filter((line) => line === 'delegate: I am here.').length === 3 + round,
    )
  }
  expect(JSON.stringify(turnRequests(phone.text).at(-1))).toContain(QUESTION)
  // A replay of what the provider said of the first relay gets no token, and leaves the call alone.
  const replayed = { ...phone.provider.call('CA1', OWNER), CallStatus: 'in-progress', SessionId: 'VX1' }
  const answer = await phone.provider.post('/relay-ended', { ...replayed, SessionStatus: 'failed' })
  expect(answer.text).not.toContain('token')
  expect(caller.sessions).toHaveLength(4)
  caller.drop()
  await caller.closed
  expect(caller.markups.at(-1)).toContain('<Say>I lost the connection.')
  const all = await phone.eventsUntil('the end', isOver)
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'line_lost' } }])
  expect(ofType(all, 'call.connected')).toHaveLength(1)
})

test('takes keys for the keypad alone', async () => {
  const phone = await startWithRelay({ environment: { PHONE_PIN: '482913' } })
  phone.text.answerWith(() => ({ text: 'Hello there, what is it?' }))
  const caller = await phone.dial('CA1', OWNER)
  await greeted(phone)
  caller.press('482913#')
  const all = await phone.eventsUntil('the PIN', (events) => ofType(events, 'call.pin.accepted').length === 1)
  caller.hangUp()
  await phone.eventsUntil('the end', isOver)
  expect(JSON.stringify([all, phone.text.requests()])).not.toContain('482913')
})

test('reads out with the builtin model what the keypad did', async () => {
  const phone = await startWithRelay({
    environment: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', CHAT_MODEL: '', PHONE_PIN: '482913' },
  })
  const caller = await phone.dial('CA1', OWNER)
  await greeted(phone)
  caller.press('111111#')
  const all = await phone.eventsUntil('it', (found) => ofType(found, 'call.reply.spoken').length === 2)
  expect(spokenLines(all).at(-1)).toBe(
    'delegate: The PIN was wrong. You can enter it again, followed by the hash key.',
  )
  caller.hangUp()
})

test('halts when the owner says so', async () => {
  const phone = await startWithRelay()
  phone.text.answerWith(() => ({ text: 'Hello.' }))
  const caller = await phone.dial('CA1', OWNER)
  await greeted(phone)
  await caller.say('Delegate, halt.')
  await caller.closed
  expect(caller.heardText()).toContain('This assistant is halted now. Goodbye.')
  expect(caller.markups.at(-1)).toContain('<Response><Hangup/></Response>')
  const all = await phone.eventsUntil('the end', isOver)
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'halted' } }])
})

test('lets the builtin model take a call', async () => {
  const phone = await startWithRelay({
    environment: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', CHAT_MODEL: '' },
  })
  const caller = await phone.dial('CA1', OWNER)
  await greeted(phone)
  await caller.say('Remember that I like green tea.')
  const all = await phone.eventsUntil(
    'an answer',
    (events) => ofType(events, 'call.reply.spoken').length === 2,
  )
  expect(ofType(all, 'memory.stored')).toHaveLength(1)
  const second = await phone.provider.ring('CA2', OWNER)
  expect(second.text).toContain('<Reject reason="busy"/>')
  const hungUp = await phone.service.client.post('/api/calls/current/hangup')
  expect(hungUp.status).toBe(200)
  await caller.closed
  expect(caller.markups.at(-1)).toContain('<Response><Hangup/></Response>')
  const ended = await phone.eventsUntil('the end', isOver)
  expect(ofType(ended, 'call.ended')).toMatchObject([{ payload: { reason: 'owner_hung_up' } }])
})

test('offers a guest of the builtin model to leave a message', async () => {
  const phone = await startWithRelay({
    environment: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', CHAT_MODEL: '' },
  })
  await phone.dial('CA1', GUEST)
  expect(spokenLines(await greeted(phone))).toEqual([
    'delegate: This is an automated assistant. You can leave a message for my owner.',
  ])
})

test('hears and speaks the language of the owner, also where no model speaks', async () => {
  const phone = await startWithRelay({ environment: { DELEGATE_LANGUAGE: 'de' } })
  phone.text.reply({ text: 'Hallo.' })
  phone.text.answerWith(() => ({ fault: httpFaults.badRequest('scripted') }))
  const caller = await phone.dial('CA1', OWNER)
  expect(relayOf(caller.markups[0] ?? '')?.attributes).toMatchObject({ language: 'de-DE' })
  await greeted(phone)
  await caller.say('Wann fährt mein Zug?')
  const all = await phone.eventsUntil('it', (found) => ofType(found, 'call.reply.spoken').length === 2)
  expect(spokenLines(all).at(-1)).toBe(
    'delegate: Entschuldigung, das konnte ich nicht beantworten. Bitte noch einmal versuchen.',
  )
})

test('relays calls only once the owner wants it', async () => {
  const phone = await startWithRelay({
    environment: { REALTIME_MODEL: 'test-realtime', PHONE_CARRIAGE: 'auto' },
  })
  expect((await phone.provider.ring('CA1', OWNER)).text).toContain('<Stream')
  await phone.provider.post('/voice-status', { CallSid: 'CA1', CallStatus: 'completed' })
  await phone.service.client.put('/api/config', { entries: { PHONE_CARRIAGE: 'relay' } })
  expect(relayOf((await phone.provider.ring('CA2', OWNER)).text)).not.toBe(null)
})

test('frees the line at once when a relay fails before it connects, and logs why', async () => {
  const phone = await startWithRelay()
  expect(relayOf((await phone.provider.ring('CA1', OWNER)).text)).not.toBe(null)
  const ended = { ...phone.provider.call('CA1', OWNER), CallStatus: 'in-progress', SessionId: 'VX1' }
  const { text } = await phone.provider.post('/relay-ended', {
    ...{ ...ended, SessionStatus: 'failed', ErrorCode: '64101', ErrorMessage: 'invalid: my heron' },
  })
  expect(text).toContain('<Say>I lost the connection.')
  const all = await phone.eventsUntil('the end', isOver)
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { callSid: 'CA1', reason: 'not_connected' } }])
  expect(relayOf((await phone.provider.ring('CA2', OWNER)).text)).not.toBe(null)
  const { lines } = (await phone.service.client.get('/api/logs?limit=2000&level=warn')).json
  expect(JSON.stringify(lines)).toMatch(/"the line of a call failed"/)
  expect(lines.filter((line: object) => JSON.stringify(line).includes('64101'))).toHaveLength(1)
  expect(JSON.stringify(lines)).not.toContain('heron')
})

const UNWANTED = 'carries no call by a realtime model if the owner wants the relay'

test(`${UNWANTED}, whenever they say so`, async () => {
  const phone = await startWithPhone()
  const markup = (await phone.provider.ring('CA1', OWNER)).text
  await phone.service.client.put('/api/config', { entries: { PHONE_CARRIAGE: 'relay' } })
  await phone.stream('CA1', tokenOf(markup))
  const all = await phone.eventsUntil('the end', isOver)
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'no_realtime_model' } }])
  expect(phone.realtime.received).toEqual([])
})

test(`${UNWANTED}, but has no account`, async () => {
  const phone = await startWithPhone({ environment: { PHONE_CARRIAGE: 'relay', TELEPHONY_ACCOUNT_SID: '' } })
  await phone.stream('CA1', tokenOf((await phone.provider.ring('CA1', OWNER)).text))
  const all = await phone.eventsUntil('the end', isOver)
  expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'no_realtime_model' } }])
  expect(phone.realtime.received).toEqual([])
})

test('keeps a call within a small context, whatever was said before', { tags: ['long'] }, async () => {
  const phone = await startWithRelay({ environment: { MODEL_API: 'completions', CONTEXT_TOKENS: '4096' } })
  phone.text.answerWith(() => ({ text: LONG }))
  for (let day = 1; day <= 8; day += 1)
    await phone.service.client.post('/api/chat', { content: `Day ${day}: ${LONG}` })
  phone.text.answerWith(() => ({ text: TRAIN }))
  const caller = await phone.dial('CA1', OWNER)
  await greeted(phone)
  await caller.say(`${LONG} ${QUESTION}`)
  const all = await phone.eventsUntil('the answer', (seen) => ofType(seen, 'call.reply.spoken').length === 2)
  expect(ofType(all, 'call.reply.spoken').map(({ payload }) => payload.text)).toEqual([TRAIN, TRAIN])
  const ofCall = turnRequests(phone.text, '/chat/completions').filter(({ text }) =>
    text.includes('You are on the phone'),
  )
  expect(ofCall.length).toBeGreaterThan(1)
  expect(ofCall.filter(({ body }) => excessOf(body, 4_096) > 0)).toEqual([])
  expect(ofCall.at(-1)?.text).toContain('sentence number 30')
  caller.hangUp()
  await phone.eventsUntil('the end', isOver)
})
