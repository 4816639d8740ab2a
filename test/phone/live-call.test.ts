import { expect, test } from 'vitest'
import { openTab } from '../support/chat-tab.ts'
import { script, speech, TRAIN } from './call/call-harness.ts'
import { carriages } from './call-models.ts'
import { ofType, startWithPhone } from './phone-harness.ts'
import { GUEST, OWNER } from './provider.ts'

const greets = { audio: speech('caller-thanks'), transcript: 'Hello there, what is it?' }
const answers = { audio: speech('reply-train'), transcript: TRAIN }

test.for(carriages)(
  'shows a browser the caller, who speaks, and the words as they are spoken (%s)',
  async (carriage) => {
    const phone = await startWithPhone({
      carriage,
      script: script({ reply: ({ index }) => (index === 0 ? greets : answers) }),
      // The service reports ten times a second; at this speed the answer grows visibly.
      factor: 5,
    })
    const tab = await openTab(phone.service)
    const seen = () => tab.heard.filter(({ type }) => type === 'call.live').map(({ call }) => call)
    expect((await phone.service.client.get('/api/calls/current')).json).toEqual({ call: null })
    const { caller } = await phone.dial('CA1', OWNER)
    let passed = 0
    /** Resolves on the next report, after those already awaited, of this speaker. */
    const speakerBecomes = async (speaking: 'caller' | 'delegate' | null) => {
      const report = await tab.hear(
        (message) =>
          tab.heard.indexOf(message) >= passed &&
          message.type === 'call.live' &&
          message.call?.speaking === speaking,
      )
      passed = tab.heard.indexOf(report) + 1
    }
    await tab.hear(({ type, call }) => type === 'call.live' && call?.connectedAt)
    expect((await phone.service.client.get('/api/calls/current')).json.call).toMatchObject({
      callSid: 'CA1',
      party: 'owner',
      from: OWNER,
    })
    await speakerBecomes('delegate')
    await speakerBecomes(null)
    await caller.say(speech('caller-question'))
    await speakerBecomes('caller')
    await speakerBecomes('delegate')
    await phone.eventsUntil('the answer', (all) => ofType(all, 'call.reply.spoken').length === 2)
    const spoken = seen().flatMap(({ lines }) =>
      lines.filter(({ text }: { text: string | null }) => text && TRAIN.startsWith(text)),
    )
    // The answer arrives word by word and never exceeds the final transcript.
    // A relay reports whole clauses, and this is one.
    if (carriage !== 'relay') expect(new Set(spoken.map(({ text }) => text)).size).toBeGreaterThan(2)

    const late = await openTab(phone.service)
    await late.hear(({ type, call }) => type === 'call.live' && call.callSid === 'CA1')
    // The fact arrives separately from the live state.
    await tab.hear(({ event }) => event?.type === 'call.reply.spoken' && event.payload.text === TRAIN)
    caller.hangUp()
    await tab.hear(({ type, call }) => type === 'call.live' && call === null)
    const replies = tab.events().filter(({ type }) => type === 'call.reply.spoken')
    expect(replies.map(({ payload }) => payload.text)).toEqual([greets.transcript, TRAIN])
    expect((await phone.service.client.get('/api/calls/current')).json).toEqual({ call: null })
  },
)

test('shows a guest’s call as such and removes one that the provider reports as never connected', async () => {
  const phone = await startWithPhone({ script: script({ reply: () => greets }) })
  const tab = await openTab(phone.service)
  await phone.provider.ring('CA1', GUEST)
  const ringing = await tab.hear(({ type }) => type === 'call.live')
  expect(ringing.call).toMatchObject({ party: 'guest', from: GUEST, connectedAt: null, lines: [] })
  await phone.provider.post('/voice-status', { CallSid: 'CA1', CallStatus: 'canceled' })
  await tab.hear(({ type, call }) => type === 'call.live' && call === null)
})
