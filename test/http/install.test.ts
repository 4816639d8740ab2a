import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { settingsFile } from '../../src/settings/store.ts'
import { createClient } from './client.ts'
import { PASSWORD, type Service, startService } from './harness.ts'

const install = (service: Service, more: object = {}) => {
  const body = { password: PASSWORD, setupCode: service.ownerState.setupCode, ...more }
  return createClient(service.port).post('/api/install', body)
}

function passwordHash(service: Service): unknown {
  const db = new Database(settingsFile(service.directory), { readonly: true })
  try {
    return db.prepare('SELECT passwordHash FROM owner').pluck().get()
  } finally {
    db.close()
  }
}

test('installs from the same machine with 201 and signs the browser in', async () => {
  const service = await startService({ installed: false })
  const client = createClient(service.port)
  const answer = await client.post('/api/install', {
    password: PASSWORD,
    setupCode: service.ownerState.setupCode,
    timezone: 'Europe/Berlin',
    publicUrl: 'https://delegate.example.com/',
    ownerPhoneNumber: '+493012345678',
    openaiApiKey: 'sk-canary-0123456789',
    openaiBaseUrl: 'http://127.0.0.1:9999/v1/',
  })
  expect(answer.status).toBe(201)
  expect(answer.json).toEqual({ configured: true, authenticated: true })
  expect(answer.headers['set-cookie']?.[0]).toMatch(
    /^delegate_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/,
  )
  expect((await client.get('/auth/status')).json).toEqual({ configured: true, authenticated: true })
  expect((await client.get('/public-url')).json).toEqual({ publicUrl: 'https://delegate.example.com' })
  const { entries } = (await client.get('/api/config')).json
  const values = Object.fromEntries(
    entries.map((entry: { key: string; value: unknown }) => [entry.key, entry.value]),
  )
  expect(values).toMatchObject({
    TIMEZONE: 'Europe/Berlin',
    OWNER_PHONE_NUMBER: '+493012345678',
    OPENAI_API_KEY: null,
    OPENAI_BASE_URL: 'http://127.0.0.1:9999/v1',
  })
  expect(service.factTypes()).toEqual(['owner.installed', 'settings.changed', 'owner.signed-in'])
})

test('records the installation with the time zone and without secrets', async () => {
  const service = await startService({ installed: false })
  await install(service, { timezone: 'Asia/Tokyo', openaiApiKey: 'sk-canary-0123456789' })
  const facts = service.storage.ledger.readAfter(0, 10)
  expect(facts[0]).toMatchObject({ type: 'owner.installed', facts: { timezone: 'Asia/Tokyo' } })
  expect(JSON.stringify(facts)).not.toContain('canary')
  expect(JSON.stringify(facts)).not.toContain(PASSWORD)
})

test.each([
  ['no set-up code', {}],
  ['an empty set-up code', { setupCode: '' }],
  ['a wrong set-up code', { setupCode: 'aaaa-bbbb-cccc-dddd' }],
])('refuses to install with %s, even from the same machine', async (_what, code) => {
  const service = await startService({ installed: false })
  const refused = await createClient(service.port).post('/api/install', { password: PASSWORD, ...code })
  expect([refused.status, refused.json.code]).toEqual([403, 'setup_code_required'])
  expect(service.headSeq()).toBe(0)
})

test('throttles wrong set-up codes, and still accepts the right one', async () => {
  const service = await startService({ installed: false })
  const statuses = []
  for (let round = 0; round < 11; round += 1)
    statuses.push((await install(service, { setupCode: 'aaaa-bbbb-cccc-dddd' })).status)
  expect(statuses).toEqual([...Array(10).fill(403), 429])
  expect((await install(service, { setupCode: service.ownerState.setupCode })).status).toBe(201)
})

test('accepts the set-up code in any case and grouping', async () => {
  const service = await startService({ installed: false })
  const setupCode = service.ownerState.setupCode.toUpperCase().replaceAll('-', ' ')
  expect((await install(service, { setupCode })).status).toBe(201)
})

test('lets exactly one of 50 concurrent installations succeed and refuses the rest with 409', async () => {
  const service = await startService({ installed: false })
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => install(service, { password: `${PASSWORD} ${index}` })),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
  expect(service.factTypes().filter((type) => type === 'owner.installed')).toHaveLength(1)
  const winner = answers.findIndex(({ status }) => status === 201)
  const signIn = await createClient(service.port).post('/login', { password: `${PASSWORD} ${winner}` })
  expect(signIn.status).toBe(200)
})

test('refuses a second installation with 409, also after a restart, and keeps the password', async () => {
  const service = await startService()
  const hash = passwordHash(service)
  expect((await install(service, { password: 'another long password' })).status).toBe(409)
  for (const body of [{ password: 'short' }, { password: undefined }, { timezone: 7 }]) {
    const answer = await install(service, body)
    expect([body, answer.status, answer.json.code]).toEqual([body, 409, 'already_configured'])
  }
  await service.stop()

  const restarted = await startService({ directory: service.directory, installed: false })
  const answer = await install(restarted, { password: 'another long password' })
  expect(answer.status).toBe(409)
  expect(answer.json.code).toBe('already_configured')
  expect(passwordHash(restarted)).toBe(hash)
  expect((await restarted.signedIn()).cookie()).toBeDefined()
})

test.each([
  ['eleven char'],
  ['        '],
  ['password1234'],
  ['Passwordpassword'],
  ['123456789012'],
  ['qwertyuiopas'],
  ['aaaaaaaaaaaaaaaa'],
])('refuses the short or common password %j with 400', async (password) => {
  const service = await startService({ installed: false })
  const answer = await install(service, { password })
  expect(answer.status).toBe(400)
  expect(answer.json.errors[0].path).toBe('password')
  expect(service.headSeq()).toBe(0)
})

test('keeps all of a password of more than 64 characters', async () => {
  const service = await startService({ installed: false })
  const password = 'the river runs on and on '.repeat(4)
  expect(password.length).toBe(100)
  expect((await install(service, { password })).status).toBe(201)
  const client = createClient(service.port)
  expect((await client.post('/login', { password: password.slice(0, 99) })).status).toBe(401)
  expect((await client.post('/login', { password: password.slice(0, 72) })).status).toBe(401)
  expect((await client.post('/login', { password })).status).toBe(200)
})

test('names the field of a wrong setting and installs nothing', async () => {
  const service = await startService({ installed: false })
  const answer = await install(service, { timezone: 'Mars/Olympus', publicUrl: 'ftp://x', openaiApiKey: '' })
  expect(answer.status).toBe(400)
  expect(answer.json.errors.map(({ path }: { path: string }) => path)).toEqual(['timezone', 'publicUrl'])
  expect(service.headSeq()).toBe(0)
  expect((await service.client.get('/auth/status')).json).toEqual({ configured: false, authenticated: false })
})

test('returns 503 not_configured before installation, and redirects browsers to it', async () => {
  const service = await startService({ installed: false })
  const { client } = service
  for (const [method, path] of [
    ['GET', '/api/config'],
    ['POST', '/login'],
    ['GET', '/nowhere'],
    ['POST', '/sms'],
  ] as const) {
    const answer = await client.send(method, path, method === 'POST' ? {} : undefined)
    expect([path, answer.status, answer.json.code]).toEqual([path, 503, 'not_configured'])
  }
  const page = await client.get('/', { headers: { accept: 'text/html,*/*' } })
  expect([page.status, page.headers.location]).toEqual([302, '/install'])
  for (const path of ['/health', '/ready', '/auth/status', '/build-info.json', '/public-url']) {
    expect([path, (await client.get(path)).status]).toEqual([path, 200])
  }
})

test('redirects the first-launch page to the start page after installation', async () => {
  const { client } = await startService()
  for (const path of ['/install', '/install.html']) {
    const answer = await client.get(path, { headers: { accept: 'text/html' } })
    expect([answer.status, answer.headers.location]).toEqual([302, '/'])
  }
})
