import { expect, test } from 'vitest'
import { script, speech } from './call/call-harness.ts'
import { carriages } from './call-models.ts'
import { ofType, spokenLines, startWithPhone } from './phone-harness.ts'
import { OWNER } from './provider.ts'

const GREETING = 'Hello there, what is it?'
const QUESTION = 'When does my train to Lisbon leave tomorrow?'
const APOLOGY = 'Sorry, I could not answer that. Please try once more.'
const greets = { audio: speech('caller-thanks'), transcript: GREETING }

for (const carriage of carriages)
  test(`records one failed turn, and the apology that the caller heard (${carriage})`, async () => {
    const phone = await startWithPhone({
      carriage,
      script: script({ reply: ({ index }) => (index === 0 ? greets : { fail: true }) }),
    })
    const { caller } = await phone.dial('CA1', OWNER)
    const spoken = (count: number) =>
      phone.eventsUntil(`reply ${count}`, (all) => ofType(all, 'call.reply.spoken').length >= count)
    await spoken(1)
    await caller.say(speech('caller-question'))
    await spoken(2)
    caller.hangUp()
    const all = await phone.eventsUntil('the end', (events) => ofType(events, 'call.ended').length > 0)
    expect(spokenLines(all)).toEqual([`delegate: ${GREETING}`, `caller: ${QUESTION}`, `delegate: ${APOLOGY}`])
    const [, apology] = ofType(all, 'call.reply.spoken')
    expect(apology).toMatchObject({ turnId: null, payload: { responseId: null, interrupted: false } })
    const failed = ofType(all, 'turn.failed')
    const kind = carriage === 'realtime' ? 'unavailable' : 'malformed'
    expect(failed).toMatchObject([{ channel: 'voice', payload: { kind, text: expect.any(String) } }])
    const { model } = (await phone.service.client.get('/api/session/operations?hours=1')).json
    expect(model).toMatchObject({ failures: 1 })
  })

test('apologises for a greeting that fails, and again for an answer', async () => {
  const phone = await startWithPhone({ script: script({ reply: () => ({ fail: true }) }) })
  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the first apology', (all) => spokenLines(all).length === 1)
  await caller.say(speech('caller-question'))
  const all = await phone.eventsUntil('the apology', (found) => spokenLines(found).length === 3)
  expect(spokenLines(all)).toEqual([`delegate: ${APOLOGY}`, `caller: ${QUESTION}`, `delegate: ${APOLOGY}`])
})
