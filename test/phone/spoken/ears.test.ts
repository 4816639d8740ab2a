import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { muLaw } from '../../../src/phone/call/codec.ts'
import { decodeMuLaw, encodeMuLaw } from '../../../src/phone/call/mu-law.ts'
import { createTranscribingEars } from '../../../src/phone/spoken/ears.ts'
import { hasProgram, outputOf } from '../../support/programs.ts'
import { settle } from './spoken-harness.ts'

const FRAME_BYTES = 160
const recorded = (name: string) => readFileSync(new URL(`../../audio/${name}.ulaw`, import.meta.url))
const silence = (seconds: number) => Buffer.alloc(8_000 * seconds, 0xff)

/** Feeds audio frame by frame. Returns when the caller started and stopped, in seconds, and the recordings made. */
async function hear(audio: Buffer, transcribe = async (_wav: Uint8Array) => 'words') {
  const events: [what: string, atSeconds: number][] = []
  const heard: (string | null)[] = []
  const wavs: Uint8Array[] = []
  let at = 0
  const ears = createTranscribingEars({
    transcribe: async (wav) => {
      wavs.push(wav)
      return await transcribe(wav)
    },
    failed: () => undefined,
    codec: muLaw,
  })({
    started: () => events.push(['started', at / 8_000]),
    stopped: () => events.push(['stopped', at / 8_000]),
    heard: (text) => heard.push(text),
  })
  for (; at < audio.length; at += FRAME_BYTES) ears.hear(audio.toString('base64', at, at + FRAME_BYTES))
  await settle()
  return { events, heard, wavs, ears }
}
const what = async (audio: Buffer) => (await hear(audio)).events.map(([type]) => type)

/** Sounds together, as linear samples. */
function mixed(...sounds: readonly { readonly of: Buffer; readonly by?: number }[]): Buffer {
  const length = Math.max(...sounds.map(({ of }) => of.length))
  const sum = new Float32Array(length)
  for (const { of, by = 1 } of sounds)
    decodeMuLaw(of).forEach((sample, at) => {
      sum[at] = (sum[at] ?? 0) + sample * by
    })
  return encodeMuLaw(sum)
}
const quieter = (of: Buffer, decibels: number) => mixed({ of, by: 10 ** (-decibels / 20) })

test('hears recorded speech as one utterance, with what was said before the start was noticed', async () => {
  const speech = recorded('caller-question')
  const { events, heard, wavs } = await hear(Buffer.concat([silence(1), speech, silence(1)]))
  expect(events.map(([type]) => type)).toEqual(['started', 'stopped'])
  const [[, startedAt] = ['', 0], [, stoppedAt] = ['', 0]] = events
  expect(startedAt).toBeGreaterThan(1)
  expect(startedAt).toBeLessThan(1.35)
  const endsAt = 1 + speech.length / 8_000
  expect(stoppedAt).toBeGreaterThan(endsAt)
  expect(stoppedAt).toBeLessThan(endsAt + 0.6)
  expect(heard).toEqual(['words'])
  const samples = Buffer.from(wavs[0] ?? []).subarray(44)
  const wanted = decodeMuLaw(speech)
  expect(samples.includes(Buffer.from(wanted.buffer, 0, wanted.byteLength))).toBe(true)
})

test('hears neither a click, nor the tones of keys, nor an echo of the delegate', async () => {
  const key = (row: number, column: number) =>
    encodeMuLaw(
      Float32Array.from(
        { length: 2_400 },
        (_, at) =>
          5_000 *
          (Math.sin((2 * Math.PI * row * at) / 8_000) + Math.sin((2 * Math.PI * column * at) / 8_000)),
      ),
    )
  expect(await what(Buffer.concat([silence(1), Buffer.alloc(480, 0x00), silence(1)]))).toEqual([])
  const keys = [key(697, 1209), key(852, 1477), key(941, 1336)]
  expect(await what(Buffer.concat(keys.flatMap((tone) => [silence(0.2), tone, silence(1)])))).toEqual([])
  expect(await what(quieter(recorded('reply-train'), 30))).toEqual([])
  const reply = Buffer.concat([recorded('caller-question'), silence(1), quieter(recorded('reply-train'), 20)])
  expect(await what(reply)).toEqual(['started', 'stopped'])
})

test('reports words in the order of the utterances, and null for those that could not be transcribed', async () => {
  const first = Promise.withResolvers<string>()
  const answers = [first.promise, Promise.reject(new Error('unavailable')), Promise.resolve('third')]
  const utterance = Buffer.concat([recorded('caller-thanks'), silence(1)])
  const it = await hear(
    Buffer.concat([utterance, utterance, utterance]),
    async () => await (answers.shift() ?? ''),
  )
  expect(it.heard).toEqual([])
  first.resolve('first')
  await settle()
  expect(it.heard).toEqual(['first', null, 'third'])
})

const hasVoice = hasProgram('espeak-ng') && hasProgram('sox')
describe.skipIf(!hasVoice)('synthetic speech in noise', () => {
  const line = ['-t', 'ul', '-r', '8000', '-c', '1', '-']
  const said = hasVoice
    ? outputOf(
        'sox',
        ['-', ...line, 'pad', '2', '2'],
        outputOf('espeak-ng', ['--stdout', 'Could you move my appointment to Friday at three?']),
      )
    : Buffer.alloc(0)
  const noiseOf = (kind: string, seconds: number) =>
    outputOf('sox', ['-R', '-n', ...line, 'synth', String(seconds), kind, 'vol', '0.3'])
  const strength = (audio: Buffer) =>
    Math.sqrt(decodeMuLaw(audio).reduce((sum, sample) => sum + sample ** 2, 0) / audio.length)

  test.each(['whitenoise', 'pinknoise', 'brownnoise'])('is one utterance in %s', async (kind) => {
    const noise = noiseOf(kind, Math.ceil(said.length / 8_000))
    const spoken = said.subarray(16_000, -16_000)
    // 12 dB below the speech, as in a car or a street.
    const by = strength(spoken) / strength(noise) / 4
    const { events } = await hear(mixed({ of: said }, { of: noise, by }))
    const speech = events.filter(([, at]) => at > 2)
    expect(speech.map(([type]) => type)).toEqual(['started', 'stopped'])
    expect(speech[0]?.[1]).toBeLessThan(2.6)
    expect(speech[1]?.[1]).toBeLessThan(said.length / 8_000 - 2 + 0.8)
  })

  test('is not heard in noise alone, and a noise that begins does not last as speech', async () => {
    const noise = noiseOf('pinknoise', 20)
    const by = 300 / strength(noise)
    const alone = await hear(mixed({ of: noise, by }))
    expect(alone.events.length).toBeLessThanOrEqual(2)
    const loud = await hear(mixed({ of: noise, by: 4 * by }))
    expect(loud.events.length).toBeLessThanOrEqual(2)
    expect(loud.events.at(-1)?.[1] ?? 0).toBeLessThan(5)
  })
})
