import { expect, onTestFinished, test } from 'vitest'
import { openMediaStream } from '../doubles/telephony-stream/media-stream-client.ts'
import { createClient } from '../http/client.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD } from '../support/service.ts'
import { startServiceProcess } from '../torture/service-process.ts'
import { script, speech, TRAIN } from './call/call-harness.ts'
import { type CarriageName, overMedia, tagsOf } from './call-models.ts'
import { startPhoneDoubles } from './phone-doubles.ts'
import { ofType, spokenLines, startWithPhone } from './phone-harness.ts'
import { ACCOUNT, createProvider, OWNER, tokenOf } from './provider.ts'

const GREETING = 'Hello there, what is it?'
const QUESTION = 'When does my train to Lisbon leave tomorrow?'

/** Kills the service in the middle of a reply, as `kill -9` does. */
async function dieInACall(directory: string, carriage: CarriageName): Promise<void> {
  const greeting = speech('caller-thanks')
  // Long enough that everything awaited below happens while it plays.
  const answer = Buffer.concat(Array.from({ length: 20 }, () => speech('reply-train')))
  const doubles = await startPhoneDoubles(
    script({
      reply: ({ index }) =>
        index === 0
          ? { audio: greeting, transcript: GREETING }
          : { audio: answer, transcript: Array.from({ length: 20 }, () => TRAIN).join(' ') },
    }),
    carriage,
  )
  const process = startServiceProcess(directory, doubles.environment)
  onTestFinished(async () => {
    await process.kill()
    await doubles.close()
  })
  const port = await process.listening
  const client = createClient(port)
  await client.post('/api/install', { password: PASSWORD, setupCode: process.setupCode() })
  const markup = (await createProvider(port).ring('CA1', OWNER)).text
  const caller = await openMediaStream({
    url: `ws://127.0.0.1:${port}/call`,
    callSid: 'CA1',
    accountSid: ACCOUNT,
    token: tokenOf(markup),
    factor: 5,
  })
  onTestFinished(() => caller.drop())
  const isRecorded = (type: string) => async () =>
    (await client.get('/api/timeline')).json.events.some((event: { type: string }) => event.type === type)
  await caller.until('the greeting was heard', () => caller.heardBytes().length === greeting.length)
  await expect.poll(isRecorded('call.reply.spoken')).toBe(true)
  const before = caller.heardBytes().length
  await caller.say(speech('caller-question'))
  await caller.until('some of the answer is heard', () => caller.heardBytes().length > before + 8_000)
  // The fact arrives separately from the audio.
  await expect.poll(isRecorded('call.utterance.heard')).toBe(true)
  await process.kill()
  await caller.closed
}

// What is different by relay has a test of its own.
for (const carriage of overMedia)
  test(`records the end of a call after a crash, keeps what was said and accepts the next call (${carriage})`, {
    tags: tagsOf(carriage),
  }, async () => {
    const directory = testDirectory()
    await dieInACall(directory, carriage)

    const phone = await startWithPhone({ directory, carriage })
    const all = await phone.events()
    expect(spokenLines(all)).toEqual([`delegate: ${GREETING}`, `caller: ${QUESTION}`])
    const [offered] = ofType(all, 'call.offered')
    expect(ofType(all, 'call.ended')).toMatchObject([
      { spanId: offered.spanId, payload: { callSid: 'CA1', reason: 'interrupted' } },
    ])
    expect(ofType(all, 'span.closed').filter(({ spanId }) => spanId === offered.spanId)).toMatchObject([
      { payload: { reason: 'interrupted' } },
    ])
    // No turn stays open, and no reply is recorded as heard.
    const started = ofType(all, 'turn.started').map(({ turnId }) => turnId)
    const ended = [...ofType(all, 'turn.completed'), ...ofType(all, 'turn.failed')].map(
      ({ turnId }) => turnId,
    )
    expect(started.filter((turnId) => !ended.includes(turnId))).toEqual([])
    expect((await phone.service.client.get('/api/calls/current')).json).toEqual({ call: null })

    // The provider cannot reconnect the same call. A new call is accepted and knows what was said.
    expect((await phone.provider.ring('CA1', OWNER)).text).toContain('<Reject')
    const { caller } = await phone.dial('CA2', OWNER)
    await phone.eventsUntil('a greeting', (events) => ofType(events, 'call.reply.spoken').length === 2)
    expect(phone.callModels.given()).toContain(QUESTION)
    caller.hangUp()
    await phone.eventsUntil('its end', (events) => ofType(events, 'call.ended').length === 2)
    await phone.service.stop()

    const again = await startWithPhone({ directory, carriage })
    expect(ofType(await again.events(), 'call.ended')).toHaveLength(2)
  })
