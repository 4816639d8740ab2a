import { expect, test } from 'vitest'
import { openTab } from '../support/chat-tab.ts'
import { script, speech, TRAIN } from '../voice/call-harness.ts'
import { ofType, startWithPhone } from './phone-harness.ts'
import { GUEST, OWNER } from './provider.ts'

const greets = { audio: speech('caller-thanks'), transcript: 'Hello there, what is it?' }
const answers = { audio: speech('reply-train'), transcript: TRAIN }

test('a browser watches the call: who is on the line, who speaks, and the words while they are spoken', async () => {
  const phone = await startWithPhone({
    script: script({ reply: ({ index }) => (index === 0 ? greets : answers) }),
    // The service reports ten times a second: slow enough to see the answer grow word by word.
    factor: 5,
  })
  const tab = await openTab(phone.service)
  const seen = () => tab.heard.filter(({ type }) => type === 'call.live').map(({ call }) => call)
  expect((await phone.service.client.get('/api/calls/current')).json).toEqual({ call: null })
  const { caller } = await phone.dial('CA1', OWNER)
  let passed = 0
  /** Resolves once this was told after what was awaited before it. */
  const tells = async (speaking: 'caller' | 'delegate' | null) => {
    const told = await tab.hear(
      (message) =>
        tab.heard.indexOf(message) >= passed &&
        message.type === 'call.live' &&
        message.call?.speaking === speaking,
    )
    passed = tab.heard.indexOf(told) + 1
  }
  await tab.hear(({ type, call }) => type === 'call.live' && call?.connectedAt)
  expect((await phone.service.client.get('/api/calls/current')).json.call).toMatchObject({
    callSid: 'CA1',
    party: 'owner',
    from: OWNER,
  })
  await tells('delegate')
  await tells(null)
  await caller.say(speech('caller-question'))
  await tells('caller')
  await tells('delegate')
  await phone.eventsUntil('the answer', (all) => ofType(all, 'call.reply.spoken').length === 2)
  const spoken = seen().flatMap(({ lines }) =>
    lines.filter(({ text }: { text: string | null }) => text && TRAIN.startsWith(text)),
  )
  // Word by word, and never more than the fact has in the end.
  expect(new Set(spoken.map(({ text }) => text)).size).toBeGreaterThan(2)

  // Who comes late sees it at once.
  const late = await openTab(phone.service)
  await late.hear(({ type, call }) => type === 'call.live' && call.callSid === 'CA1')
  // The fact comes by another way than the state of the call.
  await tab.hear(({ event }) => event?.type === 'call.reply.spoken' && event.payload.text === TRAIN)
  caller.hangUp()
  await tab.hear(({ type, call }) => type === 'call.live' && call === null)
  const told = tab.events().filter(({ type }) => type === 'call.reply.spoken')
  expect(told.map(({ payload }) => payload.text)).toEqual([greets.transcript, TRAIN])
  expect((await phone.service.client.get('/api/calls/current')).json).toEqual({ call: null })
})

test("a guest's call is watched as a guest's, and one that never connects is gone when the provider says so", async () => {
  const phone = await startWithPhone({ script: script({ reply: () => greets }) })
  const tab = await openTab(phone.service)
  await phone.provider.ring('CA1', GUEST)
  const ringing = await tab.hear(({ type }) => type === 'call.live')
  expect(ringing.call).toMatchObject({ party: 'guest', from: GUEST, connectedAt: null, lines: [] })
  await phone.provider.post('/voice-status', { CallSid: 'CA1', CallStatus: 'canceled' })
  await tab.hear(({ type, call }) => type === 'call.live' && call === null)
})
