import { expect, test } from 'vitest'
import { talkOf } from '../../../src/phone/call/talk.ts'
import { marks, startQuietCall } from './call-driver.ts'

const TEXT = 'Your train to Lisbon leaves at nine fifteen.'
const MS_A_CHUNK = 100

test('shows a reply word by word as far as the caller has heard it', () => {
  const call = startQuietCall()
  call.created('r1')
  call.text('r1', 'i1', TEXT)
  expect(talkOf(call.state())).toEqual({ speaking: null, lines: [] })
  const sent = marks(call.delta('r1', 'i1', 24_000))
  expect(sent.length).toBe(3_000 / MS_A_CHUNK)
  expect(talkOf(call.state())).toEqual({ speaking: 'delegate', lines: [] })
  const shown: string[] = []
  for (const [index, mark] of sent.slice(0, -1).entries()) {
    if (index === 20) {
      call.textDone('r1', 'i1', TEXT)
      call.audioDone('r1', 'i1')
      call.done('r1')
    }
    call.mark(mark)
    const [line] = talkOf(call.state()).lines
    const heardShare = ((index + 1) * MS_A_CHUNK) / 3_000
    shown.push(line?.text ?? '')
    expect(TEXT.startsWith(shown.at(-1) ?? '-')).toBe(true)
    expect((line?.text ?? '').length).toBeLessThanOrEqual(Math.ceil(TEXT.length * heardShare))
  }
  expect(new Set(shown).size).toBeGreaterThan(5)
  call.mark(sent.at(-1) ?? '')
  // Heard to the end, so it is a fact and no longer live.
  expect(talkOf(call.state())).toEqual({ speaking: null, lines: [] })
})

test('shows the heard part of an interrupted reply behind the caller’s pending words', () => {
  const call = startQuietCall()
  call.speechStarted()
  expect(talkOf(call.state()).speaking).toBe('caller')
  call.speechStopped()
  call.committed('u1')
  expect(talkOf(call.state())).toEqual({
    speaking: null,
    lines: [{ itemId: 'u1', by: 'caller', text: null }],
  })
  call.created('r1')
  call.text('r1', 'i1', TEXT)
  const sent = marks(call.delta('r1', 'i1', 24_000))
  for (const mark of sent.slice(0, 15)) call.mark(mark)
  call.speechStarted()
  const { speaking, lines } = talkOf(call.state())
  expect(speaking).toBe('caller')
  expect(lines.map(({ by }) => by)).toEqual(['caller', 'delegate'])
  expect(lines[1]?.text).toBe('Your train to Lisbon')
  call.heard('u1', 'When does it leave?')
  // The finished utterance is a fact; the reply waits for the end of its response.
  expect(talkOf(call.state()).lines.map(({ itemId }) => itemId)).toEqual(['i1'])
})

test('shows nothing for noise mistaken for speech', () => {
  const call = startQuietCall()
  call.speechStarted()
  call.speechStopped()
  call.committed('u1')
  call.created('r1')
  call.text('r1', 'i1', TEXT)
  call.delta('r1', 'i1', 8_000)
  call.heard('u1', ' ')
  expect(talkOf(call.state()).lines).toEqual([])
})
