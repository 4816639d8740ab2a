import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { type Answer, createClient } from './client.ts'

const ROUTES = `
GET /install, GET /install.html, POST /api/install, GET /login, GET /auth/status, GET /health, GET /ready,
GET /build-info.json, GET /public-url, GET /voice-markup, POST /voice-markup, POST /sms, POST /sms/status,
POST /voice-status, POST /relay-ended, POST /api/copilot/callback, POST /login, POST /logout, POST /api/auth/password, POST /api/chat,
POST /api/chat/stop, GET /chat, GET /api/conversations, GET /api/conversations/{id}, POST /api/conversations/{id}/end,
GET /api/conversations/{id}/events, GET /api/timeline, GET /api/timeline/search, GET /api/timeline/spans/{id},
GET /api/turns/{id}, DELETE /api/timeline/spans/{id}, DELETE /api/timeline/events/{seq}, POST /api/calls/current/hangup,
GET /api/session/context, POST /api/session/context/compact, GET /api/session/operations, GET /api/notes,
POST /api/notes, GET /api/notes/{id}, PUT /api/notes/{id}, DELETE /api/notes/{id}, GET /api/notes/{id}/revisions,
POST /api/notes/{id}/restore, GET /notes/{id}, GET /api/memories, DELETE /api/memories/{id},
GET /api/memories/insights, GET /memory-config, PUT /memory-config, GET /api/adaptations, GET /api/adaptations/{id},
POST /api/adaptations/{id}, GET /api/adaptations.preview, POST /api/adaptations.reload, GET /api/config,
PUT /api/config, DELETE /api/config/{key}, POST /api/config.test, GET /api/sessions, DELETE /api/sessions/{id},
GET /api/logs, GET /api/logs/stream, GET /logs.html, GET /api/tasks, POST /api/tasks, GET /api/tasks/{id},
POST /api/tasks/{id}/cancel, GET /api/timers, POST /api/timers, GET /api/timers/{id}, PUT /api/timers/{id}, DELETE /api/timers/{id}, POST /api/timers/{id}/snooze,
POST /api/timers/{id}/done, GET /api/timers.ics, GET /api/timers.feed, POST /api/timers.feed, DELETE /api/timers.feed, GET /calendar/{file}, POST /_dev/walkie/logs,
GET /_dev/walkie/logs, GET /_dev/walkie/logs/stream, POST /_dev/walkie/voice, GET /call, GET /relay, GET /metrics, GET /openapi.json, GET /docs,
GET /api/speech, POST /api/speech/transcriptions, POST /api/timeline/events/{seq}/speech, GET /api/talk`
  .split(',')
  .map((route) => route.trim())

const PUBLIC = `
GET /install, GET /install.html, POST /api/install, GET /login, POST /login, POST /login/passkey, POST /login/passkey/options,
GET /auth/status, GET /health, GET /ready, GET /build-info.json, GET /public-url, GET /voice-markup, POST /voice-markup, POST /sms, POST /sms/status,
POST /voice-status, POST /relay-ended, POST /api/copilot/callback, GET /call, GET /relay, GET /calendar/{file}, GET /metrics`
  .split(',')
  .map((route) => route.trim())

/** Whether the published contract declares this response for its route. */
// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON.
function checkerOf(contract: any) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(contract, 'contract')
  return (method: string, path: string, { status, headers, json }: Answer): string => {
    const { responses } = contract.paths[path][method.toLowerCase()]
    const key = String(status) in responses ? String(status) : 'default'
    if (key === 'default' && status < 400) return `${status} is not published`
    if (status === 204) return 'fits'
    const type = String(headers['content-type']).replace(/;.*$/, '')
    if (!(type in responses[key].content)) return `${status} as ${type} is not published`
    if (!type.endsWith('json')) return 'fits'
    const pointer = ['paths', path, method.toLowerCase(), 'responses', key, 'content', type, 'schema']
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/')
    const validate = ajv.compile({ $ref: `contract#/${pointer}` })
    return validate(json) ? 'fits' : ajv.errorsText(validate.errors)
  }
}

test('publishes every route and its refusals: no session, a foreign page, a malformed body', async () => {
  const { client, port } = await startWholeService({ environment: { DEV_ROUTES: '1' } })
  const contract = (await client.get('/openapi.json')).json
  const published = Object.entries<object>(contract.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(published).toEqual(expect.arrayContaining(ROUTES))
  const check = checkerOf(contract)
  const stranger = createClient(port)
  const foreign = { origin: 'https://elsewhere.example', 'content-type': 'application/json' }
  const isOpen = (path: string, method: string) =>
    contract.paths[path][method.toLowerCase()].security?.length === 0
  for (const route of published) {
    const [method = '', path = ''] = route.split(' ')
    const at = path.replace(/\{\w+\}/, '1')
    const content = method === 'GET' ? undefined : {}
    expect([route, isOpen(path, method)]).toEqual([route, PUBLIC.includes(route)])
    if (!isOpen(path, method)) {
      const refused = await stranger.send(method, at, content)
      expect([route, refused.status, check(method, path, refused)]).toEqual([route, 401, 'fits'])
      expect([route, contract.paths[path][method.toLowerCase()].responses[401]]).not.toEqual([
        route,
        undefined,
      ])
    }
    if (method === 'GET') continue
    const crossed = await client.send(method, at, '{}', { headers: foreign })
    expect([route, crossed.status, check(method, path, crossed)]).toEqual([route, 403, 'fits'])
    const malformed = await client.send(method, at, '{', { headers: { 'content-type': 'application/json' } })
    expect([route, malformed.status, check(method, path, malformed)]).toEqual([route, 400, 'fits'])
  }
})

test('publishes both forms of a turn, pages and redirects', async () => {
  const { client } = await startWholeService()
  const check = checkerOf((await client.get('/openapi.json')).json)
  const content = { content: 'hello' }
  expect(check('POST', '/api/chat', await client.post('/api/chat', content))).toBe('fits')
  const streamed = await client.post('/api/chat', content, { headers: { accept: 'text/event-stream' } })
  expect(streamed.headers['content-type']).toBe('text/event-stream')
  expect(check('POST', '/api/chat', streamed)).toBe('fits')
  const noted = await client.post('/api/notes', { content: 'Milk.' })
  expect(check('GET', '/notes/{id}', await client.get(`/notes/${noted.json.id}`))).toBe('fits')
  for (const accept of ['*/*', 'text/html']) {
    const missing = await client.get('/notes/none', { headers: { accept } })
    expect(missing.headers['content-type']).toContain(
      accept === 'text/html' ? accept : 'application/problem+json',
    )
    expect(check('GET', '/notes/{id}', missing)).toBe('fits')
  }
  expect(check('GET', '/docs', await client.get('/docs'))).toBe('fits')
})

test('names each field of a malformed request, even where no schema could tell', async () => {
  const { client } = await startWholeService({ environment: { DEV_ROUTES: '1' } })
  const { id } = (await client.post('/api/notes', { content: 'Milk.' })).json
  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  const asked: [string, () => Promise<Answer>][] = [
    ['before', () => client.get('/api/timeline?before=yesterday')],
    ['cursor', () => client.get('/api/timers?cursor=soon')],
    ['cursor', () => client.get('/api/notes?cursor=soon')],
    ['', () => client.put(`/api/notes/${id}`, {})],
    ['if-match', () => client.put(`/api/notes/${id}`, { title: 'x' }, { headers: { 'if-match': 'newest' } })],
    ['content', () => client.post('/api/adaptations/brief', {})],
    ['id', () => client.post('/api/adaptations/be%20brief', { content: 'Be brief.' })],
    ['id', () => client.get('/api/erasures.plan?kind=note')],
    ['from', () => client.get('/api/erasures.plan?kind=period&to=2026-01-01T00:00:00Z')],
    ['to', () => client.get('/api/erasures.plan?kind=period&from=2026-01-01T00:00:00Z')],
    [
      'to',
      () =>
        client.get('/api/erasures.plan?kind=period&from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00.000Z'),
    ],
    ['at', () => client.post('/api/timers', { title: 'Tea' })],
    ['MessageSid', () => client.post('/sms', 'From=%2B14155550100&Body=hello', form)],
    ['MessageStatus', () => client.post('/sms/status', 'MessageSid=SM1', form)],
  ]
  for (const [path, ask] of asked) {
    const { status, json } = await ask()
    expect([status, json.errors]).toEqual([400, [{ path, message: expect.any(String) }]])
  }
  const apart = 'from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00.500Z'
  expect((await client.get(`/api/erasures.plan?kind=period&${apart}`)).json.code).toBe('nothing_to_erase')
})

test('publishes the forms of the provider and the messages of the chat socket', async () => {
  const { client } = await startWholeService()
  const { paths, components } = (await client.get('/openapi.json')).json
  const fieldsOf = (path: string) =>
    Object.keys(paths[path].post.requestBody.content['application/x-www-form-urlencoded'].schema.properties)
  expect(fieldsOf('/sms')).toEqual(expect.arrayContaining(['MessageSid', 'From', 'To', 'Body', 'NumMedia']))
  expect(fieldsOf('/sms/status')).toEqual(['MessageSid', 'MessageStatus', 'ErrorCode'])
  expect(fieldsOf('/voice-status')).toContain('StreamEvent')
  expect(fieldsOf('/relay-ended')).toContain('SessionStatus')
  expect(paths['/voice-markup'].get.requestBody).toBeUndefined()
  const messages: { properties: { type: { enum: string[] } } }[] = components.schemas.ChatServerMessage.oneOf
  expect(messages.map(({ properties }) => properties.type)).toContainEqual(
    expect.objectContaining({ enum: ['timeline.event'] }),
  )
})

test('publishes the bounds of a new password wherever one is chosen', async () => {
  const { client } = await startWholeService()
  const { paths } = (await client.get('/openapi.json')).json
  const bodyOf = (path: string) => paths[path].post.requestBody.content['application/json'].schema.properties
  const bounds = { type: 'string', minLength: 12, maxLength: 1000 }
  expect(bodyOf('/api/install').password).toMatchObject(bounds)
  expect(bodyOf('/api/auth/password').newPassword).toMatchObject(bounds)
})
