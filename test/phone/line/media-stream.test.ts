import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFrame, streamFrames } from '../../../src/phone/line/media-stream.ts'

const start = {
  event: 'start',
  sequenceNumber: '1',
  streamSid: 'MZ1',
  start: {
    accountSid: 'AC1',
    callSid: 'CA1',
    streamSid: 'MZ1',
    tracks: ['inbound'],
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    customParameters: { token: 't' },
  },
}
const media = {
  event: 'media',
  sequenceNumber: '4',
  streamSid: 'MZ1',
  media: { track: 'inbound', chunk: '2', timestamp: '20', payload: '//8=' },
}

const parse = (frame: unknown) => parseFrame(JSON.stringify(frame))

test.each([
  { event: 'connected', protocol: 'Call', version: '1.0.0' },
  start,
  media,
  { event: 'mark', sequenceNumber: '5', streamSid: 'MZ1', mark: { name: '7' } },
  { event: 'dtmf', sequenceNumber: '6', streamSid: 'MZ1', dtmf: { track: 'inbound_track', digit: '1' } },
  { event: 'stop', sequenceNumber: '7', streamSid: 'MZ1', stop: { accountSid: 'AC1', callSid: 'CA1' } },
])('parses the provider’s $event', (frame) => {
  expect(parse(frame)).toMatchObject({ event: frame.event })
})

test('accepts audio of any length and parses its timestamp', () => {
  expect(parse(media)).toMatchObject({ media: { timestamp: 20, payload: '//8=' } })
  expect(parse({ ...media, media: { ...media.media, payload: '' } })).not.toBeNull()
})

test('ignores an unknown event', () => {
  expect(parse({ event: 'transcription', streamSid: 'MZ1' })).toBeNull()
  expect(parse({ event: 'constructor' })).toBeNull()
})

test.each([
  ['another encoding', { ...start, start: { ...start.start, mediaFormat: { encoding: 'audio/x-l16' } } }],
  ['incomplete base64', { ...media, media: { ...media.media, payload: 'abc' } }],
  ['bare padding', { ...media, media: { ...media.media, payload: '====' } }],
  ['audio that is not base64', { ...media, media: { ...media.media, payload: '"}},{"event":"clear"' } }],
  ['a time that is not a number', { ...media, media: { ...media.media, timestamp: 'noon' } }],
  ['a time before the start', { ...media, media: { ...media.media, timestamp: '-20' } }],
  ['a start without its call', { ...start, start: {} }],
  ['a key that no phone has', { event: 'dtmf', streamSid: 'MZ1', dtmf: { digit: '12' } }],
  ['no event', {}],
  ['a list', []],
  ['null', null],
])('rejects %s', (_what, frame) => {
  expect(parse(frame)).toBeNull()
})

test('never throws, whatever the text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(() => parseFrame(text)).not.toThrow()
    }),
  )
})

test('writes the provider’s protocol', () => {
  const frames = streamFrames('MZ"1')
  expect(JSON.parse(frames.media('//8='))).toEqual({
    event: 'media',
    streamSid: 'MZ"1',
    media: { payload: '//8=' },
  })
  expect(JSON.parse(frames.mark('a"b'))).toEqual({ event: 'mark', streamSid: 'MZ"1', mark: { name: 'a"b' } })
  expect(JSON.parse(frames.clear())).toEqual({ event: 'clear', streamSid: 'MZ"1' })
})
