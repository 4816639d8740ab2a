import { Readable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { muLaw, pcm } from '../../../src/phone/call/codec.ts'
import { decodeWords } from '../../../src/phone/call/medium.ts'
import { decodeMuLaw, encodeMuLaw } from '../../../src/phone/call/mu-law.ts'
import { relayMouth } from '../../../src/phone/relay/relay-ears.ts'
import { createSpeechMouth } from '../../../src/phone/spoken/mouth.ts'
import { createWavReader, wavFile } from '../../../src/phone/spoken/wav.ts'
import { linear } from '../../doubles/realtime/voice-activity.ts'
import { hasProgram, outputOf } from '../../support/programs.ts'

const hasSox = hasProgram('sox')
const RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000]

function tone(rate: number, frequency: number, seconds = 1): Int16Array {
  return Int16Array.from({ length: rate * seconds }, (_, at) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * frequency * at) / rate)),
  )
}

/** What the line carries of a WAV file that arrives in pieces of `bytes`. */
async function spoken(file: Uint8Array, bytes = 4_099, sentence = 'Hello.') {
  const mouth = createSpeechMouth(async function* () {
    for (let at = 0; at < file.length; at += bytes) yield file.subarray(at, at + bytes)
  }, muLaw)
  const pieces: string[] = []
  for await (const piece of mouth.speak(sentence, new AbortController().signal)) pieces.push(piece)
  return { pieces, audio: Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))) }
}

/** The power of one frequency and of everything else, without the ends, which fade. */
function powers(samples: Int16Array, frequency: number) {
  const middle = samples.slice(800, -800)
  let [sin, cos, total] = [0, 0, 0]
  middle.forEach((sample, at) => {
    const angle = (2 * Math.PI * frequency * at) / 8_000
    sin += sample * Math.sin(angle)
    cos += sample * Math.cos(angle)
    total += sample ** 2
  })
  const of = (2 * (sin ** 2 + cos ** 2)) / middle.length ** 2
  return { of, rest: total / middle.length - of }
}
const decibels = (ratio: number) => 10 * Math.log10(ratio)

test('encodes mu-law as G.711 does: every byte back to itself', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  expect([...decodeMuLaw(bytes)]).toEqual([...bytes].map((byte) => linear(byte) + 0))
  const again = encodeMuLaw(Float32Array.from(decodeMuLaw(bytes)))
  // There are two zeros.
  expect([...again]).toEqual([...bytes].map((byte) => (byte === 0x7f ? 0xff : byte)))
  expect([...encodeMuLaw(Float32Array.from([40_000, -40_000]))]).toEqual([0x80, 0x00])
})

test.each(RATES)('carries a tone of 1 kHz from %i Hz, and no alias of one of 6 kHz', async (rate) => {
  const { audio } = await spoken(wavFile(rate, tone(rate, 1_000)))
  expect(audio).toHaveLength(8_000)
  const { of, rest } = powers(decodeMuLaw(audio), 1_000)
  expect(decibels(of / (10_000 ** 2 / 2))).toBeCloseTo(0, 0)
  expect(decibels(of / rest)).toBeGreaterThan(35)
  if (rate < 16_000) return
  const alias = powers(decodeMuLaw((await spoken(wavFile(rate, tone(rate, 6_000)))).audio), 2_000)
  expect(decibels(10_000 ** 2 / 2 / (alias.of + alias.rest))).toBeGreaterThan(40)
})

test.skipIf(!hasSox)('sounds like the conversion of sox', async () => {
  const raw = ['-t', 'raw', '-r', '24000', '-e', 'signed', '-b', '16', '-c', '1']
  const speech = outputOf('sox', [
    '-t',
    'ul',
    '-r',
    '8000',
    '-c',
    '1',
    'test/audio/reply-train.ulaw',
    ...raw,
    '-',
  ])
  const theirs = outputOf('sox', [...raw, '-', '-t', 'ul', '-r', '8000', '-c', '1', '-'], speech)
  const file = outputOf('sox', [...raw, '-', '-t', 'wav', '-'], speech)
  const { audio } = await spoken(file)
  const [a, b] = [decodeMuLaw(audio), decodeMuLaw(theirs)]
  let [signal, noise] = [0, 0]
  b.forEach((sample, at) => {
    signal += sample ** 2
    noise += (sample - (a[at] ?? 0)) ** 2
  })
  // Mostly the noise of mu-law itself, and the highest frequencies, where the filters differ.
  expect(decibels(signal / noise)).toBeGreaterThan(20)
})

test('reads WAV as servers stream it: of unknown size, with other chunks, stereo, byte by byte', async () => {
  const plain = Buffer.from(wavFile(24_000, tone(24_000, 1_000, 0.1)))
  const whole = (await spoken(plain)).audio
  expect((await spoken(plain, 1)).audio).toEqual(whole)
  const unknown = Buffer.from(plain)
  unknown.writeUInt32LE(0xffff_ffff, 40)
  expect((await spoken(unknown)).audio).toEqual(whole)
  const list = Buffer.from('LIST\x05\0\0\0INFOx\0', 'latin1')
  const listed = Buffer.concat([plain.subarray(0, 36), list, plain.subarray(36), list])
  expect((await spoken(listed)).audio).toEqual(whole)
  const stereo = wavFile(24_000, tone(24_000, 1_000, 0.1).reduce<Int16Array>(doubled, new Int16Array(4_800)))
  Buffer.from(stereo.buffer, stereo.byteOffset).writeUInt16LE(2, 22)
  expect((await spoken(stereo)).audio).toEqual(whole)
  await expect(spoken(Buffer.from('ID3 is an mp3, not a WAV file.'))).rejects.toThrow('WAV')
})

function doubled(samples: Int16Array, sample: number, at: number): Int16Array {
  samples[2 * at] = sample
  return samples
}

test.each([4_000, 47_999, 191_999])('refuses the rate %i, whose conversion is slow', async (rate) => {
  await expect(spoken(wavFile(rate, tone(rate, 1_000, 0.1)))).rejects.toThrow('WAV')
})

test.each([2, 3])('reads what follows %i bytes of audio once', (bytes) => {
  const concat = vi.spyOn(Buffer, 'concat')
  onTestFinished(() => concat.mockRestore())
  const file = Buffer.from(wavFile(8_000, new Int16Array(1)))
  file.writeUInt32LE(bytes, 40)
  const wav = createWavReader()
  for (const chunk of [file, ...Array.from({ length: 200 }, () => Buffer.alloc(1_000))]) wav.add(chunk)
  const joined = concat.mock.calls.flatMap(([parts]) => parts.map(({ length }) => length))
  expect(joined.reduce((sum, length) => sum + length, 0)).toBeLessThan(2 * 200_000)
})

test('speaks words without marks of markdown, and nothing without words', async () => {
  const said: string[] = []
  const mouth = createSpeechMouth(async function* (text) {
    said.push(text)
    yield wavFile(8_000, tone(8_000, 1_000, 0.5))
  }, muLaw)
  const pieces: string[] = []
  for (const sentence of ['**Hello**, `you`. ', '---\n', '🙂'])
    for await (const piece of mouth.speak(sentence, new AbortController().signal)) pieces.push(piece)
  expect(said).toEqual(['Hello, you.'])
  expect(pieces.every((piece) => Buffer.byteLength(piece, 'base64') <= 1_600)).toBe(true)
})

test('speaks the words of Markdown, not its marks and addresses', async () => {
  const asked: string[] = []
  const synthesise = (text: string) => {
    asked.push(text)
    return Readable.from([])
  }
  const sentence = '- On your [shopping list](/notes/01m8): **milk** and *eggs*.'
  for (const mouth of [createSpeechMouth(synthesise, pcm), relayMouth])
    for await (const piece of mouth.speak(sentence, new AbortController().signal))
      asked.push(decodeWords(piece))
  expect(asked).toEqual([
    '- On your shopping list: milk and eggs.',
    '- On your shopping list: milk and eggs.',
  ])
})
