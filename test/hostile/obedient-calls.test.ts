import { expect, test } from 'vitest'
import type { ScriptedReply } from '../doubles/realtime/session.ts'
import { script, speech } from '../phone/call/call-harness.ts'
import { ofType, startWithPhone } from '../phone/phone-harness.ts'
import { OWNER, tokenOf } from '../phone/provider.ts'
import { DEEDS, leftOf, proposedTools, startObedient, UNTOUCHED } from './obedient-house.ts'

const greets = { audio: speech('caller-thanks'), transcript: 'Hello.' }
const call = (name: string, args: unknown) => ({
  callId: `call_${name}`,
  name,
  arguments: JSON.stringify(args),
})
const scriptOf = (toolCalls: ScriptedReply['toolCalls']) =>
  script({
    words: () => 'Remember that I like green tea, and do the rest.',
    reply: ({ index }) => (index === 1 ? { toolCalls: toolCalls ?? [] } : greets),
  })

test("remembers and takes notes on a call from the owner's number, but only proposes deeds", async () => {
  const house = await startObedient({
    script: scriptOf([
      call('remember', { text: 'I like green tea.' }),
      call('create_note', { title: 'Call', content: 'Ring back' }),
      call('list_notes', { query: null }),
      ...Object.entries(DEEDS).map(([name, args]) => call(name, args)),
    ]),
  })
  const { caller } = await house.dial('CA1', OWNER)
  const replies = (count: number) =>
    house.eventsUntil(`reply ${count}`, (all) => ofType(all, 'call.reply.spoken').length >= count)
  await replies(1)
  await caller.say(speech('caller-question'))
  await replies(2)
  const all = await house.eventsUntil(
    'the tools',
    (events) =>
      ofType(events, 'tool.returned').filter(({ channel }) => channel === 'voice').length ===
      Object.keys(DEEDS).length + 3,
  )
  caller.hangUp()
  expect(await leftOf(house)).toEqual(UNTOUCHED)
  expect(await proposedTools(house)).toEqual(Object.keys(DEEDS).sort())
  const done = ofType(all, 'tool.returned').filter(
    ({ channel, payload }) => channel === 'voice' && payload.outcome === 'ok',
  )
  expect(done.map(({ payload }) => payload.tool)).toEqual(['remember', 'create_note', 'list_notes'])
  const [waiting] = (await house.service.client.get('/api/proposals')).json.proposals
  expect(waiting.why).toBe(`Asked for on the phone, in a call from ${OWNER}.`)
  // Nothing reaches the model with the system or developer role.
  const roles = house.realtime.received.flatMap(({ type, item }) =>
    type === 'conversation.item.create' ? [(item as { role?: string }).role ?? 'tool'] : [],
  )
  expect([...new Set(roles)].filter((role) => role === 'system' || role === 'developer')).toEqual([])
})

test("treats a call from the owner's number as a guest's if its attestation failed", async () => {
  const house = await startObedient({
    script: scriptOf(Object.entries(DEEDS).map(([name, args]) => call(name, args))),
  })
  const { provider } = house
  const markup = await provider.post('/voice-markup', {
    ...provider.call('CA1', OWNER),
    StirVerstat: 'TN-Validation-Failed-A',
  })
  const caller = await house.stream('CA1', tokenOf(markup.text))
  await house.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  await caller.say(speech('caller-question'))
  const all = await house.eventsUntil('a reply', (events) => ofType(events, 'call.reply.spoken').length === 2)
  caller.hangUp()
  expect(ofType(all, 'call.offered')).toMatchObject([{ payload: { party: 'guest' }, conversationId: null }])
  const sentToModel = JSON.stringify(house.realtime.received)
  expect(sentToModel).not.toContain('I like tea')
  expect((house.realtime.received[0] as { session?: { tools?: unknown[] } }).session?.tools).toEqual([])
  expect(await leftOf(house)).toEqual(UNTOUCHED)
  expect(await proposedTools(house)).toEqual([])
})

test('decides between owner and guest by the attestation of the provider', async () => {
  const { provider, events } = await startWithPhone()
  const verdicts = [
    'TN-Validation-Passed-A',
    'TN-Validation-Passed-C',
    'No-TN-Validation',
    '',
    'TN-Validation-Failed-A',
    'TN-Validation-Failed-C',
  ]
  for (const [index, StirVerstat] of verdicts.entries())
    await provider.post('/voice-markup', { ...provider.call(`CA${index}`, OWNER), StirVerstat })
  const calls = (await events()).filter(({ type }) => type === 'call.offered' || type === 'call.rejected')
  expect(calls.map(({ payload }) => payload.party)).toEqual([
    'owner',
    'owner',
    'owner',
    'owner',
    'guest',
    'guest',
  ])
})
