import { expect, test } from 'vitest'
import { muLaw } from '../../src/phone/call/codec.ts'
import { createWavReader, wavFile } from '../../src/phone/spoken/wav.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { wavOf } from '../doubles/model/wav.ts'
import { speech } from '../phone/call/call-harness.ts'
import { ofType, startWithPhone } from '../phone/phone-harness.ts'

const environment = {
  TRANSCRIPTION_MODEL: 'test-ears',
  SPEECH_MODEL: 'test-voice',
  PRICES: JSON.stringify({
    models: {
      'test-model': { input: 1, output: 1 },
      'test-ears': { minute: 0.6 },
      'test-voice': { minute: 0.6 },
    },
  }),
}
const RECORDING = wavFile(8_000, muLaw.decode(speech('caller-question')))
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const dictated = { audioBase64: base64(RECORDING) }

test('writes down what was dictated, pays it by its length, and keeps nothing of it', async () => {
  const { service, text, events } = await startWithPhone({ environment })
  const { client } = service
  expect((await client.get('/api/speech')).json).toMatchObject({ dictation: true, readAloud: true })
  text.transcribeWith(() => ({ text: ' When does the train leave? ' }))
  const answer = await client.post('/api/speech/transcriptions', dictated)
  expect([answer.status, answer.json]).toEqual([200, { text: 'When does the train leave?' }])
  const all = await events()
  const seconds = speech('caller-question').length / 8_000
  expect(ofType(all, 'spend.reserved')).toMatchObject([
    { payload: { purpose: 'speech', amountMicros: Math.ceil(seconds * 10_000) } },
  ])
  expect(ofType(all, 'chat.message.received')).toEqual([])
})

test('says what is wrong with a recording, with the models and with the allowance', async () => {
  const { service, text } = await startWithPhone({ environment })
  const { client } = service
  const refused = async (audioBase64: string) =>
    (await client.post('/api/speech/transcriptions', { audioBase64 })).json
  expect(await refused(Buffer.from('no recording').toString('base64'))).toMatchObject({
    status: 400,
    errors: [{ path: 'audioBase64', message: 'must be a WAV file of 16-bit PCM' }],
  })
  expect(await refused(base64(wavFile(8_000, new Int16Array(8_000 * 181))))).toMatchObject({
    status: 400,
    errors: [{ path: 'audioBase64', message: 'must be at most 180 seconds long' }],
  })
  for (const large of [
    base64(Buffer.alloc(3 * 1024 * 1024, 7)),
    'A'.repeat(2_000_001),
    '?'.repeat(2_000_000),
  ])
    expect(await refused(large)).toMatchObject({ status: 400, errors: [{ path: 'audioBase64' }] })
  // A header that claims more bytes a second would make it short, and cheap.
  const hurried = Buffer.from(wavFile(8_000, new Int16Array(8_000 * 181)))
  hurried.writeUInt32LE(0xffff_ffff, 28)
  expect(await refused(base64(hurried))).toMatchObject({ status: 400 })
  expect(await refused('A'.repeat(8 * 1024 * 1024))).toMatchObject({ status: 413, code: 'body_too_large' })
  text.transcribeWith(() => ({ fault: httpFaults.badRequest('scripted') }))
  expect(await refused(dictated.audioBase64)).toMatchObject({ status: 502 })
  await client.put('/api/config', { entries: { ALLOWANCE_DAY: '0.01' } })
  expect(await refused(dictated.audioBase64)).toMatchObject({ status: 429, code: 'allowance_spent' })
})

test('reads a reply aloud as it is made, and nothing but words of the delegate', async () => {
  const { service, text, events } = await startWithPhone({ environment })
  const { client } = service
  text.reply({ text: 'It leaves at **nine**. From platform four, as `always`.' })
  await client.post('/api/chat', { content: 'When does the train leave?' })
  const said: string[] = []
  text.speakWith((sentence) => {
    said.push(sentence)
    return wavOf(Array.from({ length: 24_000 }, (_, at) => (at % 100) * 100))
  })
  const all = await events()
  const [reply] = ofType(all, 'chat.reply.sent')
  const [asked] = ofType(all, 'chat.message.received')
  const spoken = await fetch(`${service.origin}/api/timeline/events/${reply.seq}/speech`, {
    method: 'POST',
    headers: { cookie: client.cookie() ?? '', origin: service.origin },
  })
  expect([spoken.status, spoken.headers.get('content-type')]).toEqual([200, 'audio/wav'])
  const read = createWavReader().add(Buffer.from(await spoken.arrayBuffer()))
  expect(read?.rate).toBe(24_000)
  expect(said).toEqual(['It leaves at nine.', 'From platform four, as always.'])
  // Two seconds, as the double said them.
  expect(Math.abs((read?.samples.length ?? 0) - 48_000)).toBeLessThan(200)
  const speak = async (seq: number) => (await client.post(`/api/timeline/events/${seq}/speech`)).json
  expect(await speak(asked.seq)).toMatchObject({ status: 404, detail: expect.stringContaining('message') })
  expect(await speak(99_999)).toMatchObject({ status: 404 })
  text.replyTo('/audio/speech', { fault: httpFaults.badRequest('cannot say this') })
  expect(await speak(reply.seq)).toMatchObject({ status: 502 })
  await client.delete(`/api/timeline/events/${reply.seq}`)
  expect(await speak(reply.seq)).toMatchObject({ status: 409, code: 'erased' })
})

test('names the model that is missing', async () => {
  const { service, text, events } = await startWithPhone()
  const { client } = service
  text.reply({ text: 'Yes.' })
  await client.post('/api/chat', { content: 'Is it?' })
  const [reply] = ofType(await events(), 'chat.reply.sent')
  expect((await client.post('/api/speech/transcriptions', dictated)).json).toMatchObject({
    status: 503,
    code: 'no_transcription_model',
  })
  expect((await client.post(`/api/timeline/events/${reply.seq}/speech`)).json).toMatchObject({
    status: 503,
    code: 'no_speech_model',
    detail: 'No model reads aloud. Choose one in Settings → Model services.',
  })
})
