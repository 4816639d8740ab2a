import { expect, test } from 'vitest'
import { actionTypes, type Driver, mediaBytes, sent, startQuietCall, toolCall } from './call-driver.ts'

function toolsRun(actions: Driver['all']): readonly string[] {
  return actions.flatMap((action) => (action.type === 'tool.run' ? [action.callId] : []))
}

function returned(call: Driver, callId: string) {
  return call.give({ type: 'tool.returned', callId, output: `result of ${callId}` })
}

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
  call.spoke('u1', 'And?')
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
