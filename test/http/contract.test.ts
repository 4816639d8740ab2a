import { get } from 'node:http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Checks } from '../../src/operations/readiness/readiness.ts'
import { settingsFile } from '../../src/settings/store.ts'
import { createClient } from './client.ts'
import { PASSED, type Service, startService } from './harness.ts'

test('serves health, readiness and build without a session', async () => {
  const { client } = await startService()
  expect((await client.get('/health')).json).toEqual({ status: 'ok' })
  expect((await client.get('/ready')).json).toEqual({
    status: 'ready',
    checks: PASSED,
  })
  expect((await client.get('/build-info.json')).json).toEqual({
    name: 'delegate',
    version: '0.0.0',
    commit: null,
    builtAt: null,
    node: process.version,
  })
  expect((await client.get('/public-url')).json).toEqual({ publicUrl: null })
})

test('reports its state to browsers too while its settings cannot be read', async () => {
  const { client, directory } = await startService()
  const blocker = new Database(settingsFile(directory))
  blocker.exec('BEGIN EXCLUSIVE')
  try {
    expect(client.cookie()).toBeDefined()
    for (const path of ['/health', '/ready', '/build-info.json'])
      expect([path, (await client.get(path)).status]).toEqual([path, 200])
  } finally {
    blocker.close()
  }
})

test('is not ready when a check fails, except for model, telephony and a disk that fills up', async () => {
  const fails = { ok: false, detail: 'a reason' }
  let checks: Checks = { ...PASSED, model: fails, telephony: fails, disk: fails }
  const { client } = await startService({ checks: () => checks })
  expect((await client.get('/ready')).status).toBe(200)
  for (const name of ['ledger', 'projections', 'settings', 'reactors'] as const) {
    checks = { ...PASSED, [name]: { ok: false, detail: 'The reason and the remedy.' } }
    const answer = await client.get('/ready')
    expect(answer.status).toBe(503)
    expect(answer.json).toMatchObject({
      code: 'not_ready',
      detail: `Not ready: ${name}: The reason and the remedy.`,
      checks: { [name]: checks[name] },
    })
  }
})

test('tells a stranger which check fails, but no host, model or path', async () => {
  const detail = 'openai.example/gpt at /srv/delegate'
  let checks: Checks = { ...PASSED, model: { ok: true, detail }, telephony: { ok: false, detail } }
  const { client, port } = await startService({ checks: () => checks })
  const stranger = createClient(port)
  expect((await stranger.get('/ready')).json).toEqual({
    status: 'ready',
    checks: { ...PASSED, telephony: { ok: false } },
  })
  checks = { ...checks, settings: { ok: false, detail } }
  const refused = await stranger.get('/ready')
  expect(refused.json).toMatchObject({
    status: 503,
    detail: 'Not ready: settings.',
    checks: { settings: { ok: false } },
  })
  expect(refused.text).not.toContain('example')
  expect((await client.get('/ready')).json).toMatchObject({ detail: `Not ready: settings: ${detail}.` })
  expect((await stranger.get('/api/session/health')).status).toBe(401)
  expect((await client.get('/api/session/health')).json.checks.settings).toEqual({ ok: false, detail })
})

test('publishes OpenAPI 3.1 that describes what the routes do', async () => {
  const { client } = await startService()
  const { json } = await client.get('/openapi.json')
  expect(json.openapi).toBe('3.1.0')
  expect(Object.keys(json.paths)).toEqual(
    expect.arrayContaining([
      '/health',
      '/ready',
      '/build-info.json',
      '/public-url',
      '/auth/status',
      '/login',
      '/logout',
      '/api/auth/password',
      '/api/install',
      '/api/config',
      '/api/config/{key}',
      '/api/config.test',
      '/api/sessions',
      '/api/sessions/{id}',
      '/api/logs',
      '/api/logs/stream',
    ]),
  )
  expect(json.paths['/login'].post.security).toEqual([])
  expect(json.security).toEqual([{ session: [] }])
  expect(json.components.securitySchemes.session).toEqual({
    type: 'apiKey',
    in: 'cookie',
    name: 'delegate_session',
  })
  expect(json.paths['/login'].post.responses['429'].content).toHaveProperty(['application/problem+json'])
})

test('returns responses that match the published schemas', async () => {
  const service = await startService()
  const { client } = service
  const { json: contract } = await client.get('/openapi.json')
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(contract, 'contract')
  const fits = (path: string, status: number, type: string, answer: unknown) => {
    const pointer = [path, 'get', 'responses', String(status), 'content', type, 'schema']
      .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
      .map(encodeURIComponent)
      .join('/')
    const validate = ajv.compile({ $ref: `contract#/paths/${pointer}` })
    return validate(answer) ? 'fits' : ajv.errorsText(validate.errors)
  }
  for (const path of [
    '/health',
    '/ready',
    '/build-info.json',
    '/auth/status',
    '/api/config',
    '/api/sessions',
    '/api/logs',
  ]) {
    const answer = await client.get(path)
    expect([path, fits(path, 200, 'application/json', answer.json)]).toEqual([path, 'fits'])
  }
  const refused = await client.get('/api/logs?limit=0')
  expect(refused.headers['content-type']).toBe('application/problem+json')
  expect(fits('/api/logs', 400, 'application/problem+json', refused.json)).toBe('fits')
  expect(fits('/api/config', 200, 'application/json', { entries: [{}] })).not.toBe('fits')
})

test('serves a reference page without scripts, inline styles or external resources', async () => {
  const { client } = await startService()
  const page = await client.get('/docs')
  expect(page.headers['content-type']).toBe('text/html; charset=UTF-8')
  expect(page.text).toContain('/api/config')
  expect(page.text).toContain('TELEPHONY_AUTH_TOKEN')
  expect(page.text).not.toMatch(/<script|<style|\sstyle=|\son\w+=/i)
  const links = [...page.text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link ?? '')
  expect(links.length).toBeGreaterThan(5)
  // Without a link, browsers request /favicon.ico, which does not exist.
  expect(links).toContain('/favicon.svg')
  expect(links.filter((link) => !/^[/#][^/]*$/.test(link))).toEqual([])
  const anchors = links.filter((link) => link.startsWith('#'))
  for (const anchor of anchors) expect(page.text).toContain(`id="${anchor.slice(1)}"`)
  expect((await client.get('/docs.css')).headers['content-type']).toBe('text/css; charset=utf-8')
})

test('lists the log by page, level and position', async () => {
  const service = await startService()
  const { client } = service
  await client.get('/api/fault')
  const newest = (await client.get('/api/logs?limit=2&level=error')).json
  expect(newest.lines).toHaveLength(1)
  expect(newest.lines[0]).toMatchObject({
    id: expect.any(Number),
    at: expect.stringMatching(/Z$/),
    level: 'error',
    message: 'A request failed',
    fields: { path: '/api/fault' },
  })
  const after = (await client.get(`/api/logs?after=${newest.lines[0].id}`)).json
  expect(after.dropped).toBe(0)
  expect(after.lines.every(({ id }: { id: number }) => id > newest.lines[0].id)).toBe(true)
  const malformed = [
    'limit=1e1',
    'limit=0x10',
    'limit=%205',
    'limit=%2B5',
    'limit=5.0',
    'limit=',
    'after=',
    'after=1e1',
  ]
  for (const query of ['limit=0', 'limit=2001', 'limit=x', 'level=loud', 'after=-1', ...malformed]) {
    expect([query, (await client.get(`/api/logs?${query}`)).status]).toEqual([query, 400])
  }
})

test('streams the log from a given position until the service stops', async () => {
  const service = await startService()
  const { client } = service
  await client.get('/api/fault')
  const [last] = (await client.get('/api/logs?level=error')).json.lines
  const stream = await follow(service, client.cookie() ?? '', String(last.id))
  await client.get('/api/fault')
  const event = await stream.next()
  expect(event).toContain('event: line')
  expect(JSON.parse(event.match(/^data: (.*)$/m)?.[1] ?? '')).toMatchObject({
    level: 'error',
    id: expect.any(Number),
  })
  expect(Number(event.match(/^id: (\d+)$/m)?.[1])).toBeGreaterThan(last.id)
  await service.stop()
  await stream.ended
})

test('refuses the log stream without a session', async () => {
  const service = await startService()
  expect((await createClient(service.port).get('/api/logs/stream')).status).toBe(401)
})

async function follow(service: Service, cookie: string, lastEventId: string) {
  const events: string[] = []
  let arrived = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const response = await new Promise<import('node:http').IncomingMessage>((resolve) =>
    get(
      `${service.origin}/api/logs/stream?level=error`,
      { headers: { cookie, 'last-event-id': lastEventId } },
      resolve,
    ),
  )
  expect(response.headers['content-type']).toBe('text/event-stream')
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    events.push(...parts)
    arrived.resolve()
  })
  response.on('close', () => ended.resolve())
  return {
    ended: ended.promise,
    async next(): Promise<string> {
      while (events.length === 0) {
        await arrived.promise
        arrived = Promise.withResolvers()
      }
      return events.shift() ?? ''
    },
  }
}
