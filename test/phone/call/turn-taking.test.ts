import { expect, test } from 'vitest'
import {
  actionTypes,
  callOptions,
  clears,
  facts,
  marks,
  mediaBytes,
  sent,
  startCall,
  startQuietCall,
  toolCall,
} from './call-driver.ts'

const MINUTE_MS = 60_000

// The greeting

test('records the call, opens a session, and speaks only once the session is configured', () => {
  const call = startCall()
  expect(actionTypes(call.all)).toEqual(['record', 'model.open'])
  const actions = call.configured()
  expect(actionTypes(actions)).toEqual(['model.adopt', 'model.send'])
  expect(sent(actions, 'response.create')).toMatchObject([{ response: { instructions: 'Greet the owner.' } }])
})

test('never plays a session that speaks another audio format', () => {
  const call = startCall()
  const pcm = { format: { type: 'audio/pcm' } }
  const actions = call.said({ type: 'session.updated', session: { audio: { input: pcm, output: pcm } } })
  expect(sent(actions, 'response.create')).toEqual([])
  expect(actionTypes(actions)).toContain('line.close')
  expect(facts(actions, 'call.ended')).toMatchObject([{ facts: { reason: 'wrong_format' } }])
})

test('does not greet again on a second confirmation of the session', () => {
  const call = startQuietCall()
  expect(call.configured()).toEqual([])
})

// Silence

test('counts silence from the end of playback, then asks the caller', () => {
  const call = startQuietCall()
  call.created('r1')
  const names = marks(call.delta('r1', 'i1', 1_600))
  call.audioDone('r1', 'i1')
  call.done('r1')
  expect(call.after(60_000)).toEqual([])
  for (const name of names) call.mark(name)
  expect(call.after(11_999)).toEqual([])
  expect(sent(call.after(1), 'response.create')).toMatchObject([
    { response: { instructions: 'Ask whether anybody is there.' } },
  ])
})

test('hangs up when the last question stays unanswered', () => {
  const call = startQuietCall()
  for (const id of ['q1', 'q2']) {
    call.after(12_000)
    call.answered(id)
  }
  const actions = call.after(12_000)
  expect(actionTypes(actions)).toEqual(['record', 'model.close', 'line.hangUp', 'ended'])
  expect(facts(actions, 'call.ended')).toMatchObject([{ facts: { reason: 'silence', durationMs: 36_000 } }])
})

test('starts over with its questions when the caller speaks', () => {
  const call = startQuietCall()
  call.after(12_000)
  call.answered('q1')
  call.spoke('u1', 'I am here.')
  call.answered('r1')
  for (const id of ['q2', 'q3']) {
    expect(sent(call.after(12_000), 'response.create')).toHaveLength(1)
    call.answered(id)
  }
  expect(facts(call.all, 'call.ended')).toEqual([])
})

test('asks nothing while a tool runs', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  expect(call.after(60_000)).toEqual([])
})

// The end

test('records what was heard when the caller hangs up, and does nothing afterwards', () => {
  const call = startQuietCall()
  call.created('r1')
  const names = marks(call.delta('r1', 'i1', 8_000))
  call.text('r1', 'i1', 'one two three four five six seven eight nine ten')
  for (const name of names.slice(0, 5)) call.mark(name)
  const actions = call.give({ type: 'line.ended', reason: 'caller_hung_up' })
  expect(facts(actions, 'call.reply.spoken')).toMatchObject([
    { facts: { heardMs: 550, sentMs: 1_000, interrupted: true }, body: { text: 'one two three four five' } },
  ])
  expect(facts(actions, 'call.ended')).toMatchObject([{ facts: { reason: 'caller_hung_up' } }])
  expect(actionTypes(actions)).not.toContain('line.hangUp')
  expect(call.give({ type: 'line.ended', reason: 'caller_hung_up' })).toEqual([])
  expect(call.delta('r1', 'i1', 800)).toEqual([])
  expect(call.after(MINUTE_MS)).toEqual([])
})

test('announces the time limit, lets the phrase finish and hangs up', () => {
  const call = startQuietCall(callOptions({ maxCallMs: 180_000, silenceMs: Number.POSITIVE_INFINITY }))
  call.created('r1')
  call.delta('r1', 'i1', 8_000)
  const actions = call.after(180_000)
  expect(clears(actions)).toBe(1)
  expect(mediaBytes(actions)).toBe(1_600)
  expect(facts(call.all, 'call.ended')).toEqual([])
  expect(mediaBytes(call.delta('r1', 'i1', 800))).toBe(0)
  call.playedAll()
  expect(actionTypes(call.all).slice(-2)).toEqual(['line.hangUp', 'ended'])
  expect(facts(call.all, 'call.ended')).toMatchObject([{ facts: { reason: 'time_limit' } }])
})

test('says that the allowance is used up, and hangs up', () => {
  const call = startQuietCall()
  call.created('r1')
  call.delta('r1', 'i1', 8_000)
  const actions = call.give({ type: 'allowance.spent' })
  expect(clears(actions)).toBe(1)
  expect(mediaBytes(actions)).toBe(1_600)
  const [spoken] = actions.filter((action) => action.type === 'line.media')
  expect(callOptions().phrases.allowance.media.slice(0, 8)).toBe(spoken?.payload.slice(0, 8))
  expect(call.give({ type: 'allowance.spent' })).toEqual([])
  call.playedAll()
  expect(actionTypes(call.all).slice(-2)).toEqual(['line.hangUp', 'ended'])
  expect(facts(call.all, 'call.ended')).toMatchObject([{ facts: { reason: 'allowance' } }])
  expect(facts(call.all, 'call.reply.spoken').at(-1)).toMatchObject({
    facts: { responseId: null, heardMs: 200, sentMs: 200, interrupted: false },
    body: { text: 'No allowance.' },
  })
})

test.each([
  ['a guest hears nothing of the allowance', 'guest', { type: 'allowance.spent' }, 'Time is up.'],
  ['a halt is confirmed', 'owner', { type: 'hangup.requested', reason: 'halted' }, 'Halted.'],
] as const)('says goodbye before hanging up: %s', (_what, party, event, words) => {
  const call = startQuietCall({ ...callOptions(), party })
  call.give(event)
  expect(facts(call.all, 'call.ended')).toEqual([])
  call.playedAll()
  expect(facts(call.all, 'call.reply.spoken').at(-1)).toMatchObject({ body: { text: words } })
  expect(actionTypes(call.all).slice(-2)).toEqual(['line.hangUp', 'ended'])
})

test('hangs up even if the marks of the last phrase never return', () => {
  const call = startQuietCall(callOptions({ maxCallMs: 180_000 }))
  call.after(180_000)
  expect(actionTypes(call.after(8_000))).toContain('line.hangUp')
})

test('ends the call at the provider when the owner hangs up in the browser', () => {
  const call = startQuietCall()
  const actions = call.give({ type: 'hangup.requested', reason: 'owner_hung_up' })
  expect(actions).toContainEqual({ type: 'line.hangUp' })
})

// Memory

test('cues recall with the caller’s speech and words, and passes on what surfaces', () => {
  const call = startQuietCall()
  call.spoke('u1', 'Where are my keys?')
  expect(call.all.filter((action) => action.type === 'memory.cue')).toEqual([
    { type: 'memory.cue', text: null },
    { type: 'memory.cue', text: 'Where are my keys?' },
  ])
  const actions = call.give({ type: 'memory.surfaced', text: '<memory>In the blue bowl.</memory>' })
  expect(sent(actions, 'conversation.item.create')).toMatchObject([
    {
      item: { role: 'user', content: [{ type: 'input_text', text: '<memory>In the blue bowl.</memory>' }] },
    },
  ])
})
