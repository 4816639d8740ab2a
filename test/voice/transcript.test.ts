import { expect, test } from 'vitest'
import { facts, startQuietCall } from './call-driver.ts'

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
  call.spoke('u1', ' ')
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
