import { expect, test } from 'vitest'
import { httpFaults } from '../doubles/model/script.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import type { Script } from '../doubles/realtime/session.ts'
import { script, speech, TRAIN } from './call/call-harness.ts'
import { ofType, spokenLines, startWithPhone } from './phone-harness.ts'
import { GUEST, OWNER } from './provider.ts'

const GREETING = 'Hello there, what is it?'
const QUESTION = 'When does my train to Lisbon leave tomorrow?'
const greets = { audio: speech('caller-thanks'), transcript: GREETING }
const answers = { audio: speech('reply-train'), transcript: TRAIN }
const answersAtLength = {
  audio: Buffer.concat(Array.from({ length: 20 }, () => speech('reply-train'))),
  transcript: Array.from({ length: 20 }, () => TRAIN).join(' '),
}
const isOver = (events: readonly { type: string }[]) => ofType(events, 'call.ended').length > 0

async function dialled(
  given: Partial<Script>,
  { from = OWNER, ...options }: Parameters<typeof startWithPhone>[0] & { readonly from?: string } = {},
) {
  const phone = await startWithPhone({ carriage: 'speech', script: script(given), ...options })
  const { caller } = await phone.dial('CA1', from)
  const spoken = (count: number) =>
    phone.eventsUntil(`reply ${count}`, (all) => ofType(all, 'call.reply.spoken').length >= count)
  await spoken(1)
  return { phone, caller, spoken }
}

test('stops when the caller speaks, and tells the model what they heard', async () => {
  const { phone, caller, spoken } = await dialled({
    reply: ({ index }) => (index === 0 ? greets : index <= 2 ? answersAtLength : answers),
  })
  await caller.say(speech('caller-question'))
  for (const round of [1, 2]) {
    const before = caller.heardBytes().length
    await caller.until('some of the answer is heard', () => caller.heardBytes().length > before + 40_000)
    await caller.say(speech('caller-interrupts'))
    await phone.eventsUntil('the interruption', (all) => ofType(all, 'call.interrupted').length === round)
  }
  const all = await spoken(4)
  caller.hangUp()
  await phone.eventsUntil('the end', isOver)
  const replies = ofType(all, 'call.reply.spoken')
  expect(replies.map(({ payload }) => payload.interrupted)).toEqual([false, true, true, false])
  for (const { payload } of replies) expect(payload.generatedText.startsWith(payload.text)).toBe(true)
  const [, cut] = replies
  // Each sentence takes 3.7 seconds. The fact and the model agree, but for the word that was cut off.
  const heard = cut.payload.text.length / TRAIN.length
  expect(heard).toBeGreaterThan((cut.payload.heardMs - 1_000) / 3_715)
  expect(heard).toBeLessThan((cut.payload.heardMs + 1_000) / 3_715)
  const input = turnRequests(phone.text).at(-1)?.body.input as { role: string; content: string }[]
  const told = input.filter(({ role }) => role === 'assistant')
  expect(told[1]?.content.length).toBeGreaterThan(cut.payload.text.length - 15)
  expect(told[1]?.content.length).toBeLessThan(cut.payload.text.length + 15)
  expect(answersAtLength.transcript.startsWith(told[1]?.content ?? 'nothing')).toBe(true)
})

test('says that it did not understand, and apologises when its models fail', { tags: ['long'] }, async () => {
  const { phone, caller, spoken } = await dialled({
    reply: ({ index }) => (index === 0 ? greets : index <= 2 ? { fail: true } : answers),
    words: (index) => (index === 0 ? null : QUESTION),
  })
  await caller.say(speech('caller-question'))
  const all = await spoken(2)
  expect(ofType(all, 'call.utterance.heard')).toMatchObject([{ payload: { transcribed: false, text: '' } }])
  expect(spokenLines(all).at(-1)).toBe('delegate: Sorry, I did not catch that.')
  // Both attempts to answer fail: the caller hears the recorded apology.
  await caller.say(speech('caller-question'))
  const apology = 'delegate: Sorry, I could not answer that. Please try once more.'
  expect(spokenLines(await spoken(3)).at(-1)).toBe(apology)
  await caller.say(speech('caller-question'))
  expect(spokenLines(await spoken(4)).at(-1)).toBe(`delegate: ${TRAIN}`)
  phone.text.replyTo('/audio/speech', { fault: httpFaults.badRequest('cannot say this') })
  await caller.say(speech('caller-question'))
  // The speech failed once and is asked for again.
  expect(spokenLines(await spoken(5)).at(-1)).toBe(`delegate: ${TRAIN}`)
})

test('answers with the memory that a question brings to mind', async () => {
  const phone = await startWithPhone({
    carriage: 'speech',
    script: script({ reply: () => greets }),
    factor: 10,
  })
  const { client } = phone.service
  // A busy machine exceeds the default.
  await client.put('/memory-config', { retrieveTimeoutMs: 5000 })
  const LOCKER = 'The number of my locker at the station is 4471.'
  const { conversationId } = (await client.post('/api/chat', { content: LOCKER })).json
  await client.post(`/api/conversations/${conversationId}/end`)
  await phone.eventsUntil('the learning', (all) => ofType(all, 'memory.extraction.completed').length > 0)
  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  phone.text.transcribeWith(() => ({ text: 'What is the number of my locker at the station?' }))
  // On a busy machine the memory may come too late for the first answer, and is there for the next.
  for (let answers = 2; answers < 6 && !phone.callModels.given().includes('4471'); answers += 1) {
    await caller.say(speech('caller-question'))
    await phone.eventsUntil('an answer', (all) => ofType(all, 'call.reply.spoken').length === answers)
  }
  expect(phone.callModels.given()).toContain('4471')
})

test('pays every request of a call once, and ends with a farewell when nothing is left', async () => {
  const { phone, caller, spoken } = await dialled({ reply: ({ index }) => (index === 0 ? greets : answers) })
  await caller.say(speech('caller-question'))
  await spoken(2)
  const all = await phone.events()
  const reserved = ofType(all, 'spend.reserved').filter(({ spanId }) => spanId !== null)
  expect(
    reserved.map(({ payload }) => `${payload.purpose} ${payload.model?.model ?? 'line'}`).toSorted(),
  ).toEqual([
    'call line',
    'call test-ears',
    'call test-model',
    'call test-model',
    'call test-voice',
    'call test-voice',
  ])
  expect(new Set(reserved.map(({ channel }) => channel))).toEqual(new Set(['voice']))
  const client = phone.service.client
  expect((await client.put('/api/config', { entries: { ALLOWANCE_DAY: '0.01' } })).status).toBe(200)
  await caller.say(speech('caller-question'))
  const ended = await phone.eventsUntil('the end', isOver)
  expect(ofType(ended, 'call.ended')).toMatchObject([{ payload: { reason: 'allowance' } }])
})

test('pays a guest’s requests as theirs', async () => {
  const { phone } = await dialled({ reply: () => greets }, { from: GUEST })
  const purposes = ofType(await phone.events(), 'spend.reserved').map(({ payload }) => payload.purpose)
  expect(new Set(purposes)).toEqual(new Set(['guest']))
})

test('says in the connection test how calls are carried', async () => {
  const phone = await startWithPhone({ carriage: 'speech' })
  const { steps } = (await phone.service.client.post('/api/config.test', { service: 'telephony' })).json
  expect(steps.at(-1)).toEqual({
    name: 'calls',
    ok: true,
    detail: 'Calls are heard by test-ears, answered by test-model and spoken by test-voice.',
  })
})
