import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { settingsFile } from '../../src/settings/store.ts'
import { type Answer, type Client, createClient, raw, rawGet } from './client.ts'
import { newDirectory, PASSWORD, type Service, startService } from './harness.ts'
import { openSocket } from './web-socket.ts'

const EVIL = 'https://evil.example'

test.each([
  ['JSON', 'application/json', '{"name":"x"}'],
  ['a form', 'application/x-www-form-urlencoded', 'name=x'],
  ['text', 'text/plain', '{"name":"x"}'],
  ['an untyped body', undefined, '{"name":"x"}'],
])('refuses a mutation from a foreign page with 403, sent as %s', async (_kind, type, content) => {
  const service = await startService()
  const client = await service.signedIn()
  const headers = type === undefined ? {} : { 'content-type': type }
  for (const origin of [EVIL, 'null', 'http://127.0.0.1', `https://127.0.0.1:${service.port}`]) {
    const answer = await client.post('/api/things', content, { headers: { ...headers, origin } })
    expect([origin, answer.status, answer.json.code]).toEqual([origin, 403, 'foreign_origin'])
  }
  const hidden = await client.post('/api/things', content, {
    headers: { ...headers, 'sec-fetch-site': 'cross-site' },
  })
  expect(hidden.status).toBe(403)
  expect(service.things).toEqual([])
})

test('keeps a foreign page from signing a browser in or out and from changing a setting', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const headers = { origin: EVIL }
  expect((await createClient(service.port).post('/login', { password: PASSWORD }, { headers })).status).toBe(
    403,
  )
  expect((await client.post('/logout', undefined, { headers })).status).toBe(403)
  expect((await client.put('/api/config', { entries: { TIMEZONE: 'UTC' } }, { headers })).status).toBe(403)
  expect((await client.delete('/api/config/TIMEZONE', { headers })).status).toBe(403)
  expect((await client.get('/auth/status')).json.authenticated).toBe(true)
})

test('keeps a foreign page from installing the service', async () => {
  const service = await startService({ installed: false })
  const body = { password: PASSWORD, setupCode: service.ownerState.setupCode }
  const client = createClient(service.port)
  for (const headers of [{ origin: EVIL }, { 'sec-fetch-site': 'cross-site' }]) {
    const { status, json } = await client.post('/api/install', body, { headers })
    expect([status, json.code]).toEqual([403, 'foreign_origin'])
  }
  expect((await client.post('/api/install', body, { headers: { origin: service.origin } })).status).toBe(201)
})

test('accepts changes from its own pages, at its own address and at its Public URL', async () => {
  const service = await startService({ environment: { PUBLIC_URL: 'https://delegate.example.com' } })
  const client = await service.signedIn()
  const post = (headers: Record<string, string>) => client.post('/api/things', { name: 'x' }, { headers })
  const statuses = [
    await post({}),
    await post({ origin: service.origin }),
    await post({ origin: 'https://delegate.example.com' }),
    await post({ origin: `https://127.0.0.1:${service.port}`, 'x-forwarded-proto': 'https' }),
    await post({ 'sec-fetch-site': 'same-origin' }),
  ].map(({ status }) => status)
  expect(statuses).toEqual([201, 201, 201, 201, 201])
  expect((await post({ origin: 'http://delegate.example.com' })).status).toBe(403)
  expect((await post({ origin: 'https://delegate.example.com.evil.example' })).status).toBe(403)
})

test('does not check the origin of a signed webhook', async () => {
  const service = await startService()
  const answer = await createClient(service.port).post('/sms', 'Body=x', { headers: { origin: EVIL } })
  expect(answer.status).toBe(200)
})

test('changes nothing on a GET', async () => {
  // A session's last use is written once a minute; the fixed clock avoids that here.
  const nowMs = Date.now()
  const service = await startService({ nowMs: () => nowMs })
  const client = await service.signedIn()
  const paths = await pathsOf(client, 'get')
  const before = [service.headSeq(), readFileSync(settingsFile(service.directory)).toString('base64')]
  expect(paths.length).toBeGreaterThan(8)
  for (const path of [
    ...paths.filter((path) => !path.endsWith('/stream')),
    '/',
    '/login',
    '/install',
    '/docs',
  ]) {
    for (const method of ['GET', 'HEAD']) await client.send(method, path)
  }
  await service.intrusions.flush()
  expect([service.headSeq(), readFileSync(settingsFile(service.directory)).toString('base64')]).toEqual(
    before,
  )
})

test('allows no other origin', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const preflight = { origin: EVIL, 'access-control-request-method': 'PUT' }
  const answers = [
    await client.get('/api/config', { headers: { origin: EVIL } }),
    await client.get('/auth/status', { headers: { origin: EVIL } }),
    await client.send('OPTIONS', '/api/config', undefined, { headers: preflight }),
    await createClient(service.port).send('OPTIONS', '/login', undefined, { headers: preflight }),
  ]
  for (const answer of answers) {
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  }
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 401])
})

test('opens the chat socket only for a session and its own origin', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const stranger = createClient(service.port)
  await expect(openSocket(service, stranger)).rejects.toMatchObject({ status: 401 })
  await expect(openSocket(service, null)).rejects.toMatchObject({ status: 401 })
  await expect(openSocket(service, client, { origin: EVIL })).rejects.toMatchObject({ status: 403 })
  await expect(openSocket(service, client, { origin: 'null' })).rejects.toMatchObject({ status: 403 })
  await expect(openSocket(service, client, { path: '/nowhere' })).rejects.toMatchObject({ status: 404 })
  await expect(openSocket(service, stranger, { path: '/nowhere' })).rejects.toMatchObject({ status: 401 })
  const socket = await openSocket(service, client)
  expect(await socket.ask('hello')).toBe('heard hello')
  expect(socket.handshake['x-request-id']).toMatch(/^\w{26}$/)
})

test('opens a public socket without a session, and closes it on a message that is too large', async () => {
  const service = await startService()
  const socket = await openSocket(service, null, { path: '/call', origin: null })
  expect(await socket.ask('hello')).toBe('heard hello')
  void socket.ask('x'.repeat(1025))
  expect(await socket.closed).toBe(1009)
})

test("refuses a public socket to a foreign page that sends the owner's cookie", async () => {
  const service = await startService()
  const client = await service.signedIn()
  for (const origin of [EVIL, 'null'])
    await expect(openSocket(service, client, { path: '/call', origin })).rejects.toMatchObject({
      status: 403,
    })
  const socket = await openSocket(service, client, { path: '/call' })
  expect(await socket.ask('hello')).toBe('heard hello')
})

test('opens no socket before installation', async () => {
  const service = await startService({ installed: false })
  await expect(openSocket(service, null, { path: '/call' })).rejects.toMatchObject({ status: 503 })
})

test('sets the security headers and a request id on every response', async () => {
  const webDirectory = newDirectory()
  mkdirSync(join(webDirectory, 'assets'))
  writeFileSync(join(webDirectory, 'index.html'), '<!doctype html><title>Delegate</title>')
  writeFileSync(join(webDirectory, 'assets/app-1234.js'), 'export {}')
  const service = await startService({ webDirectory })
  const client = await service.signedIn()
  const stranger = createClient(service.port)
  const answers: Record<string, Answer> = {
    page: await client.get('/'),
    asset: await client.get('/assets/app-1234.js'),
    json: await client.get('/api/config'),
    docs: await client.get('/docs'),
    contract: await client.get('/openapi.json'),
    redirect: await stranger.get('/', { headers: { accept: 'text/html' } }),
    unauthorized: await stranger.get('/api/config'),
    forbidden: await client.post('/api/things', {}, { headers: { origin: EVIL } }),
    missing: await client.get('/api/nothing'),
    invalid: await client.post('/api/things', {}),
    malformed: await client.post('/api/things', '{', { headers: { 'content-type': 'application/json' } }),
    large: await client.post('/api/things', { name: 'x'.repeat(1_100_000) }),
    fault: await client.get('/api/fault'),
    webhook: await stranger.post('/sms', 'Body=x'),
    throttled: await throttled(service),
  }
  const statuses = Object.values(answers).map(({ status }) => status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 302, 401, 403, 404, 400, 400, 413, 500, 200, 429])
  for (const [name, { headers }] of Object.entries(answers)) expectSecurityHeaders(name, headers)
  const ids = Object.values(answers).map(({ headers }) => headers['x-request-id'])
  expect(new Set(ids).size).toBe(ids.length)
})

test('sets the same headers on refusals that no route makes', async () => {
  const service = await startService({
    limits: { requestTimeoutMs: 500, headersTimeoutMs: 500, checkEveryMs: 100 },
  })
  const { port } = service
  const host = `Host: 127.0.0.1:${port}\r\n`
  const answers = {
    garbage: await raw(port, 'GARBAGE\r\n\r\n'),
    overflow: await raw(port, `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`),
    slow: await raw(port, `GET / HTTP/1.1\r\n${host}`),
    badHost: await raw(port, 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'),
    twoHosts: await raw(port, `GET / HTTP/1.1\r\n${host}hOST: other\r\nConnection: close\r\n\r\n`),
    twoHostsOfAWholeUrl: await raw(
      port,
      `GET http://127.0.0.1:${port}/ HTTP/1.1\r\n${host}hOST: other\r\nConnection: close\r\n\r\n`,
    ),
    twoHostsOfASocket: await rawGet(
      port,
      '/chat',
      'Host: other\r\nConnection: upgrade\r\nUpgrade: websocket\r\n',
    ),
    noHost: await raw(port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'),
    expectation: await raw(port, `GET / HTTP/1.1\r\n${host}Expect: a dance\r\nConnection: close\r\n\r\n`),
    upgrade: await rawGet(port, '/chat', 'Connection: upgrade\r\nUpgrade: websocket\r\n'),
  }
  expect(Object.values(answers).map(({ status }) => status)).toEqual([
    400, 431, 408, 400, 400, 400, 400, 400, 417, 400,
  ])
  for (const [name, { text }] of Object.entries(answers)) {
    const lines = text.split('\r\n\r\n')[0]?.split('\r\n').slice(1) ?? []
    expectSecurityHeaders(name, Object.fromEntries(lines.map((line) => line.toLowerCase().split(/: (.*)/s))))
    expect([name, text]).toEqual([name, expect.stringContaining('application/problem+json')])
  }
})

test('marks private data as not cacheable', async () => {
  const service = await startService()
  const client = await service.signedIn()
  for (const path of [
    '/api/config',
    '/api/sessions',
    '/api/logs',
    '/auth/status',
    '/openapi.json',
    '/docs',
  ]) {
    expect([path, (await client.get(path)).headers['cache-control']]).toEqual([path, 'no-store'])
  }
})

test('tells browsers to stay with https', async () => {
  const service = await startService()
  const headers = { 'x-forwarded-proto': 'https' }
  expect((await service.client.get('/health', { headers })).headers['strict-transport-security']).toBe(
    'max-age=31536000',
  )
  expect((await service.client.get('/health')).headers['strict-transport-security']).toBeUndefined()
})

async function throttled(service: Service): Promise<Answer> {
  const guess = () =>
    createClient(service.port).post('/login', { password: 'a wrong password' }, { from: '127.0.0.9' })
  for (let round = 0; round < 10; round += 1) await guess()
  return guess()
}

function expectSecurityHeaders(name: string, headers: Record<string, unknown>): void {
  const policy = String(headers['content-security-policy'])
  expect([name, policy]).toEqual([name, expect.stringContaining("default-src 'none'")])
  expect([name, policy]).toEqual([name, expect.stringContaining("frame-ancestors 'none'")])
  expect([name, policy]).toEqual([name, expect.stringContaining("script-src 'self'")])
  expect([name, policy]).toEqual([name, expect.not.stringContaining('unsafe')])
  expect([name, headers['x-content-type-options']]).toEqual([name, 'nosniff'])
  expect([name, headers['x-frame-options']]).toEqual([name, expect.stringMatching(/^deny$/i)])
  expect([name, headers['referrer-policy']]).toEqual([name, 'no-referrer'])
  expect([name, headers['x-request-id']]).toEqual([name, expect.stringMatching(/^[0-9a-z]{26}$/)])
  expect([name, headers['cache-control']]).toEqual([
    name,
    expect.stringMatching(/^no-store$|^no-cache$|immutable$/),
  ])
}

async function pathsOf(client: Client, method: string): Promise<string[]> {
  const { paths } = (await client.get('/openapi.json')).json
  return Object.entries<Record<string, unknown>>(paths)
    .filter(([, operations]) => method in operations)
    .map(([path]) => path.replaceAll(/\{\w+\}/g, '1'))
}
