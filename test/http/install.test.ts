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

test('installing from the machine itself answers 201 and signs the browser in', async () => {
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

test('the installation is a fact with the time zone and without any secret', async () => {
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
])('refuses to install with %s, from the machine itself too', async (_what, code) => {
  const service = await startService({ installed: false })
  const refused = await createClient(service.port).post('/api/install', { password: PASSWORD, ...code })
  expect([refused.status, refused.json.code]).toEqual([403, 'setup_code_required'])
  expect(service.headSeq()).toBe(0)
})

test('wrong set-up codes are throttled, and the right one still installs', async () => {
  const service = await startService({ installed: false })
  const statuses = []
  for (let round = 0; round < 11; round += 1)
    statuses.push((await install(service, { setupCode: 'aaaa-bbbb-cccc-dddd' })).status)
  expect(statuses).toEqual([...Array(10).fill(403), 429])
  expect((await install(service, { setupCode: service.ownerState.setupCode })).status).toBe(201)
})

test('reads the set-up code in any case and grouping', async () => {
  const service = await startService({ installed: false })
  const setupCode = service.ownerState.setupCode.toUpperCase().replaceAll('-', ' ')
  expect((await install(service, { setupCode })).status).toBe(201)
})

test('of 50 installations at once exactly one wins and the rest hear 409', async () => {
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

test('installing again is refused with 409, after a restart too, and leaves the password as it was', async () => {
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
])('the short or common password %j is refused with 400', async (password) => {
  const service = await startService({ installed: false })
  const answer = await install(service, { password })
  expect(answer.status).toBe(400)
  expect(answer.json.errors[0].path).toBe('password')
  expect(service.headSeq()).toBe(0)
})

test('a password of more than 64 characters is kept whole', async () => {
  const service = await startService({ installed: false })
  const password = 'the river runs on and on '.repeat(4)
  expect(password.length).toBe(100)
  expect((await install(service, { password })).status).toBe(201)
  const client = createClient(service.port)
  expect((await client.post('/login', { password: password.slice(0, 99) })).status).toBe(401)
  expect((await client.post('/login', { password: password.slice(0, 72) })).status).toBe(401)
  expect((await client.post('/login', { password })).status).toBe(200)
})

test('a wrong setting is named by its field, and nothing is installed', async () => {
  const service = await startService({ installed: false })
  const answer = await install(service, { timezone: 'Mars/Olympus', publicUrl: 'ftp://x', openaiApiKey: '' })
  expect(answer.status).toBe(400)
  expect(answer.json.errors.map(({ path }: { path: string }) => path)).toEqual(['timezone', 'publicUrl'])
  expect(service.headSeq()).toBe(0)
  expect((await service.client.get('/auth/status')).json).toEqual({ configured: false, authenticated: false })
})

test('before it is installed the service answers 503 not_configured, and shows browsers the way', async () => {
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

test('after installation the first-launch page leads to the start page', async () => {
  const { client } = await startService()
  for (const path of ['/install', '/install.html']) {
    const answer = await client.get(path, { headers: { accept: 'text/html' } })
    expect([answer.status, answer.headers.location]).toEqual([302, '/'])
  }
})
