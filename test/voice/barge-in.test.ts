import { expect, test } from 'vitest'
import { callOptions, clears, facts, marks, mediaBytes, sent, startQuietCall } from './call-driver.ts'

function speakingCall() {
  const call = startQuietCall()
  call.created('r1')
  return call
}

/** The heard part of the head of the queue, as the model is told. */
function truncatedAt(call: ReturnType<typeof speakingCall>): readonly (number | undefined)[] {
  return sent(call.speechStarted(), 'conversation.item.truncate').map((event) => event.audio_end_ms)
}

test('100 ms acknowledged and 100 ms not: heard 150 ms', () => {
  const call = speakingCall()
  const [first] = marks(call.delta('r1', 'i1', 800))
  call.delta('r1', 'i1', 800)
  call.mark(first ?? '')
  expect(truncatedAt(call)).toEqual([150])
})

test('161 bytes acknowledged are 20 whole milliseconds, and all that was sent: nothing to truncate', () => {
  const call = speakingCall()
  const names = marks(call.delta('r1', 'i1', 161))
  call.delta('r1', 'i1', 1)
  names.push(...marks(call.audioDone('r1', 'i1')))
  expect(names).toHaveLength(2)
  call.mark(names[0] ?? '')
  call.speechStarted()
  expect(facts(call.all, 'call.interrupted').at(-1)?.facts).toMatchObject({ heardMs: 20, sentMs: 20 })
  expect(sent(call.all, 'conversation.item.truncate')).toEqual([])
})

test('100 ms of which nothing is acknowledged: heard 50 ms', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 800)
  expect(truncatedAt(call)).toEqual([50])
})

test('a frame of which nothing is acknowledged counts at most as itself', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 160)
  call.delta('r1', 'i1', 160)
  expect(truncatedAt(call)).toEqual([20])
})

test('of a second queued item nothing was heard: it is deleted, once its response is done', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 800)
  call.delta('r1', 'i2', 800)
  const now = call.speechStarted()
  expect(sent(now, 'conversation.item.truncate').map((event) => event.item_id)).toEqual(['i1'])
  expect(sent(now, 'conversation.item.delete')).toEqual([])
  const then = call.done('r1', 'cancelled')
  expect(sent(then, 'conversation.item.delete').map((event) => event.item_id)).toEqual(['i2'])
})

test('late audio of an interrupted response is dropped, also after the next one was created', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 800)
  call.speechStarted()
  expect(mediaBytes(call.delta('r1', 'i1', 800))).toBe(0)
  call.done('r1', 'cancelled')
  call.speechStopped()
  call.created('r2')
  expect(mediaBytes(call.delta('r1', 'i1', 800))).toBe(0)
  expect(mediaBytes(call.delta('r2', 'i2', 800))).toBe(800)
})

test('an interruption sends one clear; hearing speech again sends none', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 8_000)
  expect(clears(call.speechStarted())).toBe(1)
  expect(call.speechStarted()).toEqual([])
})

test('falling silent comes before anything else that speech brings about', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 8_000)
  const types = call.speechStarted().map((action) => action.type)
  expect(types[0]).toBe('line.clear')
  expect(types).toContain('memory.cue')
})

test('what was generated wholly but still plays is interrupted all the same', () => {
  const call = speakingCall()
  const names = marks(call.delta('r1', 'i1', 8_000))
  call.textDone('r1', 'i1', 'one two three four five six seven eight nine ten')
  call.audioDone('r1', 'i1')
  call.done('r1')
  for (const name of names.slice(0, 5)) call.mark(name)
  const actions = call.speechStarted()
  expect(clears(actions)).toBe(1)
  expect(sent(actions, 'conversation.item.truncate')).toMatchObject([{ item_id: 'i1', audio_end_ms: 550 }])
  expect(facts(actions, 'call.reply.spoken')).toMatchObject([
    {
      facts: { itemId: 'i1', heardMs: 550, sentMs: 1_000, interrupted: true },
      body: {
        text: 'one two three four five',
        generatedText: 'one two three four five six seven eight nine ten',
      },
    },
  ])
})

test('a response of which no audio came yet is dropped without clear or truncation, and its item deleted', () => {
  const call = speakingCall()
  const actions = call.speechStarted()
  expect(clears(actions)).toBe(0)
  expect(sent(actions, 'conversation.item.truncate')).toEqual([])
  expect(mediaBytes(call.delta('r1', 'i1', 800))).toBe(0)
  const done = call.done('r1', 'cancelled', [{ id: 'i1', type: 'message', status: 'incomplete' }])
  expect(sent(done, 'conversation.item.delete').map((event) => event.item_id)).toEqual(['i1'])
})

test('marks that come back because of the clear prove nothing and steal nothing from the next reply', () => {
  const call = speakingCall()
  const stale = marks(call.delta('r1', 'i1', 4_000))
  call.speechStarted()
  call.done('r1', 'cancelled')
  call.speechStopped()
  call.created('r2')
  call.delta('r2', 'i2', 4_000)
  for (const name of stale) call.mark(name)
  expect(truncatedAt(call)).toEqual([50])
})

test('a mark that nobody sent changes nothing', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 4_000)
  const before = call.state()
  for (const name of ['', 'x', '999999', '-1', '0', '1e0', ' 1', '__proto__']) call.mark(name)
  expect(call.state()).toEqual(before)
})

test('nothing speaks: hearing speech neither clears nor cancels nor truncates', () => {
  const call = startQuietCall()
  expect(call.speechStarted()).toEqual([{ type: 'memory.cue', text: null }])
})

test('where the service does not interrupt by itself, its response is cancelled', () => {
  const call = startQuietCall(callOptions({ serverInterrupts: false }))
  call.created('r1')
  call.delta('r1', 'i1', 800)
  expect(sent(call.speechStarted(), 'response.cancel').map((event) => event.response_id)).toEqual(['r1'])
})

test('a response that was asked for before the caller spoke, and created after, is cancelled unheard', () => {
  const call = startQuietCall()
  call.after(12_000)
  expect(sent(call.all, 'response.create')).toHaveLength(2)
  call.speechStarted()
  const actions = call.created('r1')
  expect(sent(actions, 'response.cancel').map((event) => event.response_id)).toEqual(['r1'])
  expect(mediaBytes(call.delta('r1', 'i1', 800))).toBe(0)
})

test('two interruptions in a row each clear once and each keep their own reply', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 1_600)
  call.textDone('r1', 'i1', 'First answer here.')
  call.speechStarted()
  call.done('r1', 'cancelled')
  call.speechStopped()
  call.created('r2')
  call.delta('r2', 'i2', 1_600)
  call.textDone('r2', 'i2', 'Second answer here.')
  call.speechStarted()
  call.done('r2', 'cancelled')
  expect(clears(call.all)).toBe(2)
  expect(facts(call.all, 'call.interrupted').map((fact) => fact.facts.itemId)).toEqual(['i1', 'i2'])
  expect(facts(call.all, 'call.reply.spoken').map((fact) => fact.facts.interrupted)).toEqual([
    false,
    true,
    true,
  ])
})
