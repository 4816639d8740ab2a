import { expect, test } from 'vitest'
import { PASSWORD, startService } from './harness.ts'

const MINUTE_MS = 60_000
const WRONG = 'not the password at all'

/** Everything that changes whom secrets, calls, texts and programs reach, or what may be spent. */
const SENSITIVE: Readonly<Record<string, string | number>> = {
  OPENAI_API_KEY: 'sk-new',
  OPENAI_BASE_URL: 'https://model.example/v1',
  SERVICES: '[{"id":"mine","kind":"other","title":"Mine","baseUrl":"https://model.example/v1"}]',
  SERVICE_KEYS: '{}',
  CHAT_SERVICE: 'mine',
  UTILITY_SERVICE: 'mine',
  EMBEDDING_SERVICE: 'mine',
  TRANSCRIPTION_SERVICE: 'mine',
  SPEECH_SERVICE: 'mine',
  REALTIME_SERVICE: 'mine',
  CHAT_FALLBACK: '[{"service":"mine","model":"m"}]',
  TELEPHONY_ACCOUNT_SID: 'AC1',
  TELEPHONY_AUTH_TOKEN: 'token',
  TELEPHONY_API_KEY_SID: 'SK1',
  TELEPHONY_API_KEY_SECRET: 'secret',
  TELEPHONY_APP_SID: 'AP1',
  TELEPHONY_PHONE_NUMBER: '+15005550006',
  TELEPHONY_API_BASE_URL: 'https://provider.example',
  GUEST_DAILY_MESSAGES: 1000,
  PUBLIC_URL: 'https://delegate.example.com',
  TRUSTED_PROXY: '127.0.0.1',
  OWNER_PHONE_NUMBER: '+15005550001',
  DELIVERY_WEBHOOK_URL: 'https://hooks.example/delegate',
  DELIVERY_WEBHOOK_SECRET: 'a webhook secret',
  COPILOT_WORKDIR: '/srv/delegate-work',
  BACKUP_DIRECTORY: '/srv/delegate-backups',
  BACKUP_PASSPHRASE: 'seven grey herons',
  BACKUP_KEEP_DAILY: 1,
  BACKUP_KEEP_WEEKLY: 0,
  BACKUP_KEEP_MONTHLY: 0,
}

const SERVICE = { kind: 'other', title: 'Mine', baseUrl: 'http://127.0.0.1:9/v1' }

/** A service with a clock that the test moves. */
async function startWithClock() {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const service = await startService({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { service, client: service.client, pass }
}

test('asks for a proof before every sensitive change, once the sign-in is five minutes old', async () => {
  const { service, client, pass } = await startWithClock()
  await service.signedIn()
  const { sessions } = (await client.get('/api/sessions')).json
  const other = sessions.find(({ current }: { current: boolean }) => !current)
  pass(5 * MINUTE_MS + 1)
  const head = service.headSeq()
  const attempts: readonly (readonly [string, string, object?])[] = [
    ...Object.entries(SENSITIVE).flatMap(
      ([key, value]) =>
        [
          ['PUT', '/api/config', { entries: { TIMEZONE: 'Europe/Berlin', [key]: value } }],
          ['DELETE', `/api/config/${key}`],
        ] as const,
    ),
    ['PUT', '/api/services/mine', SERVICE],
    ['PUT', '/api/services/main', { ...SERVICE, apiKey: 'sk-new' }],
    ['POST', '/api/services/test', { kind: SERVICE.kind, baseUrl: SERVICE.baseUrl }],
    ['DELETE', '/api/services/mine'],
    ['DELETE', `/api/sessions/${other.id}`],
    ['DELETE', '/api/sessions'],
  ]
  for (const path of ['/api/telephony/number/point', '/api/downloads'])
    expect([path, (await client.post(path, {})).json.code]).toEqual([path, 'step_up_required'])
  expect((await client.delete('/api/backups/missing')).json.code).toBe('step_up_required')
  for (const [method, path, content] of attempts) {
    const { status, json } = await client.send(method, path, content)
    expect([method, path, content, status, json?.code]).toEqual([
      method,
      path,
      content,
      403,
      'step_up_required',
    ])
  }
  const invalid = await client.put('/api/config', { entries: { OPENAI_BASE_URL: 'not an address' } })
  expect([invalid.status, invalid.json.code]).toEqual([400, 'invalid_setting'])
  expect(service.headSeq()).toBe(head)

  const proof = await client.post('/api/auth/step-up', { password: PASSWORD })
  expect([proof.status, proof.json]).toEqual([200, { proven: true }])
  for (const [method, path, content] of attempts) {
    const { status } = await client.send(method, path, content)
    expect([method, path, content, status]).toEqual([
      method,
      path,
      content,
      method === 'DELETE' && /sessions|services/.test(path) ? 204 : 200,
    ])
  }
})

test('changes other settings and reads everything without a proof', async () => {
  const { client, pass } = await startWithClock()
  pass(60 * MINUTE_MS)
  const change = await client.put('/api/config', { entries: { TIMEZONE: 'Europe/Berlin', TASK_LIMIT: 3 } })
  expect(change.status).toBe(200)
  expect((await client.delete('/api/config/TIMEZONE')).status).toBe(200)
  expect((await client.get('/api/config')).status).toBe(200)
})

test('counts a sign-in and a proof for five minutes, only for their own session', async () => {
  const { service, client, pass } = await startWithClock()
  const change = async (from = client) => {
    const { status } = await from.put('/api/config', { entries: { OWNER_PHONE_NUMBER: '+15005550001' } })
    return status
  }
  pass(5 * MINUTE_MS)
  expect(await change()).toBe(200)
  pass(1)
  expect(await change()).toBe(403)
  const other = await service.signedIn()
  expect([await change(), await change(other)]).toEqual([403, 200])

  await client.post('/api/auth/step-up', { password: PASSWORD })
  pass(5 * MINUTE_MS)
  expect(await change()).toBe(200)
  pass(1)
  expect(await change()).toBe(403)
  // A clock that is set back does not prolong the proof.
  pass(-60 * MINUTE_MS)
  expect(await change()).toBe(403)
})

test('takes the password of a request as a proof', async () => {
  const { client, pass } = await startWithClock()
  const entries = { PUBLIC_URL: 'https://delegate.example.com' }
  pass(10 * MINUTE_MS)
  expect((await client.put('/api/config', { entries, password: WRONG })).json.code).toBe('wrong_password')
  expect((await client.put('/api/config', { entries, password: PASSWORD })).status).toBe(200)
  expect((await client.delete('/api/config/PUBLIC_URL')).status).toBe(200)

  pass(10 * MINUTE_MS)
  const newPassword = 'an even longer walk'
  await client.post('/api/auth/password', { currentPassword: PASSWORD, newPassword })
  expect((await client.put('/api/config', { entries })).status).toBe(200)
})

test('allows ten wrong proofs per session, and leaves the session signed in', async () => {
  const { service, client, pass } = await startWithClock()
  pass(10 * MINUTE_MS)
  const guess = async (password: string) => (await client.post('/api/auth/step-up', { password })).status
  for (let round = 0; round < 10; round += 1) expect(await guess(WRONG)).toBe(403)
  expect([await guess(WRONG), await guess(PASSWORD)]).toEqual([429, 429])
  expect((await client.get('/api/sessions')).status).toBe(200)
  const other = await service.signedIn()
  expect((await other.post('/api/auth/step-up', { password: PASSWORD })).status).toBe(200)
})

test('ends a session after twenty wrong proofs in a row, and says so on the timeline', async () => {
  const { service, client, pass } = await startWithClock()
  const owner = await service.signedIn()
  const guess = async (password: string) => {
    pass(16 * MINUTE_MS)
    return (await client.post('/api/auth/step-up', { password })).status
  }
  for (let round = 0; round < 19; round += 1) expect(await guess(WRONG)).toBe(403)
  expect(await guess(PASSWORD)).toBe(200)
  for (let round = 0; round < 20; round += 1) expect(await guess(WRONG)).toBe(403)
  expect((await client.get('/api/sessions')).status).toBe(401)
  expect((await owner.get('/api/sessions')).status).toBe(200)
  const [last] = service.storage.ledger.readSeqs([service.headSeq()])
  expect(last).toMatchObject({ type: 'owner.session.revoked', facts: { by: 'guessing' } })
})

test.each([
  ['/login', { password: WRONG }],
  ['/api/auth/password', { currentPassword: WRONG, newPassword: 'three quiet blue rivers' }],
])('ends a session that guesses the password by %s', async (path, body) => {
  const { service, client, pass } = await startWithClock()
  const owner = await service.signedIn()
  for (let round = 0; round < 20; round += 1) {
    pass(16 * MINUTE_MS)
    expect((await client.post(path, body)).status).toBe(401)
  }
  expect((await client.get('/api/sessions')).status).toBe(401)
  expect((await owner.get('/api/sessions')).status).toBe(200)
})
