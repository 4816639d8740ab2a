import { expect, test } from 'vitest'
import { createAuthenticator } from './authenticator.ts'
import { createClient } from './client.ts'
import { PASSWORD, startService } from './harness.ts'

const MINUTE_MS = 60_000
const PUBLIC_URL = 'https://delegate.example.com'
const DOMAIN = { rpId: 'delegate.example.com', origin: PUBLIC_URL }
/** As the proxy of the Public URL sends it. */
const THERE = { headers: { host: 'delegate.example.com', 'x-forwarded-proto': 'https', origin: PUBLIC_URL } }

/** A service under a domain with one passkey, and a clock that the test moves. */
async function startWithPasskey() {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const service = await startService({ nowMs: () => nowMs, environment: { PUBLIC_URL } })
  const { client } = service
  const authenticator = createAuthenticator(DOMAIN)
  const { options } = (await client.post('/api/auth/passkeys/options', undefined, THERE)).json
  const added = await client.post(
    '/api/auth/passkeys',
    { name: 'My phone', response: authenticator.register(options) },
    THERE,
  )
  expect([added.status, added.json]).toEqual([201, { added: true }])
  const ask = async () =>
    (await createClient(service.port).post('/login/passkey/options', undefined, THERE)).json.options
  const signIn = (response: object, where: { readonly headers: Record<string, string> } = THERE) =>
    createClient(service.port).post('/login/passkey', { response }, where)
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { service, client, authenticator, ask, signIn, pass }
}

test('signs in with a passkey alone, and records it as a sign-in', async () => {
  const { service, client, authenticator, ask, signIn, pass } = await startWithPasskey()
  const options = await ask()
  // Strangers may ask, so the options name no passkey.
  expect(options).toEqual({
    challenge: expect.stringMatching(/^[\w-]{75}$/),
    rpId: 'delegate.example.com',
    timeout: 300_000,
    userVerification: 'required',
  })
  pass(MINUTE_MS)
  const answer = await signIn(authenticator.signIn(options))
  expect([answer.status, answer.json]).toEqual([200, { authenticated: true }])
  expect(answer.headers['set-cookie']?.[0]).toMatch(/^delegate_session=/)
  expect((await client.get('/api/auth/factors', THERE)).json).toMatchObject({
    passkeys: [{ name: 'My phone', domain: 'delegate.example.com', lastUsedAt: '2026-01-01T00:01:00.000Z' }],
    passkeyDomain: 'delegate.example.com',
  })
  expect(service.factTypes().slice(-2)).toEqual(['owner.factor.added', 'owner.signed-in'])
})

test('refuses a replay, another origin or domain, an unverified user, and a challenge that is not its own', async () => {
  const { authenticator, ask, signIn, pass } = await startWithPasskey()
  const used = authenticator.signIn(await ask())
  expect((await signIn(used)).status).toBe(200)
  const late = await ask()
  pass(5 * MINUTE_MS + 1)
  const stranger = createAuthenticator(DOMAIN)
  const attempts = {
    replayed: used,
    'from a phishing page': authenticator.signIn(await ask(), { origin: 'https://delegate.example.co' }),
    'from http': authenticator.signIn(await ask(), { origin: 'http://delegate.example.com' }),
    'from another port': authenticator.signIn(await ask(), { origin: `${PUBLIC_URL}:8443` }),
    'for another domain': authenticator.signIn(await ask(), { rpId: 'localhost' }),
    'without user verification': authenticator.signIn(await ask(), { isVerified: false }),
    'for a challenge of its own': authenticator.signIn({ challenge: 'c'.repeat(75) }),
    'after five minutes': authenticator.signIn(late),
    'of an unknown passkey': stranger.signIn(await ask()),
    'of another key': { ...stranger.signIn(await ask()), id: authenticator.id, rawId: authenticator.id },
  }
  for (const [how, response] of Object.entries(attempts)) {
    const { status, json } = await signIn(response)
    expect([how, status, json.code]).toEqual([how, 401, 'wrong_passkey'])
  }
  // Ten failures, like wrong passwords.
  expect((await signIn(authenticator.signIn(await ask()))).status).toBe(429)
})

test('proves the owner by a passkey', async () => {
  const { client, authenticator, ask, pass } = await startWithPasskey()
  pass(10 * MINUTE_MS)
  const change = async () =>
    (await client.put('/api/config', { entries: { OWNER_PHONE_NUMBER: '+15005550001' } }, THERE)).status
  expect(await change()).toBe(403)
  const proof = { passkey: authenticator.signIn(await ask()) }
  expect((await client.post('/api/auth/step-up', proof, THERE)).status).toBe(200)
  expect(await change()).toBe(200)
  const again = await client.post('/api/auth/step-up', proof, THERE)
  expect([again.status, again.json.code]).toEqual([403, 'wrong_passkey'])
})

test('adds a passkey only from its own page, and changes passkeys only after a recent proof', async () => {
  const { client, authenticator, ask, signIn, pass } = await startWithPasskey()
  const options = async () => (await client.post('/api/auth/passkeys/options', undefined, THERE)).json.options
  expect((await options()).excludeCredentials).toEqual([{ id: authenticator.id, type: 'public-key' }])
  const other = createAuthenticator(DOMAIN)
  for (const response of [
    other.register(await options(), { origin: 'https://evil.example' }),
    other.register(await options(), { isVerified: false }),
    authenticator.register(await options()),
  ]) {
    const { status, json } = await client.post('/api/auth/passkeys', { name: 'Mine', response }, THERE)
    expect([status, json.code]).toEqual([400, 'invalid_passkey'])
  }
  pass(10 * MINUTE_MS)
  for (const [method, path] of [
    ['POST', '/api/auth/passkeys/options'],
    ['POST', '/api/auth/passkeys'],
    ['DELETE', `/api/auth/passkeys/${authenticator.id}`],
  ] as const) {
    const { status, json } = await client.send(method, path, method === 'POST' ? {} : undefined, THERE)
    expect([method, path, status, json.code]).toEqual([method, path, 403, 'step_up_required'])
  }
  await client.post('/api/auth/step-up', { password: PASSWORD }, THERE)
  expect((await client.delete(`/api/auth/passkeys/${authenticator.id}`, THERE)).status).toBe(204)
  expect(await ask()).toBeNull()
  expect((await signIn(authenticator.signIn({ challenge: 'c' }))).status).toBe(401)
})

test('offers passkeys on localhost and the Public URL, not under an address', async () => {
  const { service, client, authenticator, ask, signIn } = await startWithPasskey()
  const address = { headers: { host: `127.0.0.1:${service.port}` } }
  expect((await client.get('/api/auth/factors', address)).json.passkeyDomain).toBeNull()
  expect((await client.post('/login/passkey/options', undefined, address)).json).toEqual({ options: null })
  const refused = await client.post('/api/auth/passkeys/options', undefined, address)
  expect([refused.status, refused.json.code]).toEqual([409, 'passkeys_unavailable'])
  const elsewhere = await createClient(service.port).post(
    '/login/passkey',
    { response: authenticator.signIn(await ask()) },
    address,
  )
  expect(elsewhere.status).toBe(409)

  const host = `localhost:${service.port}`
  const local = { headers: { host, origin: `http://${host}` } }
  const own = createAuthenticator({ rpId: 'localhost', origin: `http://${host}` })
  const { options } = (await client.post('/api/auth/passkeys/options', undefined, local)).json
  await client.post('/api/auth/passkeys', { name: 'Laptop', response: own.register(options) }, local)
  const begun = (await client.post('/login/passkey/options', undefined, local)).json.options
  // A passkey of one domain does not count on the other.
  const foreign = authenticator.signIn(begun, { origin: `http://${host}`, rpId: 'localhost' })
  expect((await signIn(foreign, local)).status).toBe(401)
  const begunAgain = (await client.post('/login/passkey/options', undefined, local)).json.options
  expect((await signIn(own.signIn(begunAgain), local)).status).toBe(200)
})

test('refuses a passkey sign-in from a page of another origin', async () => {
  const { authenticator, ask, signIn } = await startWithPasskey()
  const foreign = { headers: { ...THERE.headers, origin: 'https://evil.example' } }
  const { status, json } = await signIn(authenticator.signIn(await ask()), foreign)
  expect([status, json.code]).toEqual([403, 'foreign_origin'])
})
