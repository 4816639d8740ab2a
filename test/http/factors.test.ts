import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { PASSWORD, startService } from './harness.ts'

const MINUTE_MS = 60_000

/** A service with an authenticator app, and a clock that the test moves. */
async function startWithApp() {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const service = await startService({ nowMs: () => nowMs })
  const { client } = service
  const { secret } = (await client.post('/api/auth/totp')).json
  /** The next code that was not used yet. */
  const code = () => {
    nowMs += 30_000
    return TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: nowMs })
  }
  const confirmed = await client.post('/api/auth/totp/confirm', { code: code() })
  const recoveryCodes: string[] = confirmed.json.recoveryCodes
  const signIn = (body: object) => createClient(service.port).post('/login', body)
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { service, client, secret, code, recoveryCodes, signIn, pass }
}

test('asks for a code after the password, and takes each code once', async () => {
  const { signIn, code, recoveryCodes } = await startWithApp()
  const bare = await signIn({ password: PASSWORD })
  expect([bare.status, bare.json.code]).toEqual([401, 'second_factor_required'])
  expect(bare.headers['set-cookie']).toBeUndefined()
  const wrong = await signIn({ password: 'not the password at all', code: code() })
  expect([wrong.status, wrong.json.code]).toEqual([401, 'wrong_password'])

  for (const each of [code(), recoveryCodes[0]]) {
    const right = await signIn({ password: PASSWORD, code: each })
    expect([right.status, right.json]).toEqual([200, { authenticated: true }])
    const replayed = await signIn({ password: PASSWORD, code: each })
    expect([replayed.status, replayed.json.code]).toEqual([401, 'wrong_code'])
  }
  const same = code()
  const parallel = await Promise.all([1, 2, 3].map(() => signIn({ password: PASSWORD, code: same })))
  expect(parallel.map(({ status }) => status).sort()).toEqual([200, 401, 401])
})

test('counts wrong codes like wrong passwords, whatever is right in between', async () => {
  const { signIn, code } = await startWithApp()
  for (let round = 0; round < 5; round += 1) {
    expect((await signIn({ password: PASSWORD, code: '000000' })).status).toBe(401)
    expect((await signIn({ password: PASSWORD })).status).toBe(401)
  }
  const right = await signIn({ password: PASSWORD, code: code() })
  expect([right.status, right.json.code]).toEqual([429, 'too_many_attempts'])
})

test('proves the owner by a code, which counts once', async () => {
  const { client, code, recoveryCodes, pass } = await startWithApp()
  const change = async () =>
    (await client.put('/api/config', { entries: { OWNER_PHONE_NUMBER: '+15005550001' } })).status
  const prove = async (proof: object) => (await client.post('/api/auth/step-up', proof)).status
  for (const fresh of [code, () => recoveryCodes[3]]) {
    pass(10 * MINUTE_MS)
    const proof = { code: fresh() }
    expect(await change()).toBe(403)
    expect(await prove(proof)).toBe(200)
    expect(await change()).toBe(200)
    expect(await prove(proof)).toBe(403)
  }
  expect(await prove({})).toBe(400)
})

test('lists, renews and removes what was added, and records it without secrets', async () => {
  const { service, client, secret, signIn, recoveryCodes, code } = await startWithApp()
  expect((await client.get('/api/auth/factors')).json).toMatchObject({
    totp: { addedAt: expect.stringMatching(/Z$/) },
    recoveryCodesLeft: 10,
  })
  const again = await client.post('/api/auth/totp')
  expect([again.status, again.json.code]).toEqual([409, 'totp_exists'])
  const renewed = (await client.post('/api/auth/recovery-codes')).json.recoveryCodes
  expect((await signIn({ password: PASSWORD, code: recoveryCodes[0] })).status).toBe(401)
  expect((await signIn({ password: PASSWORD, code: renewed[0] })).status).toBe(200)

  expect((await client.delete('/api/auth/totp')).status).toBe(204)
  expect((await client.delete('/api/auth/totp')).status).toBe(404)
  expect((await signIn({ password: PASSWORD })).status).toBe(200)
  expect((await client.post('/api/auth/step-up', { code: code() })).json.code).toBe('wrong_code')
  expect((await client.post('/api/auth/step-up', { code: renewed[1] })).json.code).toBe('wrong_code')

  expect(service.factTypes().filter((type) => /factor|recovery/.test(type))).toEqual([
    'owner.factor.added',
    'owner.factor.added',
    'owner.recovery-code.used',
    'owner.factor.removed',
  ])
  const kept = JSON.stringify([service.storage.ledger.readAfter(0, 100), service.written])
  for (const hidden of [secret, ...recoveryCodes, ...renewed]) expect(kept).not.toContain(hidden)
})

test('changes a factor only after a recent proof', async () => {
  const { client, pass } = await startWithApp()
  pass(10 * MINUTE_MS)
  for (const [method, path, content] of [
    ['POST', '/api/auth/totp'],
    ['POST', '/api/auth/totp/confirm', { code: '000000' }],
    ['DELETE', '/api/auth/totp'],
    ['POST', '/api/auth/recovery-codes'],
  ] as const) {
    const { status, json } = await client.send(method, path, content)
    expect([method, path, status, json?.code]).toEqual([method, path, 403, 'step_up_required'])
  }
})
