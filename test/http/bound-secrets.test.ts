import { expect, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { ACCOUNT, AUTH_TOKEN, createProvider, NUMBER } from '../phone/provider.ts'
import { startEavesdropper } from '../support/eavesdropper.ts'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { createClient } from './client.ts'

const KEY = 'key-of-the-owner-5d1c'
const SECRET = 'secret-of-the-owner-7a2e'

type Service = Awaited<ReturnType<typeof startWholeService>>
type Entry = { key: string; set: boolean; source: string; enteredFor: string | null }

async function entryOf(service: Service, key: string): Promise<Entry> {
  const { entries } = (await service.client.get('/api/config')).json
  return entries.find((entry: Entry) => entry.key === key)
}

/** Triggers every kind of request to the model service and the telephony provider. */
async function exercise({ client }: Service): Promise<void> {
  await client.put('/api/config', {
    entries: {
      CHAT_MODEL: 'm',
      EMBEDDING_MODEL: 'e',
      TRANSCRIPTION_MODEL: 't',
      SPEECH_MODEL: 's',
      REALTIME_MODEL: 'r',
      TELEPHONY_PHONE_NUMBER: NUMBER,
      PUBLIC_URL: 'https://delegate.example.com',
    },
  })
  await client.post('/api/chat', { content: 'I live in Lisbon.' })
  await client.post('/_dev/walkie/voice', { audioBase64: 'AAAA', format: 'wav' })
  await client.post('/api/config.test', { service: 'model' })
  await client.post('/api/config.test', { service: 'telephony' })
  await client.post('/api/telephony/number/point')
  await client.get('/api/telephony/number')
}

test('gives a stolen session that changes the addresses neither stored nor environment keys', async () => {
  const [model, telephony] = [await startEavesdropper(), await startEavesdropper()]
  for (const where of ['stored', 'environment'] as const) {
    const keys = {
      OPENAI_API_KEY: KEY,
      TELEPHONY_ACCOUNT_SID: ACCOUNT,
      TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
      TELEPHONY_API_KEY_SID: 'SK1',
      TELEPHONY_API_KEY_SECRET: SECRET,
    }
    const service = await startWholeService({
      environment: { DEV_ROUTES: '1', ...(where === 'environment' ? keys : {}) },
    })
    if (where === 'stored') await service.client.put('/api/config', { entries: keys })
    const changed = await service.client.put('/api/config', {
      entries: { OPENAI_BASE_URL: model.url, TELEPHONY_API_BASE_URL: telephony.url },
    })
    expect(changed.status).toBe(200)
    await exercise(service)
    expect(await entryOf(service, 'OPENAI_API_KEY')).toMatchObject({
      set: false,
      source: where,
      enteredFor: 'https://api.openai.com',
    })
    expect(await entryOf(service, 'TELEPHONY_AUTH_TOKEN')).toMatchObject({
      set: false,
      enteredFor: 'https://api.twilio.com',
    })
    await service.stop()
  }
  expect(model.heard.length).toBeGreaterThan(3)
  const heard = [...model.heard, ...telephony.heard].join('\n')
  for (const secret of [KEY, AUTH_TOKEN, SECRET]) {
    expect(heard).not.toContain(secret)
    for (const user of [ACCOUNT, 'SK1'])
      expect(heard).not.toContain(Buffer.from(`${user}:${secret}`).toString('base64'))
  }
})

test('uses a key again once its own address is back, and keeps it for an address of the same origin', async () => {
  const model = await startModelDouble({ validate: false })
  const other = await startEavesdropper()
  const service = await startWholeService()
  const put = (entries: Record<string, string>) => service.client.put('/api/config', { entries })
  expect((await put({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: KEY, CHAT_MODEL: 'm' })).status).toBe(200)
  await put({ OPENAI_BASE_URL: other.url })
  expect(await entryOf(service, 'OPENAI_API_KEY')).toMatchObject({ set: false, source: 'stored' })
  await put({ OPENAI_BASE_URL: `${model.url}/` })
  expect(await entryOf(service, 'OPENAI_API_KEY')).toMatchObject({ set: true })
  model.answerWith(() => ({ text: 'I see.' }))
  expect((await service.client.post('/api/chat', { content: 'Hello' })).json.reply.text).toBe('I see.')
  expect(model.requests().map(({ headers }) => headers.authorization)).toContain(`Bearer ${KEY}`)
  await model.close()
})

test('requires the password for a key of a new address, counts wrong guesses and ends no session', async () => {
  const service = await startWholeService({ environment: { OPENAI_API_KEY: KEY } })
  const { client } = service
  const put = (password?: string) =>
    client.put('/api/config', {
      entries: { OPENAI_BASE_URL: 'http://localhost:11434/v1', OPENAI_API_KEY: 'another-key' },
      ...(password === undefined ? {} : { password }),
    })
  const refused = await put()
  expect([refused.status, refused.json.code]).toEqual([403, 'password_required'])
  expect(refused.json.detail).toContain('https://api.openai.com')
  expect((await entryOf(service, 'OPENAI_API_KEY')).source).toBe('environment')

  const wrong = await put('not the password')
  expect([wrong.status, wrong.json.code]).toEqual([403, 'wrong_password'])
  const right = await put(PASSWORD)
  expect(right.status).toBe(200)
  expect(await entryOf(service, 'OPENAI_API_KEY')).toMatchObject({
    set: true,
    source: 'stored',
    enteredFor: 'http://localhost:11434',
  })
  // A new key for the same address works as before.
  expect((await client.put('/api/config', { entries: { OPENAI_API_KEY: 'third-key' } })).status).toBe(200)

  for (let guess = 0; guess < 10; guess += 1) await put('not the password')
  const throttled = await put(PASSWORD)
  expect([throttled.status, Number(throttled.headers['retry-after']) > 0]).toEqual([429, true])
  expect((await client.get('/api/config')).status).toBe(200)
  const elsewhere = createClient(service.port)
  expect((await elsewhere.post('/login', { password: PASSWORD })).status).toBe(200)
})

test('still verifies webhooks with the auth token of another address, because nothing is sent', async () => {
  const service = await startWholeService({
    environment: {
      TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
      PUBLIC_URL: 'https://delegate.example.com',
      TELEPHONY_API_BASE_URL: 'https://api.twilio.com',
    },
  })
  await service.client.put('/api/config', { entries: { TELEPHONY_API_BASE_URL: 'http://127.0.0.1:9' } })
  const provider = createProvider(service.port)
  const fields = { MessageSid: 'SM1', From: '+14155550199', To: NUMBER, Body: 'Hello' }
  expect((await provider.post('/sms', fields, { 'x-twilio-signature': 'forged' })).status).toBe(403)
  expect((await provider.post('/sms', fields)).status).toBe(200)
})
