import { expect, test } from 'vitest'
import { facts, startQuietCall } from './call-driver.ts'

test('records words that arrive after the reply to them before it', () => {
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
  const recorded = actions.flatMap((action) => (action.type === 'record' ? action.facts : []))
  expect(recorded.map((fact) => fact.type)).toEqual(['call.utterance.heard', 'call.reply.spoken'])
})

test('records an item announced before its kind is known in its place', () => {
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
  const recorded = call.all.flatMap((action) => (action.type === 'record' ? action.facts : []))
  const items = recorded.flatMap((fact) =>
    fact.type === 'call.utterance.heard' || fact.type === 'call.reply.spoken' ? [fact.facts.itemId] : [],
  )
  expect(items).toEqual(['i0', 'u1', 'i1', 'u2', 'i2'])
})

test('records unintelligible words as such without holding up others', () => {
  const call = startQuietCall()
  call.speechStarted()
  call.speechStopped()
  call.committed('u1')
  const failed = call.said({ type: 'conversation.item.input_audio_transcription.failed', item_id: 'u1' })
  expect(facts(failed, 'call.utterance.heard')).toMatchObject([{ facts: { transcribed: false } }])
})

test('records an utterance without words when its transcription does not arrive in time', () => {
  const call = startQuietCall()
  call.speechStarted()
  call.speechStopped()
  call.committed('u1')
  call.answered('r1')
  call.after(10_000)
  expect(facts(call.all, 'call.utterance.heard')).toEqual([])
  expect(facts(call.after(1), 'call.utterance.heard')).toMatchObject([{ facts: { transcribed: false } }])
})

test('records nothing for noise without words', () => {
  const call = startQuietCall()
  call.spoke('u1', ' ')
  expect(facts(call.all, 'call.utterance.heard')).toEqual([])
})

test('records a reply that was heard to its end in full', () => {
  const call = startQuietCall()
  expect(facts(call.all, 'call.reply.spoken')).toMatchObject([
    {
      key: 'call:CA1:reply:i0',
      facts: { responseId: 'r0', heardMs: 20, sentMs: 20, interrupted: false },
      body: { text: 'Hello.', generatedText: 'Hello.' },
    },
  ])
})
