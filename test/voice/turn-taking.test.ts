import { expect, test } from 'vitest'
import type { ServerEvent } from '../../src/voice/realtime-protocol.ts'
import {
  callOptions,
  clears,
  type Driver,
  facts,
  marks,
  mediaBytes,
  sent,
  startCall,
  startQuietCall,
} from './call-driver.ts'

const MINUTE_MS = 60_000

type Output = Extract<ServerEvent, { type: 'response.done' }>['response']['output']

function toolCall(callId: string, status = 'completed'): Output[number] {
  return {
    id: `item-${callId}`,
    type: 'function_call',
    status,
    call_id: callId,
    name: 'look',
    arguments: '{}',
  }
}

function toolsRun(actions: Driver['all']): readonly string[] {
  return actions.flatMap((action) => (action.type === 'tool.run' ? [action.callId] : []))
}

function returned(call: Driver, callId: string) {
  return call.give({ type: 'tool.returned', callId, output: `result of ${callId}` })
}

function said(call: Driver, itemId: string, text: string) {
  call.speechStarted()
  call.speechStopped()
  call.committed(itemId)
  call.heard(itemId, text)
}

const actionTypes = (actions: Driver['all']) => actions.map((action) => action.type)

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

// Tools

test('a tool runs once its response is completed, and never for a cancelled one', () => {
  const call = startQuietCall()
  call.created('r1')
  expect(toolsRun(call.done('r1', 'cancelled', [toolCall('c1', 'incomplete')]))).toEqual([])
  call.created('r2')
  expect(toolsRun(call.done('r2', 'completed', [toolCall('c1')]))).toEqual(['c1'])
})

test('the same call id runs once', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1'), toolCall('c1')])
  call.created('r2')
  call.done('r2', 'completed', [toolCall('c1')])
  expect(toolsRun(call.all)).toEqual(['c1'])
})

test('of two tools both results are posted and one response is asked for, after the second', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1'), toolCall('c2')])
  expect(actionTypes(returned(call, 'c2'))).toEqual(['model.send'])
  const actions = returned(call, 'c1')
  expect(sent(actions, 'conversation.item.create')).toMatchObject([
    { item: { type: 'function_call_output', call_id: 'c1', output: 'result of c1' } },
  ])
  expect(sent(actions, 'response.create')).toHaveLength(1)
})

test('a result that comes while a reply is active waits for its end before one response is asked for', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  call.created('r2')
  expect(sent(returned(call, 'c1'), 'response.create')).toEqual([])
  expect(sent(call.done('r2'), 'response.create')).toHaveLength(1)
})

test('a result while the caller speaks is only posted: the words bring the reply', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  call.speechStarted()
  expect(actionTypes(returned(call, 'c1'))).toEqual(['model.send'])
  call.speechStopped()
  call.created('r2')
  expect(sent(call.done('r2'), 'response.create')).toEqual([])
})

test('a result after the caller spoke, while the reply is owed, is only posted', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  call.speechStarted()
  call.speechStopped()
  expect(sent(returned(call, 'c1'), 'response.create')).toEqual([])
})

test('a waiting request is dropped when the caller speaks', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  call.created('r2')
  returned(call, 'c1')
  call.speechStarted()
  call.done('r2', 'cancelled')
  call.speechStopped()
  call.created('r3')
  expect(sent(call.done('r3'), 'response.create')).toEqual([])
})

test('a result that nobody asked for is ignored', () => {
  const call = startQuietCall()
  expect(returned(call, 'c9')).toEqual([])
})

test('a request that the service refuses because its own reply came first follows that reply', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  returned(call, 'c1')
  const refusal = { code: 'conversation_already_has_active_response', message: 'busy' }
  expect(sent(call.said({ type: 'error', error: refusal }), 'response.create')).toEqual([])
  call.created('r2')
  expect(sent(call.done('r2'), 'response.create')).toHaveLength(1)
})

test('errors about what is no longer there end nothing', () => {
  const call = startQuietCall()
  const actions = call.said({
    type: 'error',
    error: { code: 'response_cancel_not_active', message: 'not active' },
  })
  expect(actionTypes(actions)).toEqual(['log'])
})

test('a request that the service refuses makes way for the one behind it', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1'), toolCall('c2')])
  said(call, 'u1', 'And?')
  call.created('r2')
  returned(call, 'c1')
  call.done('r2', 'failed')
  const [request] = sent(call.all, 'response.create').slice(-1)
  expect(sent(returned(call, 'c2'), 'response.create')).toEqual([])
  const error = { code: 'server_error', message: 'no', event_id: request?.event_id ?? null }
  expect(sent(call.said({ type: 'error', error }), 'response.create')).toHaveLength(1)
})

test('a response that fails is asked for once more, then the caller is told', () => {
  const call = startQuietCall()
  call.created('r1')
  expect(sent(call.done('r1', 'failed'), 'response.create')).toHaveLength(1)
  call.created('r2')
  const actions = call.done('r2', 'failed')
  expect(sent(actions, 'response.create')).toEqual([])
  expect(mediaBytes(actions)).toBe(1_600)
})

test('a response whose end is told twice is counted once', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1')
  expect(call.done('r1')).toEqual([])
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
  said(call, 'u1', 'I am here.')
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

// The transcript

test('words that arrive after the reply to them are told before it', () => {
  const call = startQuietCall()
  call.speechStarted()
  call.speechStopped()
  call.committed('u1', 'i0')
  call.created('r1')
  call.delta('r1', 'i1', 800)
  call.textDone('r1', 'i1', 'Nine.')
  call.audioDone('r1', 'i1')
  call.done('r1')
  const before = call.all.length
  call.playedAll()
  expect(facts(call.all.slice(before), 'call.reply.spoken')).toEqual([])
  const actions = call.heard('u1', 'What time is it?')
  const told = actions.flatMap((action) => (action.type === 'record' ? action.facts : []))
  expect(told.map((fact) => fact.type)).toEqual(['call.utterance.heard', 'call.reply.spoken'])
})

test('an item that is announced before it is known what it is, is told all the same, in its place', () => {
  const call = startQuietCall()
  const added = (id: string, previous: string) =>
    call.said({
      type: 'conversation.item.added',
      item: { id, type: 'message' },
      previous_item_id: previous,
    })
  call.speechStarted()
  call.speechStopped()
  added('u1', 'i0')
  call.committed('u1', 'i0')
  call.heard('u1', 'What time is it?')
  call.created('r1')
  added('i1', 'u1')
  call.speechStarted()
  call.speechStopped()
  call.committed('u2', 'i1')
  call.textDone('r1', 'i1', 'Nine.')
  call.done('r1', 'cancelled')
  call.created('r2')
  call.delta('r2', 'i2', 800)
  call.textDone('r2', 'i2', 'Nine, as I said.')
  call.done('r2')
  call.playedAll()
  call.heard('u2', 'Sorry?')
  const told = call.all.flatMap((action) => (action.type === 'record' ? action.facts : []))
  const items = told.flatMap((fact) =>
    fact.type === 'call.utterance.heard' || fact.type === 'call.reply.spoken' ? [fact.facts.itemId] : [],
  )
  expect(items).toEqual(['i0', 'u1', 'i1', 'u2', 'i2'])
})

test('words that cannot be made out are told as such and hold nothing up', () => {
  const call = startQuietCall()
  call.speechStarted()
  call.speechStopped()
  call.committed('u1')
  const failed = call.said({ type: 'conversation.item.input_audio_transcription.failed', item_id: 'u1' })
  expect(facts(failed, 'call.utterance.heard')).toMatchObject([{ facts: { transcribed: false } }])
})

test('words whose transcription never comes are told without it after a while', () => {
  const call = startQuietCall()
  call.speechStarted()
  call.speechStopped()
  call.committed('u1')
  call.after(10_000)
  expect(facts(call.all, 'call.utterance.heard')).toEqual([])
  expect(facts(call.after(1), 'call.utterance.heard')).toMatchObject([{ facts: { transcribed: false } }])
})

test('noise in which no word was found is not told', () => {
  const call = startQuietCall()
  said(call, 'u1', ' ')
  expect(facts(call.all, 'call.utterance.heard')).toEqual([])
})

test('a reply that was heard to its end is told whole', () => {
  const call = startQuietCall()
  expect(facts(call.all, 'call.reply.spoken')).toMatchObject([
    {
      key: 'call:CA1:reply:i0',
      facts: { responseId: 'r0', heardMs: 20, sentMs: 20, interrupted: false },
      body: { text: 'Hello.', generatedText: 'Hello.' },
    },
  ])
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
  said(call, 'u1', 'Where are my keys?')
  expect(call.all.filter((action) => action.type === 'memory.cue')).toEqual([
    { type: 'memory.cue', text: null },
    { type: 'memory.cue', text: 'Where are my keys?' },
  ])
  const actions = call.give({ type: 'memory.surfaced', text: '<memory>In the blue bowl.</memory>' })
  expect(sent(actions, 'conversation.item.create')).toMatchObject([
    {
      item: { role: 'system', content: [{ type: 'input_text', text: '<memory>In the blue bowl.</memory>' }] },
    },
  ])
})
