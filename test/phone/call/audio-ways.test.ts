import { expect, test } from 'vitest'
import { createCallerAudio } from '../../../src/phone/call/caller-audio.ts'
import { createLineOutbox } from '../../../src/phone/call/line-outbox.ts'
import { audioMedium } from '../../../src/phone/call/medium.ts'
import type { CallLine } from '../../../src/phone/call/ports.ts'
import { audio } from './call-driver.ts'

// The caller's audio to the model

function modelSink() {
  const sent: Buffer[] = []
  return {
    sent,
    bufferedBytes: 0,
    sendAudio: (base64: string) => sent.push(Buffer.from(base64, 'base64')),
  }
}

const all = (sink: ReturnType<typeof modelSink>) => Buffer.concat(sink.sent)

/** Twenty milliseconds of audio, identified by their value. */
const frame = (value: number) => audio(160, value)

test('sends frames to the session at once and unchanged', () => {
  const sink = modelSink()
  const way = createCallerAudio(audioMedium)
  way.sendTo(sink)
  way.frame(frame(1), 0, 0)
  way.frame(audio(333, 2), 20, 20)
  expect(sink.sent).toEqual([Buffer.alloc(160, 1), Buffer.alloc(333, 2)])
})

test('silences the caller for two seconds after a key, so that the model hears no tones', () => {
  const sink = modelSink()
  const way = createCallerAudio(audioMedium)
  way.sendTo(sink)
  way.frame(frame(1), 0, 0)
  way.keyPressed()
  for (let atMs = 20; atMs < 2_060; atMs += 20) way.frame(frame(2), atMs, atMs)
  expect(sink.sent.map((bytes) => bytes[0])).toEqual([1, ...Array(100).fill(0xff), 2, 2])
})

test('keeps the newest five seconds without a session and sends them first once there is one', () => {
  const sink = modelSink()
  const way = createCallerAudio(audioMedium)
  for (let index = 0; index < 300; index += 1) way.frame(frame(index % 200), index * 20, index * 20)
  way.sendTo(sink)
  way.frame(frame(250), 6_000, 6_000)
  expect(all(sink)).toHaveLength(5_000 * 8 + 160)
  expect(all(sink)[0]).toBe(50)
  expect(sink.sent.at(-1)?.[0]).toBe(250)
})

test('queues frames while the model is slow, drops the oldest and keeps the order', () => {
  const sink = modelSink()
  const way = createCallerAudio(audioMedium)
  way.sendTo(sink)
  sink.bufferedBytes = 64 * 1024
  for (let index = 0; index < 300; index += 1) way.frame(frame(index % 200), index * 20, index * 20)
  expect(sink.sent).toEqual([])
  sink.bufferedBytes = 0
  way.tick(6_000, false)
  way.frame(frame(250), 6_000, 6_000)
  expect(all(sink)).toHaveLength(5_000 * 8 + 160)
  expect(sink.sent.map((bytes) => bytes[0])).toEqual([
    ...Array.from({ length: 250 }, (_, index) => (index + 50) % 200),
    250,
  ])
})

test('sends a frame of the largest size', () => {
  const sink = modelSink()
  const way = createCallerAudio(audioMedium)
  way.sendTo(sink)
  way.frame(audio(49_149), 0, 0)
  way.frame(frame(1), 6_144, 20)
  expect(all(sink)).toHaveLength(49_149 + 160)
})

test('fills a gap in the provider’s timestamps with silence, at most one second', () => {
  const sink = modelSink()
  const way = createCallerAudio(audioMedium)
  way.sendTo(sink)
  way.frame(frame(1), 0, 0)
  way.frame(frame(2), 220, 220)
  expect(all(sink)).toEqual(
    Buffer.concat([Buffer.alloc(160, 1), Buffer.alloc(1_600, 0xff), Buffer.alloc(160, 2)]),
  )
  way.frame(frame(3), 3_600_000, 300)
  expect(all(sink)).toHaveLength(160 + 1_600 + 160 + 8_000 + 160)
})

test('ignores jitter, overlaps and repeated timestamps', () => {
  const sink = modelSink()
  const way = createCallerAudio(audioMedium)
  way.sendTo(sink)
  for (const atMs of [0, 25, 30, 100, 100, 0, 60]) way.frame(frame(1), atMs, 0)
  expect(all(sink)).toHaveLength(7 * 160)
})

test('adds a second of silence when the line stops during speech, so that the turn ends', () => {
  const sink = modelSink()
  const way = createCallerAudio(audioMedium)
  way.sendTo(sink)
  way.frame(frame(1), 0, 0)
  way.tick(749, true)
  expect(all(sink)).toHaveLength(160)
  way.tick(750, true)
  way.tick(2_000, true)
  expect(all(sink)).toHaveLength(160 + 8_000)
  way.frame(frame(2), 1_040, 2_100)
  expect(all(sink)).toHaveLength(160 + 8_000 + 160)
})

test('adds nothing when the line stops while nobody speaks', () => {
  const sink = modelSink()
  const way = createCallerAudio(audioMedium)
  way.sendTo(sink)
  way.frame(frame(1), 0, 0)
  way.tick(60_000, false)
  expect(all(sink)).toHaveLength(160)
})

// The model's audio to the caller

function callerLine() {
  const out: string[] = []
  return {
    callSid: 'CA1',
    streamSid: 'MZ1',
    medium: audioMedium,
    bufferedBytes: 0,
    out,
    sendMedia: (payload: string) => out.push(payload),
    sendMark: (name: string) => out.push(`mark ${name}`),
    sendClear: () => out.push('clear'),
    close: () => out.push('close'),
    listen: () => undefined,
  } satisfies CallLine & { out: string[] }
}

test('sends audio at once, followed by its mark', () => {
  const line = callerLine()
  const outbox = createLineOutbox(line, () => expect.unreachable())
  outbox.media('a', '1')
  outbox.media('b', '2')
  expect(line.out).toEqual(['a', 'mark 1', 'b', 'mark 2'])
})

test('queues what a slow line does not accept, in order and without loss', () => {
  const line = callerLine()
  const outbox = createLineOutbox(line, () => expect.unreachable())
  outbox.media('a', '1')
  line.bufferedBytes = 64 * 1024 + 1
  outbox.media('b', '2')
  outbox.media('c', '3')
  outbox.pump()
  expect(line.out).toEqual(['a', 'mark 1'])
  line.bufferedBytes = 0
  outbox.media('d', '4')
  expect(line.out).toEqual(['a', 'mark 1', 'b', 'mark 2', 'c', 'mark 3', 'd', 'mark 4'])
})

test('sends a clear ahead of the queue and empties it', () => {
  const line = callerLine()
  const outbox = createLineOutbox(line, () => expect.unreachable())
  line.bufferedBytes = 64 * 1024 + 1
  outbox.media('a', '1')
  outbox.clear()
  line.bufferedBytes = 0
  outbox.pump()
  expect(line.out).toEqual(['clear'])
})

test('gives up the line once when the queue exceeds one mebibyte, and sends nothing more', () => {
  const line = callerLine()
  let overflows = 0
  const outbox = createLineOutbox(line, () => {
    overflows += 1
  })
  line.bufferedBytes = 512 * 1024
  const piece = 'x'.repeat(64 * 1024)
  for (let index = 0; index < 8; index += 1) outbox.media(piece, String(index))
  expect(overflows).toBe(0)
  for (let index = 0; index < 8; index += 1) outbox.media(piece, String(index))
  line.bufferedBytes = 0
  outbox.pump()
  outbox.clear()
  expect(overflows).toBe(1)
  expect(line.out).toEqual([])
})
