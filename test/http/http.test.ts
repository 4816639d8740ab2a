import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { DEFAULT_SERVER_LIMITS } from '../../src/http/server/http-server.ts'
import { createClient, raw, rawGet } from './client.ts'
import { newDirectory, startService } from './harness.ts'

const MIB = 1024 * 1024

test('refuses a body over 1 MiB with 413, both with a length and chunked', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const answer = await client.post('/api/things', { name: 'x'.repeat(MIB) })
  expect([answer.status, answer.json.code]).toEqual([413, 'body_too_large'])

  const head = `POST /api/things HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\nCookie: ${client.cookie()}\r\n`
  const typed = 'Content-Type: application/json\r\nConnection: close\r\n'
  const announced = await raw(service.port, `${head}${typed}Content-Length: 99999999\r\n\r\n{"name":"`)
  expect(announced.status).toBe(413)
  const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`
  const chunked = await raw(
    service.port,
    `${head}${typed}Transfer-Encoding: chunked\r\n\r\n9\r\n{"name":"\r\n${chunk.repeat(17)}`,
  )
  expect(chunked.status).toBe(413)
  expect(service.things).toEqual([])
})

test('returns 413 to a client that sends a far too large body before it reads', {
  tags: ['long'],
}, async () => {
  const service = await startService()
  const client = await service.signedIn()
  const head = `POST /api/things HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\nCookie: ${client.cookie()}\r\n`
  const typed = 'Content-Type: application/json\r\n'
  const content = 'x'.repeat(12 * MIB)
  for (const sent of [
    `Content-Length: ${content.length}\r\n\r\n${content}`,
    `Transfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`,
  ]) {
    expect(await sendThenListen(service.port, `${head}${typed}${sent}`)).toMatch(/^HTTP\/1\.1 413 /)
  }
})

/** Sends everything before it reads anything. Rejects if the connection is cut off. */
function sendThenListen(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    socket.on('error', reject)
    let answer = ''
    socket.write(text, 'latin1', () => {
      socket.on('data', (chunk) => {
        answer += chunk.toString('latin1')
      })
      socket.on('close', () => resolve(answer))
      socket.resume()
    })
  })
}

test('ignores an offer of a protocol other than WebSocket', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const offer = {
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABkAAQAAP__',
  }
  expect((await client.get('/health', { headers: offer })).json).toEqual({ status: 'ok' })
  const made = await client.post('/api/things', { name: 'made' }, { headers: offer })
  expect([made.status, service.things]).toEqual([201, ['made']])
})

test('accepts a body of exactly the limit, also chunked, and a larger one where a route allows it', async () => {
  const service = await startService()
  const client = await service.signedIn()
  expect((await client.post('/api/things', { name: 'x'.repeat(MIB - 11) })).status).toBe(201)
  const chunked = await client.post('/api/things', '{"name":"chunked"}', {
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  })
  expect([chunked.status, service.things.at(-1)]).toEqual([201, 'chunked'])
  expect((await client.post('/_dev/walkie/voice', { name: 'x'.repeat(8 * MIB - 11) })).json).toEqual({
    chars: 8 * MIB - 11,
  })
  expect((await client.post('/_dev/walkie/voice', { name: 'x'.repeat(8 * MIB) })).status).toBe(413)
})

test('closes slow headers, slow bodies and silent connections while it serves others', async () => {
  const service = await startService({
    limits: { headersTimeoutMs: 500, requestTimeoutMs: 700, checkEveryMs: 100 },
  })
  const client = await service.signedIn()
  const head = `POST /api/things HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\nCookie: ${client.cookie()}\r\n`
  const typed = 'Content-Type: application/json\r\n'
  const slow = [
    raw(service.port, ''),
    raw(service.port, 'GET /health HTTP/1.1\r\nHo'),
    raw(service.port, `${head}${typed}Content-Length: 100\r\n\r\n{"na`),
    raw(service.port, `${head}${typed}Transfer-Encoding: chunked\r\n\r\n4\r\n{"na\r\n`),
  ]
  expect((await client.get('/health')).status).toBe(200)
  const answers = await Promise.all(slow)
  for (const { status } of answers) expect([0, 408]).toContain(status)
  expect(service.things).toEqual([])
  expect((await client.get('/health')).status).toBe(200)
})

test('limits every request to 15 seconds by default', () => {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, checkEveryMs } = DEFAULT_SERVER_LIMITS
  for (const timeoutMs of [headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs]) {
    expect(timeoutMs + 2 * checkEveryMs).toBeLessThan(15_000)
  }
})

test('refuses too many headers with 431, and an ambiguous body length with 400', async () => {
  const service = await startService()
  const { port } = service
  const many = Array.from({ length: 2_000 }, (_, index) => `a${index}:\r\n`).join('')
  expect((await rawGet(port, '/health', many)).status).toBe(431)
  const few = Array.from({ length: 120 }, (_, index) => `a${index}: b\r\n`).join('')
  expect((await rawGet(port, '/health', few)).status).toBe(431)
  const host = `Host: 127.0.0.1:${port}\r\n`
  const smuggled = '0\r\n\r\nGET /api/config HTTP/1.1\r\n\r\n'
  for (const headers of [
    'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
    'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n',
    'Content-Length: 5\r\nContent-Length: 6\r\n',
    'Transfer-Encoding: chunked, identity\r\n',
    'Transfer-Encoding : chunked\r\n',
  ]) {
    const { status, text } = await raw(port, `POST /login HTTP/1.1\r\n${host}${headers}\r\n${smuggled}`)
    expect([headers, status, text.match(/HTTP\/1\.1/g)?.length]).toEqual([headers, 400, 1])
  }
  expect((await service.client.get('/health')).status).toBe(200)
})

test('refuses prototype keys, deep nesting and broken JSON with 400', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const post = (content: string) =>
    client.post('/api/things', content, { headers: { 'content-type': 'application/json' } })
  for (const content of [
    '{"name":"x","__proto__":{"admin":true}}',
    '{"name":"x","deep":[{"__proto__":1}]}',
    '{"name":"x","\\u005f_proto__":1}',
    `{"name":"x","deep":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
    `{"name":"x","deep":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`,
    '{"name":',
    '',
    'null',
    '[]',
  ]) {
    const { status, headers } = await post(content)
    expect([content.slice(0, 40), status]).toEqual([content.slice(0, 40), 400])
    expect(headers['content-type']).toBe('application/problem+json')
  }
  for (const content of ['', '{'])
    expect((await post(content)).json, content).toMatchObject({
      code: 'malformed_json',
      detail: 'The body is not valid JSON.',
    })
  expect(service.things).toEqual([])
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
})

test('refuses too many values before it parses them', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const headers = { 'content-type': 'application/json' }
  const keys = Array.from({ length: 90_000 }, (_, at) => `"${at.toString(36)}":0`).join(',')
  const many = {
    lists: `[${'[],'.repeat(300_000)}[]]`,
    objects: `[${'{},'.repeat(300_000)}{}]`,
    keys: `{${keys}}`,
  }
  for (const [name, content] of Object.entries(many)) {
    const { status, json } = await createClient(service.port).send('POST', '/login', content, { headers })
    expect([name, status, json.code]).toEqual([name, 400, 'malformed_json'])
  }
  // Commas and brackets within a string are not values.
  for (const name of ['[,{'.repeat(100_000), `\\\\",[`.repeat(50_000), '",{\\'.repeat(50_000)]) {
    expect((await client.post('/api/things', { name })).status, name.slice(0, 8)).toBe(201)
    expect(service.things.at(-1) === name, name.slice(0, 8)).toBe(true)
  }
  const list = JSON.stringify({ name: 'x', more: Array.from({ length: 19_000 }, () => 0) })
  expect((await client.send('POST', '/api/things', list, { headers })).status).toBe(201)
})

test('treats an empty body with a JSON Content-Type as no body', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const json = { headers: { 'content-type': 'application/json' } }
  expect((await client.send('DELETE', '/api/config/CHAT_MODEL', '', json)).status).toBe(200)
  expect((await client.send('DELETE', '/api/sessions/nobody', '', json)).status).toBe(404)
  expect((await client.post('/logout', '', json)).json).toEqual({ authenticated: false })
  const needed = await createClient(service.port).post('/login', '', json)
  expect([needed.status, needed.headers['content-type']]).toEqual([400, 'application/problem+json'])
})

test('refuses a body that is not JSON with 400', async () => {
  const service = await startService()
  const client = await service.signedIn()
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const answer = await client.post('/api/things', '{"name":"x"}', { headers: { 'content-type': type } })
    expect([type, answer.status]).toEqual([type, 400])
  }
  expect((await client.post('/api/things', '{"name":"x"}')).status).toBe(400)
  expect(service.things).toEqual([])
})

test('names the invalid field of a request without repeating its value', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const answer = await client.post('/api/things', { name: ['canary'] })
  expect(answer.json).toEqual({
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    detail: expect.stringMatching(/^name: /),
    code: 'invalid_request',
    errors: [{ path: 'name', message: expect.any(String) }],
  })
  expect(answer.text).not.toContain('canary')
})

test('reports an internal error by its request id only, and logs the details', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const answer = await client.get('/api/fault')
  expect([answer.status, answer.json.code]).toEqual([500, 'internal_error'])
  expect(answer.text).not.toContain('canary')
  expect(answer.text).not.toContain('.ts')
  expect(answer.json.detail).toContain(answer.headers['x-request-id'])
  const logged = service.written.find((line) => line.includes('the canary sank'))
  expect(logged).toContain(answer.headers['x-request-id'])
})

function webDirectory(): string {
  const directory = newDirectory()
  const web = join(directory, 'dist')
  mkdirSync(join(web, 'assets'), { recursive: true })
  mkdirSync(join(web, '.git'))
  writeFileSync(join(directory, 'secret.txt'), 'canary')
  writeFileSync(join(web, 'index.html'), '<!doctype html><title>Delegate</title>')
  writeFileSync(join(web, 'favicon.svg'), '<svg/>')
  writeFileSync(join(web, '.env'), 'canary')
  writeFileSync(join(web, '.git/config'), 'canary')
  writeFileSync(join(web, 'assets/app-1234.js'), `// ${'the same again '.repeat(500)}`)
  symlinkSync(join(directory, 'secret.txt'), join(web, 'link.txt'))
  return web
}

test('serves nothing outside the web app and none of its hidden files', async () => {
  const service = await startService({ webDirectory: webDirectory() })
  const client = await service.signedIn()
  for (const target of [
    '/.env',
    '/.git/config',
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/%252e%252e%252fsecret.txt',
    '/%25252e%25252e/secret.txt',
    '/assets/../../secret.txt',
    '/assets/..\\..\\secret.txt',
    '/assets%2f..%2f..%2fsecret.txt',
    '/assets/%2e%2e/.env',
    '/....//secret.txt',
    '/etc/passwd',
    '/link.txt',
    '/assets',
    '/assets/',
    '/favicon.svg%00.html',
  ]) {
    const { status, text } = await rawGet(service.port, target, `Cookie: ${client.cookie()}\r\n`)
    // The request parser does not accept a backslash in a path.
    expect([target, status]).toEqual([target, target.includes('\\') ? expect.toBeOneOf([400, 404]) : 404])
    expect([target, text.includes('canary')]).toEqual([target, false])
  }
  expect((await rawGet(service.port, '/.env')).status).toBe(404)
})

test('serves the web app to everyone, with hashed files cached forever', async () => {
  const service = await startService({ webDirectory: webDirectory() })
  const { client } = service
  const page = await client.get('/login')
  expect([page.status, page.headers['content-type'], page.headers['cache-control']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-cache',
  ])
  const asset = await client.get('/assets/app-1234.js')
  expect(asset.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  })
  const again = await client.get('/login', { headers: { 'if-none-match': String(page.headers.etag) } })
  expect([again.status, again.text]).toEqual([304, ''])
  expect((await client.get('/favicon.svg')).headers['content-type']).toBe('image/svg+xml; charset=utf-8')
})

test('serves compressed copies by Accept-Encoding, never at paths of their own', async () => {
  const web = webDirectory()
  const script = 'x'.repeat(3_000)
  writeFileSync(join(web, 'assets/made-1234.js'), script)
  writeFileSync(join(web, 'assets/made-1234.js.br'), brotliCompressSync(script))
  writeFileSync(join(web, 'assets/made-1234.js.gz'), 'as it was built')
  const service = await startService({ webDirectory: web })
  const client = await service.signedIn()
  const get = (accepted: string) =>
    client.get('/assets/made-1234.js', { headers: { 'accept-encoding': accepted } })
  const brotli = await get('gzip, br')
  expect([brotli.headers['content-encoding'], Number(brotli.headers['content-length'])]).toEqual([
    'br',
    brotliCompressSync(script).length,
  ])
  expect(await get('gzip')).toMatchObject({
    headers: { 'content-encoding': 'gzip' },
    text: 'as it was built',
  })
  expect((await get('identity')).text).toBe(script)
  expect((await get('br;q=0')).text).toBe(script)
  for (const copy of ['.br', '.gz']) {
    expect((await client.get(`/assets/made-1234.js${copy}`)).status).toBe(404)
  }
})

test('shows a page for a dead link to people, and a problem to programs', async () => {
  const service = await startService({ webDirectory: webDirectory() })
  const client = await service.signedIn()
  const page = await client.get('/nowhere', { headers: { accept: 'text/html' } })
  expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  expect((await client.get('/nowhere')).json.code).toBe('not_found')
  expect((await client.get('/.env', { headers: { accept: 'text/html' } })).text).not.toContain('canary')
})

test('returns 503 not_built while the web app is not built', async () => {
  const service = await startService()
  const answer = await service.client.get('/login')
  expect([answer.status, answer.json.code]).toEqual([503, 'not_built'])
})

test('finishes a running request when it stops, then refuses connections', async () => {
  const asked = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const service = await startService({
    closeGraceMs: 30_000,
    testConnection: async () => {
      asked.resolve()
      await held.promise
      return { ok: true, steps: [] }
    },
  })
  const client = await service.signedIn()
  const running = client.post('/api/config.test', { service: 'model' })
  await asked.promise
  const stopped = service.stop()
  held.resolve()
  expect((await running).status).toBe(200)
  await stopped
  await expect(client.get('/health')).rejects.toThrow('ECONNREFUSED')
})

test('keeps serving and logs no error when a client aborts its request', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const socket = connect(service.port, '127.0.0.1')
  socket.write(
    `POST /api/things HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\nCookie: ${client.cookie()}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":',
  )
  await new Promise((resolve) => setTimeout(resolve, 100))
  socket.destroy()
  expect((await client.get('/health')).status).toBe(200)
  await service.stop()
  expect(service.written.filter((line) => line.includes('"level":"error"'))).toEqual([])
})
