import { expect, test } from 'vitest'
import { createClient } from '../http/client.ts'
import { openTalk } from '../support/browser-talk.ts'
import { openTab } from '../support/chat-tab.ts'
import { PASSWORD } from '../support/service.ts'
import { script, speech, TRAIN } from './call/call-harness.ts'
import { overMedia, tagsOf } from './call-models.ts'
import { ofType, spokenLines, startWithPhone } from './phone-harness.ts'
import { OWNER } from './provider.ts'

const QUESTION = 'When does my train to Lisbon leave tomorrow?'
const GREETING = 'Hello there, what is it?'
const greets = { audio: speech('caller-thanks'), transcript: GREETING }
const answers = { audio: speech('reply-train'), transcript: TRAIN }
/** Long enough that it still plays while a test checks something else. */
const answersAtLength = {
  audio: Buffer.concat(Array.from({ length: 20 }, () => speech('reply-train'))),
  transcript: Array.from({ length: 20 }, () => TRAIN).join(' '),
}
type Events = Parameters<typeof ofType>[0]
const spoke = (count: number) => (all: Events) => ofType(all, 'call.reply.spoken').length >= count
const isOver = (all: Events) => ofType(all, 'call.ended').length > 0

for (const carriage of overMedia)
  test(`records a talk as a call of the owner, without a line to pay (${carriage})`, {
    tags: tagsOf(carriage),
  }, async () => {
    const phone = await startWithPhone({
      carriage,
      script: script({ reply: ({ index }) => (index === 0 ? greets : answers) }),
      environment: { OWNER_PHONE_NUMBER: '', PUBLIC_URL: '' },
    })
    const tab = await openTab(phone.service)
    const talk = await openTalk(phone.service)
    expect(talk.first).toEqual({ type: 'talk.started', callSid: expect.stringMatching(/^browser-/) })
    await phone.eventsUntil('the greeting', spoke(1))
    await talk.say(speech('caller-question'))
    await phone.eventsUntil('the answer', spoke(2))
    talk.hangUp()
    const all = await phone.eventsUntil('the end', (events) => ofType(events, 'span.closed').length > 0)
    expect(spokenLines(all)).toEqual([`delegate: ${GREETING}`, `caller: ${QUESTION}`, `delegate: ${TRAIN}`])
    expect(ofType(all, 'call.offered')).toMatchObject([
      {
        actor: 'owner',
        channel: 'voice',
        payload: { party: 'owner', attestation: 'session', from: 'browser' },
      },
    ])
    expect(ofType(all, 'call.ended')).toMatchObject([{ payload: { reason: 'caller_hung_up' } }])
    expect(ofType(all, 'turn.started')).toMatchObject([{ channel: 'voice' }, { channel: 'voice' }])
    const live = tab.heard.find(({ type, call }) => type === 'call.live' && call)
    expect(live?.call).toMatchObject({ party: 'owner', from: 'browser', inBrowser: true })
    if (carriage === 'realtime') {
      const [update] = phone.realtime.received
      const format = { type: 'audio/pcm', rate: 24_000 }
      expect(update).toMatchObject({ session: { audio: { input: { format }, output: { format } } } })
      expect(phone.realtime.problems).toEqual([])
    }
    const reserved = ofType(all, 'spend.reserved').map(({ payload }) => payload.model?.model ?? 'line')
    expect(reserved).not.toContain('line')
  })

for (const carriage of overMedia)
  test(`stops when the owner speaks, and records how much they heard (${carriage})`, {
    tags: tagsOf(carriage),
  }, async () => {
    const phone = await startWithPhone({
      carriage,
      script: script({
        reply: ({ index }) => (index === 0 ? greets : index === 1 ? answersAtLength : answers),
      }),
    })
    const talk = await openTalk(phone.service)
    await phone.eventsUntil('the greeting', spoke(1))
    await talk.say(speech('caller-question'))
    const before = talk.heardBytes().length
    await talk.until('some of the answer is heard', () => talk.heardBytes().length > before + 240_000)
    await talk.say(speech('caller-interrupts'))
    await phone.eventsUntil('the interruption', (all) => ofType(all, 'call.interrupted').length === 1)
    const all = await phone.eventsUntil('the next answer', spoke(3))
    const [, cut, last] = ofType(all, 'call.reply.spoken')
    expect(talk.messages.filter(({ type }) => type === 'talk.clear')).toHaveLength(1)
    expect(cut.payload).toMatchObject({ interrupted: true })
    expect(cut.payload.heardMs).toBeLessThan(cut.payload.sentMs)
    expect(cut.payload.generatedText.startsWith(cut.payload.text)).toBe(true)
    expect(cut.payload.text.length).toBeLessThan(cut.payload.generatedText.length)
    // What was heard by the record, and by the ears of the browser before the clear.
    const cleared = talk.heard.findIndex(({ type }) => type === 'clear')
    const heardMs = talk.heard
      .slice(0, cleared)
      .reduce((sum, each) => sum + ('bytes' in each ? each.bytes.length / 48 : 0), 0)
    expect(Math.abs(heardMs - before / 48 - cut.payload.heardMs)).toBeLessThan(1_000)
    expect(last.payload).toMatchObject({ interrupted: false, text: TRAIN })
  })

test('admits one talk or call at a time, and says so', async () => {
  const phone = await startWithPhone()
  const talk = await openTalk(phone.service)
  const second = await openTalk(phone.service)
  expect(second.first).toMatchObject({
    type: 'talk.refused',
    problem: { status: 409, code: 'call_in_progress', detail: 'Another call is in progress. Hang up first.' },
  })
  expect(await second.closed).toBe(1000)
  const rung = await phone.provider.ring('CA1', OWNER)
  expect(rung.text).toContain('<Reject reason="busy"/>')
  talk.hangUp()
  await phone.eventsUntil('the end', isOver)
  // The owner was there, so only the call was missed.
  expect(ofType(await phone.events(), 'call.rejected')).toMatchObject([{ payload: { callSid: 'CA1' } }])
  const { caller } = await phone.dial('CA2', OWNER)
  const third = await openTalk(phone.service)
  expect(third.first).toMatchObject({ problem: { code: 'call_in_progress' } })
  caller.hangUp()
  await phone.eventsUntil('the end', (all) => ofType(all, 'call.ended').length === 2)
})

test('refuses a talk without a model that listens and speaks, and while the delegate is halted', async () => {
  const phone = await startWithPhone({ environment: { REALTIME_MODEL: '' } })
  const { client } = phone.service
  expect((await openTalk(phone.service)).first).toMatchObject({
    problem: { status: 503, code: 'no_voice_model' },
  })
  expect((await client.get('/api/speech')).json).toEqual({ talk: null, dictation: false, readAloud: false })
  expect((await client.put('/api/config', { entries: { REALTIME_MODEL: 'test-realtime' } })).status).toBe(200)
  expect((await client.get('/api/speech')).json.talk).toBe('realtime')
  expect((await client.post('/api/halt')).status).toBeLessThan(300)
  expect((await openTalk(phone.service)).first).toMatchObject({ problem: { code: 'halted' } })
  expect(ofType(await phone.events(), 'call.connected')).toEqual([])
})

test('needs the session of the owner and a page of the service', async () => {
  const phone = await startWithPhone()
  await expect(openTalk(phone.service, { client: createClient(phone.service.port) })).rejects.toThrow('401')
  await expect(openTalk(phone.service, { origin: 'https://evil.example' })).rejects.toThrow('403')
  expect(ofType(await phone.events(), 'call.offered')).toEqual([])
})

test('ends with the session, with a halt, and with the page', async () => {
  const phone = await startWithPhone()
  const { client } = phone.service
  const ended = (count: number) =>
    phone.eventsUntil(`end ${count}`, (all) => ofType(all, 'call.ended').length === count)

  const gone = await openTalk(phone.service)
  gone.drop()
  expect(ofType(await ended(1), 'call.ended')[0].payload.reason).toBe('line_lost')

  const other = createClient(phone.service.port)
  await other.post('/login', { password: PASSWORD })
  const signedOut = await openTalk(phone.service, { client: other })
  await other.post('/logout')
  expect(await signedOut.closed).toBe(1008)
  await ended(2)

  const halted = await openTalk(phone.service)
  await client.post('/api/halt')
  expect(await halted.closed).toBe(1000)
  expect(ofType(await ended(3), 'call.ended')[2].payload.reason).toBe('halted')
})

test('drops messages that it does not know, and refuses large ones', async () => {
  const phone = await startWithPhone({ script: script({ reply: () => greets }) })
  const talk = await openTalk(phone.service)
  for (const text of ['', '{', '[]', '{"type":"talk.played"}', '{"type":"talk.played","mark":"999"}'])
    talk.sendText(text)
  await phone.eventsUntil('the greeting', spoke(1))
  talk.sendText('x'.repeat(64 * 1024 + 1))
  expect(await talk.closed).toBe(1009)
  await phone.eventsUntil('the end', isOver)
})

test('passes on no more audio than time passes, apart from what a stalled network held up', async () => {
  const phone = await startWithPhone({ script: script({ reply: () => greets }) })
  const startedMs = performance.now()
  const talk = await openTalk(phone.service)
  // Ten minutes of speech, a second at a time.
  const second = Buffer.alloc(48_000, 1)
  for (let sent = 0; sent < 600; sent += 1) talk.sendAudio(second)
  const heardMs = () => phone.realtime.appended().length / 48
  await expect.poll(heardMs).toBeGreaterThan(4_000)
  // It comes after the audio.
  talk.hangUp()
  await phone.eventsUntil('the end', isOver)
  expect(heardMs()).toBeLessThan(30_000 + performance.now() - startedMs)
})

test('has the rights of the session, and asks in the browser before it changes what the owner made', async () => {
  const tool = (callId: string, name: string, given: object) => ({
    callId,
    name,
    arguments: JSON.stringify(given),
  })
  const acts = {
    toolCalls: [
      tool('c1', 'create_note', { title: 'Coffee', content: 'Black.' }),
      tool('c2', 'delete_note', { query: 'Tea' }),
    ],
  }
  const phone = await startWithPhone({
    script: script({ reply: ({ index }) => (index === 1 ? acts : greets) }),
    // They are about callers.
    environment: { RIGHTS_CALLS: 'read', RIGHTS_CALLS_UNATTESTED: 'read' },
  })
  const { client } = phone.service
  await client.post('/api/notes', { title: 'Tea', content: 'Green.' })
  const talk = await openTalk(phone.service)
  await phone.eventsUntil('the greeting', spoke(1))
  await talk.say(speech('caller-question'))
  const all = await phone.eventsUntil('the tools', (events) => ofType(events, 'tool.returned').length === 2)
  expect(ofType(all, 'note.created').at(-1)).toMatchObject({ channel: 'voice', payload: { title: 'Coffee' } })
  // Anybody in the room may have said it.
  const [proposal] = ofType(all, 'proposal.made')
  expect(proposal.payload).toMatchObject({ tool: 'delete_note', why: 'Asked for in a talk in the browser.' })
  expect(JSON.stringify(phone.realtime.received)).not.toContain('press 1')
  await client.post(`/api/proposals/${proposal.payload.proposalId}/confirm`)
  await phone.eventsUntil('the deed', (events) => ofType(events, 'note.deleted').length === 1)
})
