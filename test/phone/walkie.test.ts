import { expect, test } from 'vitest'
import { startWithPhone } from './phone-harness.ts'

const RECORDING = { audioBase64: Buffer.from('RIFF of a recording').toString('base64'), format: 'wav' }

test('runs a recording through the same turn as chat and returns the reply as text and speech', async () => {
  const phone = await startWithPhone({
    environment: { DEV_ROUTES: '1', TRANSCRIPTION_MODEL: 'test-ears', SPEECH_MODEL: 'test-voice' },
  })
  phone.text.replyTo('/audio/transcriptions', { text: 'When does the train leave?' })
  phone.text.reply({ text: 'At nine fifteen.' })
  const answer = await phone.service.client.post('/_dev/walkie/voice', RECORDING)
  expect(answer.json).toMatchObject({
    transcript: 'When does the train leave?',
    reply: { text: 'At nine fifteen.', format: 'mp3' },
  })
  expect(answer.json.reply.audioBase64.length).toBeGreaterThan(0)
  const said = (await phone.events()).filter(({ type }) => type.startsWith('chat.'))
  expect(said.map(({ type }) => type)).toEqual(['chat.message.received', 'chat.reply.sent'])
})

test('returns the text of a reply that cannot be spoken', async () => {
  const phone = await startWithPhone({
    environment: { DEV_ROUTES: '1', TRANSCRIPTION_MODEL: 'test-ears', SPEECH_MODEL: 'test-voice' },
  })
  phone.text.replyTo('/audio/transcriptions', { text: 'When does the train leave?' })
  phone.text.replyTo('/audio/speech', { fault: { kind: 'status', status: 400, body: {} } })
  phone.text.reply({ text: 'At nine fifteen.' })
  const answer = await phone.service.client.post('/_dev/walkie/voice', RECORDING)
  expect(answer.status).toBe(200)
  expect(answer.json.reply).toEqual({ text: 'At nine fifteen.', audioBase64: null, format: null })
})

test('stores and lists the log lines of a device', async () => {
  const phone = await startWithPhone({ environment: { DEV_ROUTES: '1' } })
  const { client } = phone.service
  expect((await client.post('/_dev/walkie/logs', { message: 'button pressed' })).status).toBe(204)
  expect((await client.get('/_dev/walkie/logs')).json.lines).toMatchObject([
    { level: 'info', message: 'button pressed' },
  ])
})

test('accepts recordings up to 8 MiB and nothing else of that size', async () => {
  const phone = await startWithPhone({ environment: { DEV_ROUTES: '1' } })
  const { client } = phone.service
  const taking = (bytes: number, field: string) => {
    const empty = JSON.stringify({ ...RECORDING, [field]: '' })
    return JSON.stringify({ ...RECORDING, [field]: 'A'.repeat(bytes - empty.length) })
  }
  const json = { headers: { 'content-type': 'application/json' } }
  const mebibyte = 1024 * 1024
  // Base64 encodes in blocks of four, so this is the largest recording below the limit.
  const heard = await client.post('/_dev/walkie/voice', taking(8 * mebibyte - 3, 'audioBase64'), json)
  expect(heard.json.code).toBe('no_speech_model')
  const tooLong = await client.post('/_dev/walkie/voice', taking(8 * mebibyte + 1, 'audioBase64'), json)
  expect([tooLong.status, tooLong.json.code]).toEqual([413, 'body_too_large'])
  const log = await client.post('/_dev/walkie/logs', taking(mebibyte + 1, 'message'), json)
  expect([log.status, log.json.code]).toEqual([413, 'body_too_large'])
})

test('answers 404 without DEV_ROUTES and 401 without a session', async () => {
  const off = await startWithPhone()
  expect((await off.service.client.get('/_dev/walkie/logs')).status).toBe(404)
  expect((await off.service.client.post('/_dev/walkie/voice', RECORDING)).status).toBe(404)
  const on = await startWithPhone({ environment: { DEV_ROUTES: '1' } })
  expect((await on.provider.client.get('/_dev/walkie/logs')).status).toBe(401)
})
