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

test('a call is recorded and a session opened; nothing is said before the session is configured', () => {
  const call = startCall()
  expect(actionTypes(call.all)).toEqual(['record', 'model.open'])
  const actions = call.configured()
  expect(actionTypes(actions)).toEqual(['model.adopt', 'model.send'])
  expect(sent(actions, 'response.create')).toMatchObject([{ response: { instructions: 'Greet the owner.' } }])
})

test('a session that speaks another audio format is never spoken into the call', () => {
  const call = startCall()
  const pcm = { format: { type: 'audio/pcm' } }
  const actions = call.said({ type: 'session.updated', session: { audio: { input: pcm, output: pcm } } })
  expect(sent(actions, 'response.create')).toEqual([])
  expect(actionTypes(actions)).toContain('line.close')
  expect(facts(actions, 'call.ended')).toMatchObject([{ facts: { reason: 'wrong_format' } }])
})

test('a second confirmation of the session greets nobody again', () => {
  const call = startQuietCall()
  expect(call.configured()).toEqual([])
})

// Silence

test('silence counts from the end of playback, not of generation; then the delegate asks', () => {
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

test('after the last question without an answer the call is hung up', () => {
  const call = startQuietCall()
  for (const id of ['q1', 'q2']) {
    call.after(12_000)
    call.created(id)
    call.done(id)
  }
  const actions = call.after(12_000)
  expect(actionTypes(actions)).toEqual(['record', 'model.close', 'line.hangUp', 'ended'])
  expect(facts(actions, 'call.ended')).toMatchObject([{ facts: { reason: 'silence', durationMs: 36_000 } }])
})

test('whoever speaks is asked from the beginning again', () => {
  const call = startQuietCall()
  call.after(12_000)
  call.created('q1')
  call.done('q1')
  call.spoke('u1', 'I am here.')
  call.created('r1')
  call.done('r1')
  for (const id of ['q2', 'q3']) {
    expect(sent(call.after(12_000), 'response.create')).toHaveLength(1)
    call.created(id)
    call.done(id)
  }
  expect(facts(call.all, 'call.ended')).toEqual([])
})

test('nobody is asked anything while a tool runs', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  expect(call.after(60_000)).toEqual([])
})

// The end

test('hanging up in the middle of a reply keeps what was heard, and nothing happens afterwards', () => {
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

test('at its time limit a call says so, lets it be heard, and is hung up', () => {
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

test('a last phrase whose marks never return does not keep the line open', () => {
  const call = startQuietCall(callOptions({ maxCallMs: 180_000 }))
  call.after(180_000)
  expect(actionTypes(call.after(8_000))).toContain('line.hangUp')
})

test('the owner hangs up from the browser: the call ends at the provider', () => {
  const call = startQuietCall()
  const actions = call.give({ type: 'hangup.requested', reason: 'owner_hung_up' })
  expect(actions).toContainEqual({ type: 'line.hangUp', reason: 'owner_hung_up' })
})

// Memory

test('the caller’s speech and words are cues for recall; what surfaces is put before the model', () => {
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
