import { expect, test } from 'vitest'
import {
  actionTypes,
  callOptions,
  type Driver,
  facts,
  mediaBytes,
  sent,
  startCall,
  startQuietCall,
} from './call-driver.ts'

const MINUTE_MS = 60_000

// A lost session

test('plays a phrase at once when a session is lost, and resumes in the next one', () => {
  const call = startQuietCall()
  call.created('r1')
  call.delta('r1', 'i1', 8_000)
  call.text('r1', 'i1', 'one two three four')
  const actions = call.give({ type: 'model.closed', session: 1 })
  // The plan of the next session includes what is recorded before it opens.
  expect(actionTypes(actions)).toEqual(['line.clear', 'record', 'line.media', 'line.media', 'model.open'])
  expect(facts(actions, 'call.reply.spoken')).toMatchObject([{ facts: { heardMs: 50, interrupted: true } }])
  expect(facts(actions, 'call.interrupted')).toEqual([])
  expect(sent(call.configured(), 'response.create')).toMatchObject([
    { response: { instructions: 'Say that the line broke.' } },
  ])
})

test('ignores what a lost session still sends', () => {
  const call = startQuietCall()
  call.created('r1')
  call.give({ type: 'model.closed', session: 1 })
  call.configured()
  const late = call.said(
    {
      type: 'response.output_audio.delta',
      response_id: 'r1',
      item_id: 'i1',
      content_index: 0,
      delta: '/w==',
    },
    1,
  )
  expect(late).toEqual([])
})

test('closes the stream when the retry fails, so that the provider takes over', () => {
  const call = startQuietCall()
  call.give({ type: 'model.closed', session: 1 })
  const actions = call.give({ type: 'model.closed', session: 2 })
  expect(actionTypes(actions)).toEqual([
    'line.clear',
    'record',
    'record',
    'model.close',
    'line.close',
    'ended',
  ])
  expect(facts(actions, 'call.ended')).toMatchObject([{ facts: { reason: 'model_lost' } }])
})

test('allows another retry after a session that lasted', () => {
  const call = startQuietCall()
  call.give({ type: 'model.closed', session: 1 })
  call.configured()
  call.created('r1')
  call.done('r1')
  call.playedAll()
  call.spoke('u1', 'Go on.')
  call.created('r2')
  call.delta('r2', 'i2', 800)
  call.audioDone('r2', 'i2')
  call.done('r2')
  call.after(MINUTE_MS)
  expect(actionTypes(call.give({ type: 'model.closed', session: 2 }))).toContain('model.open')
})

test('treats a session that does not open in time as lost', () => {
  const call = startCall()
  expect(call.after(4_999)).toEqual([])
  expect(actionTypes(call.after(1))).toEqual(['model.close', 'line.media', 'line.media', 'model.open'])
  expect(actionTypes(call.after(5_000))).toContain('line.close')
})

test('greets in the second session if the first one did not', () => {
  const call = startCall()
  call.give({ type: 'model.closed', session: 1 })
  expect(sent(call.configured(), 'response.create')).toMatchObject([
    { response: { instructions: 'Greet the owner.' } },
  ])
})

test('treats a session as lost when an event is overdue', () => {
  const call = startQuietCall()
  call.created('r1')
  expect(call.after(9_999)).toEqual([])
  expect(actionTypes(call.after(1))).toContain('model.open')
})

test.each([
  ['nothing', () => undefined],
  ['a note of it', (call: Driver) => noted(call)],
  [
    'its words alone',
    (call: Driver) => {
      noted(call)
      call.heard('u1', 'When does it leave?')
    },
  ],
])('treats a session as lost that answers the caller’s speech with %s', (_what, follows) => {
  const call = startQuietCall()
  call.speechStarted()
  call.after(100)
  call.speechStopped()
  follows(call)
  expect(call.after(9_999)).toEqual([])
  expect(actionTypes(call.after(1))).toContain('model.open')
})

/** A service sends this as soon as the caller has stopped. */
function noted(call: Driver): void {
  call.committed('u1', 'i0')
  const item = { id: 'u1', type: 'message' }
  call.said({ type: 'conversation.item.added', item, previous_item_id: 'i0' })
  call.give({ type: 'model.alive', session: 1 })
}

test('waits as long for a spoken reply as for the transcription before it', () => {
  const call = startQuietCall(callOptions({ transcriptMs: 22_000 }))
  call.speechStarted()
  call.speechStopped()
  noted(call)
  expect(call.after(21_999)).toEqual([])
  expect(call.state().quietSinceMs).toBeNull()
})

test('treats a session as lost that is silent for longer than a monologue', () => {
  const call = startQuietCall()
  call.speechStarted()
  expect(call.after(3 * MINUTE_MS - 1)).toEqual([])
  expect(actionTypes(call.after(1))).toContain('model.open')
})

test.each([
  ['takes for noise', (call: Driver) => call.heard('u1', '')],
  [
    'cannot transcribe',
    (call: Driver) =>
      call.said({ type: 'conversation.item.input_audio_transcription.failed', item_id: 'u1' }),
  ],
])(
  'becomes quiet again after an utterance that the service %s and leaves unanswered',
  (_what, transcribed) => {
    const call = startQuietCall()
    call.speechStarted()
    call.speechStopped()
    noted(call)
    transcribed(call)
    call.after(10_000)
    expect(call.state().quietSinceMs).toBe(call.now())
  },
)

test('sends a waiting request when the reply it waited for never comes', () => {
  const call = startQuietCall()
  call.after(12_000)
  const busy = { code: 'conversation_already_has_active_response', message: 'busy' }
  call.said({ type: 'error', error: busy })
  call.said({
    type: 'conversation.item.added',
    item: { id: 'i9', type: 'message' },
    previous_item_id: null,
  })
  expect(sent(call.after(10_000), 'response.create')).toHaveLength(1)
})

test('passes a tool result to the next session as text when its own is gone', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [
    { id: 't1', type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
  ])
  call.give({ type: 'model.closed', session: 1 })
  call.configured()
  call.created('r2')
  call.done('r2')
  const actions = call.give({ type: 'tool.returned', callId: 'c1', output: 'found' })
  expect(sent(actions, 'conversation.item.create')).toMatchObject([
    { item: { role: 'user', content: [{ text: expect.stringMatching(/^<data .*found<\/data>$/) }] } },
  ])
  expect(sent(actions, 'response.create')).toHaveLength(1)
})

test('keeps a tool result that arrives between sessions for the next one', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [
    { id: 't1', type: 'function_call', call_id: 'c1', name: 'send_sms', arguments: '{}' },
  ])
  call.give({ type: 'model.closed', session: 1 })
  expect(call.give({ type: 'tool.returned', callId: 'c1', output: 'on its way' })).toEqual([])
  const actions = call.configured()
  expect(actions.flatMap((action) => (action.type === 'model.send' ? [action.event] : []))).toMatchObject([
    {
      type: 'conversation.item.create',
      item: { role: 'user', content: [{ text: expect.stringMatching(/^<data .*send_sms.*on its way/) }] },
    },
    { type: 'response.create' },
  ])
})

test('sends no more audio to a session that reports its expiry', () => {
  const call = startQuietCall()
  const expired = { code: 'session_expired', message: 'Your session hit the maximum duration.' }
  const actions = call.said({ type: 'error', error: expired })
  expect(actions[0]).toEqual({ type: 'model.close', session: 1 })
  expect(actionTypes(actions)).toContain('model.open')
})

test('does not cut the last phrase short when the session is lost meanwhile', () => {
  const call = startQuietCall(callOptions({ maxCallMs: MINUTE_MS, silenceMs: Number.POSITIVE_INFINITY }))
  call.after(MINUTE_MS)
  expect(call.give({ type: 'model.closed', session: 1 })).toEqual([])
  call.playedAll()
  expect(facts(call.all, 'call.ended')).toMatchObject([{ facts: { reason: 'time_limit' } }])
})

// Rotation

test('rotates to a fresh session in a quiet moment after 50 minutes, inaudibly', () => {
  const call = startQuietCall(callOptions({ silenceMs: Number.POSITIVE_INFINITY }))
  expect(call.after(50 * MINUTE_MS - 1)).toEqual([])
  expect(call.after(1)).toEqual([
    { type: 'model.close', session: 1 },
    { type: 'model.open', session: 2 },
  ])
  expect(call.configured(2)).toEqual([{ type: 'model.adopt', session: 2 }])
  expect(call.give({ type: 'model.closed', session: 1 })).toEqual([])
})

test('speaks about the keypad after a rotation', () => {
  const call = startQuietCall(callOptions({ silenceMs: Number.POSITIVE_INFINITY }))
  call.after(50 * MINUTE_MS)
  call.give({ type: 'keypad.told', text: 'The PIN was right.', asksReply: true })
  const actions = call.configured(2)
  expect(sent(actions, 'conversation.item.create')).toHaveLength(1)
  expect(sent(actions, 'response.create')).toHaveLength(1)
})

test('does not rotate before the caller’s words are transcribed', () => {
  const call = startQuietCall(callOptions({ silenceMs: Number.POSITIVE_INFINITY, rotateAfterMs: 1_000 }))
  call.after(900)
  call.speechStarted()
  call.speechStopped()
  call.committed('u1', 'i0')
  call.answered('r1')
  expect(call.after(100)).toEqual([])
  call.heard('u1', 'Call me Sam.')
  expect(actionTypes(call.after(100))).toEqual(['model.close', 'model.open'])
})

test('waits with rotation until the reply was played', () => {
  const call = startQuietCall(callOptions({ silenceMs: Number.POSITIVE_INFINITY }))
  call.created('r1')
  call.delta('r1', 'i1', 800)
  call.audioDone('r1', 'i1')
  call.done('r1')
  expect(call.after(55 * MINUTE_MS)).toEqual([])
  call.playedAll()
  expect(actionTypes(call.after(1))).toEqual(['model.close', 'model.open'])
})

test('says so and opens another session when the next one fails to open', () => {
  const call = startQuietCall(callOptions({ silenceMs: Number.POSITIVE_INFINITY }))
  call.after(50 * MINUTE_MS)
  const actions = call.give({ type: 'model.closed', session: 2 })
  expect(mediaBytes(actions)).toBeGreaterThan(0)
  expect(actions).toContainEqual({ type: 'model.open', session: 3 })
  expect(sent(call.configured(3), 'response.create')).toMatchObject([
    { response: { instructions: 'Say that the line broke.' } },
  ])
})

test('replaces a session sooner when its own expiry requires it', () => {
  const call = startQuietCall(callOptions({ silenceMs: Number.POSITIVE_INFINITY }))
  call.give({ type: 'model.expires', session: 1, inMs: 30 * MINUTE_MS })
  expect(actionTypes(call.after(20 * MINUTE_MS))).toEqual(['model.close', 'model.open'])
})
