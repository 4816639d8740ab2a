import { expect, onTestFinished, test } from 'vitest'
import { ofType, type TimelineEvent } from '../phone/phone-harness.ts'
import { GUEST, OWNER } from '../phone/provider.ts'
import { startWithTexts, text } from './sms-harness.ts'

/** A model that hangs on each message containing "Hang" until `resume`, and answers others at once. */
async function startHanging() {
  const phone = await startWithTexts()
  const hung = Promise.withResolvers<void>()
  onTestFinished(() => hung.resolve())
  phone.text.answerWith((request) => {
    const asked = request.text.match(/(?:Hang|Quick) \w+/g)?.at(-1) ?? ''
    const pause = { at: 'headers', until: hung.promise } as const
    return asked.startsWith('Hang') ? { text: `Late ${asked}.`, pause } : { text: `Here ${asked}.` }
  })
  return { ...phone, resume: hung.resolve }
}

const wordsOf = (events: readonly TimelineEvent[], type: string) =>
  ofType(events, type).map(({ payload }) => payload.text)

test('does not hold up texts behind a hanging chat turn, but queues the next chat message', async () => {
  const phone = await startHanging()
  const first = phone.service.client.post('/api/chat', { content: 'Hang one' })
  await phone.eventsUntil('the turn', (all) => ofType(all, 'turn.started').length === 1)
  const second = phone.service.client.post('/api/chat', { content: 'Quick two' })
  await phone.eventsUntil('the message', (all) => ofType(all, 'chat.message.received').length === 2)
  await text(phone, 'SM1', OWNER, 'Quick three')
  const during = await phone.eventsUntil('the text', (all) => ofType(all, 'sms.sent').length === 1)
  expect(wordsOf(during, 'sms.sent')).toEqual(['Here Quick three.'])
  expect(ofType(during, 'turn.started')).toHaveLength(2)
  phone.resume()
  expect((await first).json.reply.text).toBe('Late Hang one.')
  expect((await second).json.reply.text).toBe('Here Quick two.')

  // The next turn is built on all of them, in the order in which they ended.
  await phone.service.client.post('/api/chat', { content: 'Quick four' })
  const asked = phone.text.requests('/responses').findLast((request) => request.text.includes('Quick four'))
  const places = ['Here Quick three.', 'Late Hang one.', 'Here Quick two.'].map(
    (words) => asked?.text.indexOf(words) ?? -1,
  )
  expect(places).toEqual([...places].sort((a, b) => a - b))
  expect(places[0]).toBeGreaterThan(0)
})

test('does not hold up chat behind a hanging text turn, but queues the next text', async () => {
  const phone = await startHanging()
  await text(phone, 'SM1', OWNER, 'Hang one')
  await phone.eventsUntil('the turn', (all) => ofType(all, 'turn.started').length === 1)
  await text(phone, 'SM2', OWNER, 'Quick two')
  const answer = await phone.service.client.post('/api/chat', { content: 'Quick three' })
  expect(answer.json.reply.text).toBe('Here Quick three.')
  expect(ofType(await phone.events(), 'turn.started')).toHaveLength(2)
  phone.resume()
  const all = await phone.eventsUntil('both texts', (events) => ofType(events, 'sms.sent').length === 2)
  expect(wordsOf(all, 'sms.sent')).toEqual(['Late Hang one.', 'Here Quick two.'])
})

test('does not hold up a turn behind a hanging memory service', async () => {
  const phone = await startWithTexts()
  const hung = Promise.withResolvers<void>()
  onTestFinished(() => hung.resolve())
  phone.text.answerMemoryWith(() => ({ text: '{}', pause: { at: 'headers', until: hung.promise } }))
  phone.text.answerWith(() => ({ text: 'Yes.' }))
  for (const content of ['My boat is called Ada.', 'And my dog is Rex.'])
    expect((await phone.service.client.post('/api/chat', { content })).json.reply.text).toBe('Yes.')
})

test('sends the answer to a guest whose turn ends while the service stops', async () => {
  const phone = await startHanging()
  await text(phone, 'SM1', GUEST, 'Hang one')
  await phone.eventsUntil('the turn', (all) => ofType(all, 'turn.started').length === 1)
  const stopped = phone.service.stop()
  await expect.poll(async () => (await phone.service.client.get('/ready')).status).toBe(503)
  phone.resume()
  await stopped
  expect(phone.double.messages).toHaveLength(1)
})
