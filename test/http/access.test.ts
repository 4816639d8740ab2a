import { expect, test } from 'vitest'
import { createClient, rawGet } from './client.ts'
import { startService } from './harness.ts'

/** The contract's public paths. */
const PUBLIC = new Set([
  'POST /api/install',
  'GET /install',
  'GET /install.html',
  'GET /auth/status',
  'GET /login',
  'POST /login',
  'POST /login/passkey',
  'POST /login/passkey/options',
  'GET /health',
  'GET /ready',
  'GET /build-info.json',
  'GET /public-url',
])

test('refuses every non-public route without a session with 401', async () => {
  const service = await startService()
  const owner = await service.signedIn()
  const stranger = createClient(service.port)
  const { paths } = (await owner.get('/openapi.json')).json
  const routes = Object.entries<Record<string, unknown>>(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(
      (method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '1')] as const,
    ),
  )
  expect(routes.length).toBeGreaterThan(15)
  for (const [method, path] of routes) {
    const { status, json } = await stranger.send(method, path, method === 'GET' ? undefined : {})
    const route = `${method} ${path}`
    if (PUBLIC.has(route)) expect([route, json?.code]).not.toEqual([route, 'no_session'])
    else expect([route, status, json.code]).toEqual([route, 401, 'no_session'])
  }
})

test('refuses unknown paths and other methods of public paths in the same way', async () => {
  const service = await startService()
  const stranger = createClient(service.port)
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['GET', '/docs'],
    ['GET', '/openapi.json'],
    ['GET', '/index.html'],
    ['GET', '/api/install'],
    ['DELETE', '/login'],
    ['PUT', '/sms'],
    ['POST', '/health'],
    ['OPTIONS', '/login'],
    ['PROPFIND', '/'],
  ] as const) {
    expect([method, path, (await stranger.send(method, path)).status]).toEqual([method, path, 401])
  }
})

test('allows no alternative spelling of a path to bypass the session', async () => {
  const service = await startService()
  for (const target of [
    '//api/config',
    '/api//config',
    '/api%2Fconfig',
    '/api%252Fconfig',
    '/%61pi/config',
    '/API/CONFIG',
    '/api/config/',
    '/api/config?x=/health',
    '/api/config#/health',
    '/api/config;/health',
    '/health/%2e%2e%2fapi/config',
    '/health%2F..%2Fapi%2Fconfig',
    '/health/../api/config',
    '/login//../api/config',
    '/api/config%00',
    '/api/config%20',
    '/health%0d%0a/api/config',
    `http://127.0.0.1:${service.port}/api/config`,
    'http://elsewhere.example/api/config',
    '\\api\\config',
  ]) {
    const { status, text } = await rawGet(service.port, target)
    expect([target, status, text.includes('OPENAI_API_KEY')]).toEqual([target, expect.any(Number), false])
    expect([target, [400, 401, 404].includes(status)]).toEqual([target, true])
  }
})

test('redirects a browser without a session to the sign-in page', async () => {
  const { client, port } = await startService()
  const stranger = createClient(port)
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  for (const path of ['/', '/settings', '/notes/1', '/nowhere']) {
    const answer = await stranger.get(path, { headers })
    expect([path, answer.status, answer.headers.location]).toEqual([path, 302, '/login'])
  }
  expect((await stranger.post('/api/things', { name: 'x' }, { headers })).status).toBe(401)
  expect((await client.get('/nowhere', { headers })).status).toBe(404)
})

test('tells only the sign-in page which path was requested', async () => {
  const service = await startService()
  const stranger = createClient(service.port)
  const headers = { accept: 'text/html' }
  const wantedCookies = async (path: string, more = {}) =>
    (await stranger.get(path, { headers: { ...headers, ...more } })).headers['set-cookie']
  expect(await wantedCookies('/notes/1?a=b')).toEqual([
    'delegate_wanted=%2Fnotes%2F1%3Fa%3Db; Max-Age=600; Path=/login; SameSite=Strict',
  ])
  expect((await wantedCookies('/notes', { 'x-forwarded-proto': 'https' }))?.[0]).toMatch(/; Secure/)
  for (const path of ['/', '/login', '//evil.example', `/notes?${'x'.repeat(1000)}`]) {
    expect([path, await wantedCookies(path)]).toEqual([path, undefined])
  }
  const { text } = await rawGet(service.port, 'http://evil.example/', 'Accept: text/html\r\n')
  expect(text).toMatch(/^location: \/login/im)
  expect(text).not.toMatch(/^set-cookie:/im)
  expect((await stranger.get('/api/config')).headers['set-cookie']).toBeUndefined()
})

test('never redirects to another site', async () => {
  const service = await startService()
  const targets = [
    '//evil.example',
    '//evil.example/%2e%2e',
    '/\\evil.example',
    '/?next=https://evil.example',
    '/login?next=//evil.example',
    '/install?to=https://evil.example',
    'http://evil.example/',
    '/%0d%0aLocation:%20https://evil.example',
  ]
  for (const target of targets) {
    const headers =
      'Accept: text/html\r\nX-Forwarded-Host: evil.example\r\nReferer: https://evil.example/\r\n'
    const { text } = await rawGet(service.port, target, headers)
    const location = text.match(/^location: (.*)$/im)?.[1]?.trim()
    expect([target, location ?? '/']).toEqual([target, expect.stringMatching(/^\/(?:login|install)?$/)])
  }
})
