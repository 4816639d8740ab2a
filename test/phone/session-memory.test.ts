import { expect, test } from 'vitest'
import { script, speech } from './call/call-harness.ts'
import { ofType, startWithPhone } from './phone-harness.ts'
import { OWNER } from './provider.ts'

/** Slow enough for recall to finish while the caller speaks. */
const factor = 10

const ASKS = script({
  words: () => 'What is the number of my locker at the station?',
  reply: () => ({ audio: speech('caller-thanks'), transcript: 'One moment.' }),
})
/** A busy machine exceeds the default. */
const LONG_LIMIT = { retrieveTimeoutMs: 5000 }
const LOCKER = 'The number of my locker at the station is 4471.'

/** What each session of the call received, in order. */
function sessions(received: readonly { readonly type: string }[]): string[] {
  const begins = received.flatMap(({ type }, at) => (type === 'session.update' ? [at] : []))
  return begins.map((from, at) => JSON.stringify(received.slice(from, begins[at + 1])))
}

test('repeats surfaced memories in the session that replaces a lost one', async () => {
  const phone = await startWithPhone({ script: ASKS, factor })
  const { client } = phone.service
  await client.put('/memory-config', LONG_LIMIT)
  const { conversationId } = (await client.post('/api/chat', { content: LOCKER })).json
  await client.post(`/api/conversations/${conversationId}/end`)
  await phone.eventsUntil('the learning', (all) => ofType(all, 'memory.extraction.completed').length > 0)
  const { caller } = await phone.dial('CA1', OWNER)
  const spoken = (count: number) =>
    phone.eventsUntil(`reply ${count}`, (all) => ofType(all, 'call.reply.spoken').length >= count)
  await spoken(1)
  await caller.say(speech('caller-question'))
  await spoken(2)
  await caller.until('the memory', () => JSON.stringify(phone.realtime.received).includes('4471'))
  phone.realtime.drop()
  await spoken(3)
  await caller.say(speech('caller-question'))
  await spoken(4)
  await caller.until(
    'the memory again',
    () => sessions(phone.realtime.received)[1]?.includes('4471') ?? false,
  )
  caller.hangUp()
})

test('recalls in a call what its history leaves out of a long conversation', async () => {
  const phone = await startWithPhone({ script: ASKS, factor })
  const { client } = phone.service
  await client.put('/memory-config', LONG_LIMIT)
  await client.post('/api/chat', { content: LOCKER })
  for (const word of ['herring', 'turnip', 'gravel'])
    await client.post('/api/chat', { content: `Read this: ${`${word} `.repeat(1_500)}` })
  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  // The history only: the memory itself may have surfaced by now.
  const history = phone.realtime.received.filter(
    (event) =>
      /"role":"(user|assistant)"/.test(JSON.stringify(event)) &&
      !JSON.stringify(event).includes('memories that may matter'),
  )
  expect(JSON.stringify(history)).toContain('gravel')
  expect(JSON.stringify(history)).not.toContain('4471')
  await caller.say(speech('caller-question'))
  await caller.until('the memory', () => JSON.stringify(phone.realtime.received).includes('4471'))
  caller.hangUp()
})
