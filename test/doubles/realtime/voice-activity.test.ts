import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createVoiceActivity, linear } from './voice-activity.ts'

const speech = readFileSync(new URL('../../audio/caller-question.ulaw', import.meta.url))
const silence = Buffer.alloc(8_000, 0xff)
const detect = () => createVoiceActivity({ silenceMs: 500, paddingMs: 300 })

test('decodes mu-law as in G.711: zero, the extremes and both signs', () => {
  expect([linear(0xff), linear(0x7f)].map(Math.abs)).toEqual([0, 0])
  expect(linear(0x80)).toBe(32_124)
  expect(linear(0x00)).toBe(-32_124)
})

test('detects recorded speech between silences as one turn', () => {
  const events = detect().feed(Buffer.concat([silence, speech, silence]))
  expect(events.map((event) => event.type)).toEqual(['started', 'stopped'])
})

test('detects nothing in silence or in a click', () => {
  const click = Buffer.concat([silence, Buffer.alloc(160, 0x00), silence])
  expect(detect().feed(click)).toEqual([])
})

test('detects the same turns however the audio is split', () => {
  const whole = Buffer.concat([silence, speech, silence])
  const inPieces = detect()
  const events = []
  for (let at = 0; at < whole.length; at += 77) events.push(...inPieces.feed(whole.subarray(at, at + 77)))
  expect(events).toEqual(detect().feed(whole))
})
