import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { PASSWORD, type Service, startService } from './harness.ts'
import { openSocket } from './web-socket.ts'

const WRONG = 'not the password at all'
/** To the letter of the contract. */
const SESSION_IDLE_MS = 30 * 86_400_000
const SESSION_MAX_MS = 90 * 86_400_000

async function fail(
  service: Service,
  times: number,
  options: { from?: string; headers?: Record<string, string> } = {},
) {
  const statuses: number[] = []
  for (let round = 0; round < times; round += 1) {
    statuses.push((await createClient(service.port).post('/login', { password: WRONG }, options)).status)
  }
  return statuses
}

test('creates a new session on each sign-in and ends the one that the browser had', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const first = client.cookie()
  expect((await client.post('/login', { password: PASSWORD })).status).toBe(200)
  expect(client.cookie()).not.toBe(first)
  const old = createClient(service.port)
  old.useCookie(first)
  expect((await old.get('/api/sessions')).status).toBe(401)
  expect((await client.get('/api/sessions')).status).toBe(200)
})

test('never adopts a session chosen by someone else', async () => {
  const service = await startService()
  const client = createClient(service.port)
  client.useCookie('delegate_session=chosen-by-an-attacker')
  await client.post('/login', { password: PASSWORD })
  expect(client.cookie()).not.toContain('chosen')
  const attacker = createClient(service.port)
  attacker.useCookie('delegate_session=chosen-by-an-attacker')
  expect((await attacker.get('/api/sessions')).status).toBe(401)
})

test('sets a Secure cookie whenever the request came by https', async () => {
  const service = await startService({ environment: { PUBLIC_URL: 'https://delegate.example.com' } })
  const cookieOf = async (headers: Record<string, string>) =>
    (await createClient(service.port).post('/login', { password: PASSWORD }, { headers })).headers[
      'set-cookie'
    ]?.[0]
  expect(await cookieOf({})).not.toContain('Secure')
  expect(await cookieOf({ 'x-forwarded-proto': 'http' })).not.toContain('Secure')
  expect(await cookieOf({ 'x-forwarded-proto': 'https' })).toContain('; Secure')
  expect(await cookieOf({ host: 'delegate.example.com' })).toContain('; Secure')
})

test('keeps the session in delegate_session by https too', async () => {
  const service = await startService({ environment: { TRUSTED_PROXY: '127.0.0.1' } })
  const https = { headers: { 'x-forwarded-proto': 'https' } }
  const client = createClient(service.port)
  const signedIn = await client.post('/login', { password: PASSWORD }, https)
  expect(signedIn.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^delegate_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ),
    expect.stringMatching(/^delegate_device=/),
  ])
  expect((await client.get('/api/sessions', https)).status).toBe(200)
  const signedOut = await client.post('/logout', {}, https)
  expect(signedOut.headers['set-cookie']).toEqual([
    expect.stringMatching(/^delegate_session=; Max-Age=0; Path=\/; HttpOnly; Secure/),
  ])
})

test('stores only a hash of the token', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const token = client.cookie()?.split('=')[1] ?? ''
  const { readFileSync } = await import('node:fs')
  const { settingsFile } = await import('../../src/settings/store.ts')
  expect(token.length).toBe(43)
  expect(readFileSync(settingsFile(service.directory), 'latin1')).not.toContain(token)
})

test('returns 429 with Retry-After after ten failures from one address', async () => {
  const service = await startService()
  expect(await fail(service, 10)).toEqual(Array(10).fill(401))
  const refused = await createClient(service.port).post('/login', { password: PASSWORD })
  expect(refused.status).toBe(429)
  expect(refused.json.code).toBe('too_many_attempts')
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(15 * 60)
})

test('does not affect other addresses or existing sessions when it refuses an address', async () => {
  const service = await startService()
  const owner = await service.signedIn()
  await fail(service, 11)
  expect((await createClient(service.port).post('/login', { password: PASSWORD })).status).toBe(429)
  const elsewhere = await createClient(service.port).post(
    '/login',
    { password: PASSWORD },
    { from: '127.0.0.2' },
  )
  expect(elsewhere.status).toBe(200)
  expect((await owner.get('/api/sessions')).status).toBe(200)
})

test('ends the wait by itself, and forgets failures after a success', async () => {
  let monotonicMs = 0
  const service = await startService({ monotonicMs: () => monotonicMs })
  await fail(service, 10)
  monotonicMs = 15 * 60_000 - 1
  expect(await fail(service, 1)).toEqual([429])
  monotonicMs += 1
  expect(await fail(service, 9)).toEqual(Array(9).fill(401))
  await service.signedIn()
  expect(await fail(service, 9)).toEqual(Array(9).fill(401))
})

test('counts concurrent failures', async () => {
  const service = await startService()
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => createClient(service.port).post('/login', { password: WRONG })),
  )
  const count = (status: number) => answers.filter((answer) => answer.status === status).length
  expect([count(401), count(429)]).toEqual([10, 30])
})

test('ignores rotating X-Forwarded-For unless the proxy is trusted', async () => {
  const rotating = (index: number) => ({ headers: { 'x-forwarded-for': `203.0.113.${index}` } })
  const untrusting = await startService()
  for (let index = 0; index < 10; index += 1) await fail(untrusting, 1, rotating(index))
  expect(await fail(untrusting, 1, rotating(99))).toEqual([429])

  const trusting = await startService({ environment: { TRUSTED_PROXY: '127.0.0.1' } })
  for (let index = 0; index < 10; index += 1) await fail(trusting, 1, rotating(1))
  expect(await fail(trusting, 1, rotating(1))).toEqual([429])
  expect(await fail(trusting, 1, rotating(2))).toEqual([401])
  // Entries that the client put before the proxy's are ignored.
  const lying = { headers: { 'x-forwarded-for': '198.51.100.7, 203.0.113.1' } }
  expect(await fail(trusting, 1, lying)).toEqual([429])
})

test('refuses guesses from ever new networks after a hundred, but not the owner', async () => {
  const service = await startService({ environment: { TRUSTED_PROXY: '127.0.0.1' } })
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  const owner = createClient(service.port)
  await owner.post('/login', { password: PASSWORD }, from('198.51.100.4'))
  // A malformed password counts too, without hashing.
  for (let index = 0; index < 100; index += 1)
    await createClient(service.port).post('/login', {}, from(`2001:db8:${index.toString(16)}::1`))
  const refused = await createClient(service.port).post('/login', { password: PASSWORD }, from('203.0.113.9'))
  expect([refused.status, refused.json.code]).toEqual([429, 'too_many_attempts'])
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)

  const change = { currentPassword: PASSWORD, newPassword: 'a long walk by the sea' }
  expect((await owner.post('/api/auth/password', change, from('203.0.113.8'))).status).toBe(200)
  const again = { password: change.newPassword }
  expect((await owner.post('/login', again, from('203.0.113.8'))).status).toBe(200)
  expect((await createClient(service.port).post('/login', again, from('198.51.100.4'))).status).toBe(200)
})

test.each([
  ['an array', { password: [PASSWORD] }],
  ['an object', { password: { $ne: null } }],
  ['a number', { password: 123456789012 }],
  ['missing', {}],
])('refuses a password that is %s with 400, and counts it', async (_kind, content) => {
  const service = await startService()
  for (let round = 0; round < 10; round += 1) {
    expect((await createClient(service.port).post('/login', content)).status).toBe(400)
  }
  expect((await createClient(service.port).post('/login', content)).status).toBe(429)
  expect((await createClient(service.port).post('/login', { password: PASSWORD })).status).toBe(429)
})

test('rejects the cookie after signing out', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const cookie = client.cookie()
  const answer = await client.post('/logout')
  expect([answer.status, answer.json]).toEqual([200, { authenticated: false }])
  expect(answer.headers['set-cookie']?.[0]).toMatch(/^delegate_session=; Max-Age=0; Path=\/; HttpOnly/)
  client.useCookie(cookie)
  expect((await client.get('/api/sessions')).status).toBe(401)
  expect((await client.get('/auth/status')).json).toEqual({ configured: true, authenticated: false })
})

test('ends every other session and its open sockets on a password change', async () => {
  const service = await startService()
  const [owner, thief] = [await service.signedIn(), await service.signedIn()]
  const [ownSocket, stolenSocket] = [await openSocket(service, owner), await openSocket(service, thief)]
  const newPassword = 'an even longer walk'
  const answer = await owner.post('/api/auth/password', { currentPassword: PASSWORD, newPassword })
  expect(answer.status).toBe(200)

  expect(await stolenSocket.closed).toBe(1008)
  expect((await thief.get('/api/sessions')).status).toBe(401)
  expect(await ownSocket.ask('still there?')).toBe('heard still there?')
  expect((await owner.get('/api/sessions')).json.sessions).toHaveLength(1)
  const signIn = (password: string) => createClient(service.port).post('/login', { password })
  expect([(await signIn(PASSWORD)).status, (await signIn(newPassword)).status]).toEqual([401, 200])
})

test('ignores a peer that does not close when its session ends', async () => {
  const service = await startService()
  const [owner, thief] = [await service.signedIn(), await service.signedIn()]
  const socket = await openSocket(service, thief)
  await socket.ask('before')
  socket.deaf()
  await owner.post('/api/auth/password', { currentPassword: PASSWORD, newPassword: 'an even longer walk' })
  socket.send('delete everything')
  await socket.ended
  expect(service.socketMessages).toEqual(['before'])
})

test('changes the password only with the current one, with ten guesses per session', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const guess = () =>
    client.post('/api/auth/password', { currentPassword: WRONG, newPassword: 'an even longer walk' })
  for (let round = 0; round < 10; round += 1) expect((await guess()).status).toBe(401)
  expect((await guess()).status).toBe(429)
  const other = await service.signedIn()
  const weak = await other.post('/api/auth/password', {
    currentPassword: PASSWORD,
    newPassword: 'password1234',
  })
  expect([weak.status, weak.json.code]).toEqual([400, 'common_password'])
  expect((await client.get('/api/sessions')).status).toBe(200)
})

test('ends a session after 30 idle days, and after 90 days in any case', async () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const service = await startService({ nowMs: () => nowMs })
  const idle = await service.signedIn()
  const busy = await service.signedIn()
  const startedMs = nowMs

  nowMs = startedMs + SESSION_IDLE_MS
  expect((await busy.get('/api/sessions')).status).toBe(200)
  expect((await idle.get('/auth/status')).json.authenticated).toBe(true)
  nowMs += SESSION_IDLE_MS
  expect((await busy.get('/api/sessions')).status).toBe(200)
  nowMs += 1
  expect((await idle.get('/auth/status')).json.authenticated).toBe(false)
  nowMs = startedMs + SESSION_MAX_MS
  expect((await busy.get('/api/sessions')).status).toBe(200)
  nowMs += 1
  expect((await busy.get('/api/sessions')).status).toBe(401)
})

test('closes an open socket when its session expires', async () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const service = await startService({ nowMs: () => nowMs })
  const socket = await openSocket(service, await service.signedIn())
  nowMs += SESSION_IDLE_MS + 1
  service.ownerState.sessions.endExpired()
  expect(await socket.closed).toBe(1008)
})

test('lists sessions, marks the current one and ends them one by one', async () => {
  const service = await startService()
  await service.client.post('/logout')
  const [here, there] = [await service.signedIn(), await service.signedIn()]
  const { sessions } = (await here.get('/api/sessions')).json
  expect(sessions.filter(({ current }: { current: boolean }) => current)).toHaveLength(1)
  const other = sessions.find(({ current }: { current: boolean }) => !current)
  expect(other).toEqual({
    id: expect.any(String),
    current: false,
    createdAt: expect.stringMatching(/Z$/),
    lastSeenAt: expect.stringMatching(/Z$/),
    userAgent: '',
  })
  expect((await here.delete(`/api/sessions/${other.id}`)).status).toBe(204)
  expect((await there.get('/api/sessions')).status).toBe(401)
  const again = await here.delete(`/api/sessions/${other.id}`)
  expect([again.status, again.json.code]).toEqual([404, 'unknown_session'])
})

test('ends every session but the one that asks, and closes their sockets', async () => {
  const service = await startService()
  const [here, there] = [await service.signedIn(), await service.signedIn()]
  const socket = await openSocket(service, there)
  const refused = await here.send('DELETE', '/api/sessions', undefined, {
    headers: { origin: 'https://evil.example' },
  })
  expect([refused.status, (await there.get('/api/sessions')).status]).toEqual([403, 200])
  const head = service.headSeq()
  expect((await here.delete('/api/sessions')).status).toBe(204)
  expect(await socket.closed).toBe(1008)
  for (const other of [there, service.client]) expect((await other.get('/api/sessions')).status).toBe(401)
  expect((await here.get('/api/sessions')).json.sessions).toMatchObject([{ current: true }])
  expect(service.headSeq()).toBe(head + 2)
  expect((await here.delete('/api/sessions')).status).toBe(204)
  expect(service.headSeq()).toBe(head + 2)
})

test('records every account action as a fact, without passwords or tokens', async () => {
  const service = await startService()
  const first = await service.signedIn()
  const second = await service.signedIn()
  const { sessions } = (await first.get('/api/sessions')).json
  const own = sessions.find(({ current }: { current: boolean }) => current).id
  await second.delete(`/api/sessions/${own}`)
  await second.post('/api/auth/password', { currentPassword: PASSWORD, newPassword: 'an even longer walk' })
  await second.post('/logout')
  expect(service.factTypes()).toEqual([
    'owner.installed',
    'owner.signed-in',
    'owner.signed-in',
    'owner.signed-in',
    'owner.session.revoked',
    'owner.password.changed',
    'owner.session.revoked',
    'owner.signed-out',
  ])
  const facts = JSON.stringify(service.storage.ledger.readAfter(0, 100))
  for (const secret of [PASSWORD, 'an even longer walk', second.cookie() ?? 'none']) {
    expect(facts).not.toContain(secret)
  }
})

test('appends one fact per kind however many strangers are refused', async () => {
  const service = await startService()
  const head = service.headSeq()
  await fail(service, 12)
  for (let round = 0; round < 30; round += 1) await createClient(service.port).get('/api/config')
  expect(service.headSeq()).toBe(head)
  await service.intrusions.flush()
  await service.intrusions.flush()
  const facts = service.storage.ledger.readAfter(head, 100)
  expect(facts.map((fact) => (fact.type === 'intrusion.counted' ? fact.facts : null))).toEqual([
    expect.objectContaining({ kind: 'sign_in_refused', count: 10 }),
    expect.objectContaining({ kind: 'sign_in_throttled', count: 2 }),
    expect.objectContaining({ kind: 'no_session', count: 30 }),
  ])
})
