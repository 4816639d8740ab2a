import fc from 'fast-check'
import { expect, test } from 'vitest'
import { heardText } from '../../../src/phone/call/heard-text.ts'
import { flushCarry, rechunk } from '../../../src/phone/call/rechunk.ts'
import {
  changeReply,
  emptyTranscript,
  placeItem,
  placeUtterance,
  release,
  settleUtterance,
  type Transcript,
} from '../../../src/phone/call/transcript.ts'

test('rechunks without loss or reordering into whole frames within the limit, except the last piece', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 4_000 }), { maxLength: 12 }), (deltas) => {
      let carry: Uint8Array = new Uint8Array(0)
      const out: Buffer[] = []
      for (const delta of deltas) {
        const result = rechunk(carry, Buffer.from(delta).toString('base64'), 160)
        carry = result.carry
        expect(carry.length).toBeLessThan(160)
        for (const { payload, bytes } of result.chunks) {
          const decoded = Buffer.from(payload, 'base64')
          expect(decoded.length).toBe(bytes)
          expect(bytes % 160).toBe(0)
          expect(bytes).toBeGreaterThan(0)
          expect(bytes).toBeLessThanOrEqual(800)
          out.push(decoded)
        }
      }
      for (const { payload } of flushCarry(carry)) out.push(Buffer.from(payload, 'base64'))
      expect(Buffer.concat(out)).toEqual(Buffer.concat(deltas))
    }),
  )
})

test('estimates the heard text as a prefix that ends with a whole word', () => {
  expect(heardText('The train leaves at nine.', 500, 1_000)).toBe('The train')
  expect(heardText('The train leaves at nine.', 1, 1_000)).toBe('')
  expect(heardText('The train leaves at nine.', 1_000, 1_000)).toBe('The train leaves at nine.')
  expect(heardText('Anything.', 0, 0)).toBe('')
  expect(heardText('列車は九時に出発します', 500, 1_000)).not.toBe('')
})

test('estimates the heard text as a prefix that grows with the heard time, for any text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.nat(10_000),
      fc.nat(10_000),
      fc.integer({ min: 1, max: 10_000 }),
      (text, a, b, total) => {
        const less = heardText(text, Math.min(a, b), total)
        const more = heardText(text, Math.max(a, b), total)
        expect(text.startsWith(more)).toBe(true)
        expect(more.startsWith(less)).toBe(true)
      },
    ),
  )
})

function released(transcript: Transcript): readonly string[] {
  return release(transcript).settled.map((entry) => entry.itemId)
}

const spoken = (transcript: Transcript, itemId: string) =>
  changeReply(transcript, itemId, 'r', (reply) => ({
    ...reply,
    generated: true,
    heard: { heardMs: 1, sentMs: 1, interrupted: false },
  }))

test('holds a reply back until the utterance before it is settled, then releases both in order', () => {
  let transcript = placeUtterance(emptyTranscript, 'u1', null, 0)
  transcript = spoken(placeItem(spoken(transcript, 'a1'), 'a1', 'u1'), 'a1')
  expect(released(transcript)).toEqual([])
  expect(released(settleUtterance(transcript, 'u1', 'hi'))).toEqual(['u1', 'a1'])
})

test('inserts a late item at the place that its predecessor determines', () => {
  let transcript = placeItem(spoken(emptyTranscript, 'a2'), 'a2', 'u2')
  transcript = settleUtterance(placeUtterance(transcript, 'u2', 'a1', 0), 'u2', 'second')
  transcript = spoken(transcript, 'a1')
  transcript = placeItem(transcript, 'a1', 'u1')
  transcript = settleUtterance(placeUtterance(transcript, 'u1', null, 0), 'u1', 'first')
  expect(released(transcript)).toEqual(['u1', 'a1', 'u2', 'a2'])
})

test('releases an item behind a released one before those still waiting', () => {
  let transcript = spoken(emptyTranscript, 'a0')
  transcript = release(transcript).transcript
  transcript = placeUtterance(transcript, 'u2', 'a1', 0)
  transcript = placeUtterance(transcript, 'u1', 'a0', 0)
  transcript = settleUtterance(settleUtterance(transcript, 'u1', 'x'), 'u2', 'y')
  expect(released(transcript)).toEqual(['u1', 'u2'])
})

test('releases each item once', () => {
  const { transcript } = release(spoken(emptyTranscript, 'a1'))
  expect(released(spoken(transcript, 'a1'))).toEqual([])
})
