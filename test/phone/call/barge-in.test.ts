import { expect, test } from 'vitest'
import { clears, facts, marks, mediaBytes, sent, startQuietCall } from './call-driver.ts'

function speakingCall() {
  const call = startQuietCall()
  call.created('r1')
  return call
}

/** How much of the first queued item was heard, as reported to the model. */
function truncatedAt(call: ReturnType<typeof speakingCall>): readonly (number | undefined)[] {
  return sent(call.speechStarted(), 'conversation.item.truncate').map((event) => event.audio_end_ms)
}

test('counts 100 ms acknowledged and 100 ms not as 150 ms heard', () => {
  const call = speakingCall()
  const [first] = marks(call.delta('r1', 'i1', 800))
  call.delta('r1', 'i1', 800)
  call.mark(first ?? '')
  expect(truncatedAt(call)).toEqual([150])
})

test('truncates nothing when all 161 bytes, 20 whole milliseconds, are acknowledged', () => {
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

test('counts 100 ms without any acknowledgement as 50 ms heard', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 800)
  expect(truncatedAt(call)).toEqual([50])
})

test('counts an unacknowledged frame at most as itself', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 160)
  call.delta('r1', 'i1', 160)
  expect(truncatedAt(call)).toEqual([20])
})

test('deletes a second, unheard item once its response is done', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 800)
  call.delta('r1', 'i2', 800)
  const now = call.speechStarted()
  expect(sent(now, 'conversation.item.truncate').map((event) => event.item_id)).toEqual(['i1'])
  expect(sent(now, 'conversation.item.delete')).toEqual([])
  const then = call.done('r1', 'cancelled')
  expect(sent(then, 'conversation.item.delete').map((event) => event.item_id)).toEqual(['i2'])
})

test('drops late audio of an interrupted response, even after the next one was created', () => {
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

test('sends one clear per interruption and none for repeated speech', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 8_000)
  expect(clears(call.speechStarted())).toBe(1)
  expect(call.speechStarted()).toEqual([])
})

test('stops playback before any other reaction to speech', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 8_000)
  const types = call.speechStarted().map((action) => action.type)
  expect(types[0]).toBe('line.clear')
  expect(types).toContain('memory.cue')
})

test('interrupts a reply that is fully generated but still plays', () => {
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

test('drops a response without audio and deletes its item, without clear or truncation', () => {
  const call = speakingCall()
  const actions = call.speechStarted()
  expect(clears(actions)).toBe(0)
  expect(sent(actions, 'conversation.item.truncate')).toEqual([])
  expect(mediaBytes(call.delta('r1', 'i1', 800))).toBe(0)
  const done = call.done('r1', 'cancelled', [{ id: 'i1', type: 'message', status: 'incomplete' }])
  expect(sent(done, 'conversation.item.delete').map((event) => event.item_id)).toEqual(['i1'])
})

test('does not count marks returned by a clear towards either reply', () => {
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

test('ignores an unknown mark', () => {
  const call = speakingCall()
  call.delta('r1', 'i1', 4_000)
  const before = call.state()
  for (const name of ['', 'x', '999999', '-1', '0', '1e0', ' 1', '__proto__']) call.mark(name)
  expect(call.state()).toEqual(before)
})

test('neither clears, cancels nor truncates when nothing plays', () => {
  const call = startQuietCall()
  expect(call.speechStarted()).toEqual([{ type: 'memory.cue', text: null }])
})

test('cancels a response that was requested before the caller spoke and created after', () => {
  const call = startQuietCall()
  call.after(12_000)
  expect(sent(call.all, 'response.create')).toHaveLength(2)
  call.speechStarted()
  const actions = call.created('r1')
  expect(sent(actions, 'response.cancel').map((event) => event.response_id)).toEqual(['r1'])
  expect(mediaBytes(call.delta('r1', 'i1', 800))).toBe(0)
})

test('clears once for each of two interruptions and records both replies', () => {
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
