import { expect, test } from 'vitest'
import {
  actionTypes,
  type Driver,
  facts,
  mediaBytes,
  sent,
  startCall,
  startQuietCall,
  toolCall,
} from './call-driver.ts'

function toolsRun(actions: Driver['all']): readonly string[] {
  return actions.flatMap((action) => (action.type === 'tool.run' ? [action.callId] : []))
}

function returned(call: Driver, callId: string) {
  return call.give({ type: 'tool.returned', callId, output: `result of ${callId}` })
}

test('runs a tool once its response is completed, and never for a cancelled one', () => {
  const call = startQuietCall()
  call.created('r1')
  expect(toolsRun(call.done('r1', 'cancelled', [toolCall('c1', 'incomplete')]))).toEqual([])
  call.created('r2')
  expect(toolsRun(call.done('r2', 'completed', [toolCall('c1')]))).toEqual(['c1'])
})

test('runs the same call id once', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1'), toolCall('c1')])
  call.created('r2')
  call.done('r2', 'completed', [toolCall('c1')])
  expect(toolsRun(call.all)).toEqual(['c1'])
})

test('posts the results of two tools and requests one response after the second', () => {
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

test('requests a response for a result only after the active reply', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  call.created('r2')
  expect(sent(returned(call, 'c1'), 'response.create')).toEqual([])
  expect(sent(call.done('r2'), 'response.create')).toHaveLength(1)
})

test('only posts a result while the caller speaks, because the speech triggers the reply', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  call.speechStarted()
  expect(actionTypes(returned(call, 'c1'))).toEqual(['model.send'])
  call.speechStopped()
  expect(sent(call.answered('r2'), 'response.create')).toEqual([])
})

test('only posts a result that arrives while a reply to the caller is due', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  call.speechStarted()
  call.speechStopped()
  expect(sent(returned(call, 'c1'), 'response.create')).toEqual([])
})

test('passes on what the keypad did as data, and requests a reply only if it asks for one', () => {
  const call = startQuietCall()
  const told = (asksReply: boolean) => call.give({ type: 'keypad.told', text: 'It was done.', asksReply })
  expect(sent(told(false), 'response.create')).toEqual([])
  const actions = told(true)
  expect(sent(actions, 'conversation.item.create')).toMatchObject([
    { item: { type: 'message', role: 'user' } },
  ])
  expect(sent(actions, 'response.create')).toHaveLength(1)
})

test('drops a waiting request when the caller speaks', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  call.created('r2')
  returned(call, 'c1')
  call.speechStarted()
  call.done('r2', 'cancelled')
  call.speechStopped()
  expect(sent(call.answered('r3'), 'response.create')).toEqual([])
})

test('ignores a result that was not requested', () => {
  const call = startQuietCall()
  expect(returned(call, 'c9')).toEqual([])
})

test('repeats a request, refused as busy, after the active reply', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1')])
  returned(call, 'c1')
  const refusal = { code: 'conversation_already_has_active_response', message: 'busy' }
  expect(sent(call.said({ type: 'error', error: refusal }), 'response.create')).toEqual([])
  call.created('r2')
  expect(sent(call.done('r2'), 'response.create')).toHaveLength(1)
})

test('only logs an error about something that no longer exists', () => {
  const call = startQuietCall()
  const actions = call.said({
    type: 'error',
    error: { code: 'response_cancel_not_active', message: 'not active' },
  })
  expect(actionTypes(actions)).toEqual(['log'])
})

test('sends the next request after the service refused one', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1', 'completed', [toolCall('c1'), toolCall('c2')])
  call.spoke('u1', 'And?')
  call.created('r2')
  returned(call, 'c1')
  call.done('r2', 'failed')
  const [request] = sent(call.all, 'response.create').slice(-1)
  expect(sent(returned(call, 'c2'), 'response.create')).toEqual([])
  const error = { code: 'server_error', message: 'no', event_id: request?.event_id ?? null }
  expect(sent(call.said({ type: 'error', error }), 'response.create')).toHaveLength(1)
})

test('retries a failed response once, then plays a phrase to the caller', () => {
  const call = startQuietCall()
  call.spoke('u1', 'And?')
  call.created('r1')
  expect(sent(call.done('r1', 'failed'), 'response.create')).toHaveLength(1)
  call.created('r2')
  const actions = call.done('r2', 'failed')
  expect(sent(actions, 'response.create')).toEqual([])
  expect(mediaBytes(actions)).toBe(1_600)
  expect(facts(actions, 'call.reply.spoken')).toEqual([])
  call.playedAll()
  expect(facts(call.all, 'call.reply.spoken').at(-1)).toMatchObject({ body: { text: 'Trouble.' } })
  const failed = call.all.filter((action) => action.type === 'response.finished').slice(-2)
  expect(failed.map(({ response }) => response.isRetried)).toEqual([true, false])
})

function failTwice(call: Driver, name: string) {
  for (const id of [`${name}1`, `${name}2`]) {
    call.created(id)
    call.done(id, 'failed')
  }
}

test('asks again for a greeting that failed, then apologises to a caller who hears nothing', () => {
  const call = startCall()
  call.configured()
  failTwice(call, 'greeting')
  expect(sent(call.all, 'response.create').map(({ response }) => response?.instructions)).toEqual([
    'Greet the owner.',
    'Greet the owner.',
  ])
  expect(mediaBytes(call.all)).toBe(1_600)
})

test('does not apologise for a check-in', () => {
  const call = startQuietCall()
  call.after(13_000)
  failTwice(call, 'check')
  expect(mediaBytes(call.all)).toBe(160)
})

test('asks again when the model answers without audio, and forgets that answer', () => {
  for (const status of ['completed', 'incomplete'] as const) {
    const call = startQuietCall()
    call.spoke('u1', 'When does the train leave?')
    call.created('r1')
    const actions = call.done('r1', status, [{ id: 'i1', type: 'message' }])
    const events = actions.flatMap((action) => (action.type === 'model.send' ? [action.event] : []))
    expect(events).toMatchObject([
      { type: 'conversation.item.delete', item_id: 'i1' },
      { type: 'response.create' },
    ])
    call.created('r2')
    expect(mediaBytes(call.done('r2', status, [{ id: 'i2', type: 'message' }]))).toBe(1_600)
    const failures = call.all.flatMap((action) =>
      action.type === 'response.finished' ? [action.response.failure] : [],
    )
    expect(failures).toEqual([null, 'no_audio', 'no_audio'])
  }
})

test('asks for no more of a model that says nothing, or that spoke before a key was pressed', () => {
  const call = startQuietCall()
  call.spoke('u1', 'Hold on, please.')
  call.created('r1')
  expect(sent(call.done('r1'), 'response.create')).toEqual([])
  call.created('r2')
  call.delta('r2', 'i2', 160)
  call.give({ type: 'keypad.told', text: 'It was done.', asksReply: true })
  const actions = call.done('r2', 'completed', [{ id: 'i2', type: 'message' }])
  expect(sent(actions, 'conversation.item.delete')).toEqual([])
  expect(sent(actions, 'response.create')).toHaveLength(1)
})

test('apologises before it hangs up on silence that it could not break', () => {
  const call = startCall()
  const fail = (name: string) => {
    call.created(name)
    call.done(name, 'failed')
  }
  call.configured()
  const names = ['greeting', 'greeting again', 'check-in', 'check-in again', 'second check-in']
  for (const name of names) {
    fail(name)
    call.playedAll()
    if (name !== 'greeting' && name !== 'check-in') call.after(13_000)
  }
  call.playedAll()
  const texts = facts(call.all, 'call.reply.spoken').map(({ body }) => body?.text)
  expect(texts).toEqual(['Trouble.', 'Trouble.'])
  expect(facts(call.all, 'call.ended')).toMatchObject([{ facts: { reason: 'silence' } }])
})

test('retries a request that the service refuses once, then plays a phrase to the caller', () => {
  const call = startQuietCall()
  const refused = () => {
    const { event_id = null } = sent(call.all, 'response.create').at(-1) ?? {}
    return call.said({ type: 'error', error: { code: 'rate_limit_exceeded', message: 'no', event_id } })
  }
  call.give({ type: 'keypad.told', text: 'The PIN was right.', asksReply: true })
  expect(sent(refused(), 'response.create')).toHaveLength(1)
  const actions = refused()
  expect(sent(actions, 'response.create')).toEqual([])
  expect(mediaBytes(actions)).toBe(1_600)
})

test('counts a response once when its end is reported twice', () => {
  const call = startQuietCall()
  call.created('r1')
  call.done('r1')
  expect(call.done('r1')).toEqual([])
})

test('apologises at once for a reply that the model did not finish in time', () => {
  const call = startQuietCall()
  call.spoke('u1', 'And?')
  call.created('r1')
  const details = { status_details: { error: { code: 'timeout' } } }
  const actions = call.said({
    type: 'response.done',
    response: { id: 'r1', status: 'failed', output: [], ...details },
  })
  expect(sent(actions, 'response.create')).toEqual([])
  expect(mediaBytes(actions)).toBe(1_600)
})

/** The model answers each result with another call until none is answered. Returns how often it could. */
function callsInARow(call: Driver, name: string): number {
  for (let round = 1; round < 100; round += 1) {
    const id = `${name}${round}`
    call.created(id)
    call.done(id, 'completed', [toolCall(id)])
    const actions = returned(call, id)
    expect(sent(actions, 'conversation.item.create')).toHaveLength(1)
    if (sent(actions, 'response.create').length > 0) continue
    expect(mediaBytes(actions)).toBe(1_600)
    return round
  }
  throw new Error('it never ends')
}

test('apologises to a caller whose model asks for tools again and again, until they speak or press a key', () => {
  const call = startQuietCall()
  call.spoke('u1', 'Look.')
  expect(callsInARow(call, 'a')).toBe(13)
  call.playedAll()
  call.spoke('u2', 'Look again.')
  expect(callsInARow(call, 'b')).toBe(13)
  call.playedAll()
  call.give({ type: 'keypad.told', text: 'It was done.', asksReply: true })
  expect(callsInARow(call, 'c')).toBe(13)
})
