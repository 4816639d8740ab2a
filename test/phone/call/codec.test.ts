import { expect, test } from 'vitest'
import { createCallerAudio } from '../../../src/phone/call/caller-audio.ts'
import { muLaw, pcm } from '../../../src/phone/call/codec.ts'
import { browserMedium } from '../../../src/phone/call/medium.ts'
import { browserPhrases, loadPhrases } from '../../../src/phone/call/phrases.ts'

const bytesOf = (base64: string) => Buffer.from(base64, 'base64')

test('writes samples as 16-bit PCM within its bounds, and reads them back at any alignment', () => {
  const audio = pcm.encode(Float32Array.from([0, 1.4, -2.6, 40_000, -40_000]))
  expect([...pcm.decode(audio)]).toEqual([0, 1, -3, 32_767, -32_768])
  const shifted = Buffer.concat([Buffer.alloc(1), audio]).subarray(1)
  expect([...pcm.decode(shifted)]).toEqual([...pcm.decode(audio)])
})

test('cuts PCM for a browser into pieces of at most 100 ms, of whole frames', () => {
  const delta = Buffer.from(Uint8Array.from({ length: 250 * 48 + 100 }, (_, at) => at))
  const { chunks, carry } = browserMedium.cut(new Uint8Array(0), delta.toString('base64'))
  expect(chunks.map(({ bytes }) => bytes / 48)).toEqual([100, 100, 40])
  const rest = browserMedium.flush(carry)
  expect(Buffer.concat([...chunks, ...rest].map(({ payload }) => bytesOf(payload)))).toEqual(delta)
})

test('ends the turn of a browser that stops sending with silence in its own format', () => {
  const sent: Buffer[] = []
  const way = createCallerAudio(browserMedium)
  way.sendTo({ sendAudio: (base64) => void sent.push(bytesOf(base64)), bufferedBytes: 0 })
  way.frame(Buffer.alloc(960, 1).toString('base64'), 0, 0)
  way.tick(1_000, true)
  expect(sent.map(({ length }) => length / 48)).toEqual([20, 1_000])
  expect(sent[1]?.every((byte) => byte === 0)).toBe(true)
})

test('says the recorded phrases in a browser as long and as loud as on the phone', async () => {
  const phone = await loadPhrases()
  const browser = browserPhrases('en', phone)
  const loudness = (samples: Int16Array) =>
    Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length)
  for (const name of ['reconnecting', 'trouble', 'time_up', 'allowance', 'halted'] as const) {
    const [before, after] = [bytesOf(phone[name].media), bytesOf(browser[name].media)]
    expect(Math.abs(after.length / 48 - before.length / 8)).toBeLessThan(10)
    const ratio = loudness(pcm.decode(after)) / loudness(muLaw.decode(before))
    expect(ratio).toBeGreaterThan(0.95)
    expect(ratio).toBeLessThan(1.05)
  }
})
