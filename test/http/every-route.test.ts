import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { settingsFile } from '../../src/settings/store.ts'
import { startWholeService, type WholeService } from '../support/service.ts'
import { within } from '../support/within.ts'
import { type Answer, type Client, createClient } from './client.ts'
import { openSocket } from './web-socket.ts'

const EVIL = 'https://evil.example'
/** Routes whose GET announces a call from the provider, or opens a socket. */
const NOT_READ = ['/voice-markup', '/chat', '/call', '/relay', '/api/talk']
/** Resources that do not exist here, or not for a page. */
const MISSING = [
  '/api/downloads/{id}/file',
  '/api/imported/{id}',
  '/api/notifications/{seq}',
  '/api/tasks/{id}',
  '/api/telephony/number',
  '/calendar/{file}',
  '/metrics',
]

type Operation = { readonly tags?: readonly string[]; readonly security?: readonly unknown[] }

/** Every published route: method, path as published, and whether it is a page or public. */
async function routesOf(client: Client) {
  const { paths } = (await client.get('/openapi.json')).json
  const routes = Object.entries<Record<string, Operation>>(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { tags = [], security }]) => ({
      method: method.toUpperCase(),
      path,
      isPage: tags.includes('Pages'),
      isPublic: security?.length === 0,
    })),
  )
  expect(routes.length).toBeGreaterThan(80)
  return routes
}

/** The contents of the ledger and the settings, from which everything else can be rebuilt. */
function stateOf({ directory }: WholeService) {
  const db = openLedgerReadOnly(directory)
  const facts = createReader(db).readAfter(0, 10_000)
  db.close()
  return {
    // Refused strangers are recorded once a minute.
    facts: facts.filter(({ type }) => type !== 'intrusion.counted').map(({ seq, type }) => `${seq} ${type}`),
    settings: readFileSync(settingsFile(directory)).toString('base64'),
  }
}

/** Creates a resource for each route. Resolves to a function that fills in a route's parameters. */
async function fill({ client }: WholeService): Promise<(path: string) => string> {
  const said = (await client.post('/api/chat', { content: 'Remember that my cat is called Minka.' })).json
  const note = (await client.post('/api/notes', { title: 'Tea', content: 'Green.' })).json
  const other = (await client.post('/api/notes', { title: 'Coffee', content: 'Black.' })).json
  await client.post('/api/adaptations/brief', { title: 'Brief', content: 'Be brief.' })
  const timer = (await client.post('/api/timers', { title: 'Tea', at: '2090-01-01T00:00:00Z' })).json
  const erasure = (await client.post('/api/erasures', { kind: 'note', id: other.id })).json
  const events = async () => (await client.get('/api/timeline?limit=1000')).json.events
  const learned = ({ type }: { type: string }) => type === 'memory.extraction.completed'
  // The last background work.
  await expect.poll(async () => (await events()).filter(learned).length).toBe(1)
  const ids: Readonly<Record<string, string>> = {
    '/api/adaptations/': 'brief',
    '/api/conversations/': said.conversationId,
    '/api/erasures/': erasure.id,
    '/api/notes/': note.id,
    '/api/services/': 'main',
    '/notes/': note.id,
    '/api/timeline/spans/': said.spanId,
    '/api/timers/': timer.id,
    '/api/turns/': said.turnId,
  }
  const queries: Readonly<Record<string, string>> = {
    '/api/timeline/search': '?q=cat',
    '/api/erasures.plan': `?kind=note&id=${note.id}`,
    '/api/adaptations.preview': '?channel=chat',
  }
  return (path) => {
    const [, folder = ''] = /^(.*?\/)\{/.exec(path) ?? []
    const at = path.replace('{revision}', '1').replace(/\{\w+\}/, ids[folder] ?? '1')
    return at + (queries[path] ?? '')
  }
}

test('changes nothing on reads, allows no other origin, and marks private data as not cacheable', async () => {
  // A session's last use is written once a minute; the fixed clock avoids that here.
  const nowMs = Date.now()
  const service = await startWholeService({ nowMs: () => nowMs, environment: { DEV_ROUTES: '1' } })
  const { client } = service
  const addressOf = await fill(service)
  const routes = (await routesOf(client)).filter(
    ({ method, path }) => method === 'GET' && !NOT_READ.includes(path),
  )
  const before = stateOf(service)
  const answers: [string, Answer][] = []
  for (const { path, isPage } of routes) {
    const headers = { origin: EVIL }
    answers.push([path, await client.send('HEAD', addressOf(path), undefined, { headers })])
    if (path.endsWith('/stream')) continue
    const answer = await client.get(addressOf(path), { headers })
    answers.push([path, answer])
    // Pages are shown only if they are built.
    const expected = MISSING.includes(path) ? expect.toBeOneOf([404, 409]) : 200
    if (!isPage) expect([path, answer.status, answer.text]).toEqual([path, expected, expect.any(String)])
  }
  for (const path of ['/api/nothing', '/notes/nothing', '/api/notes?limit=x', '/api/turns/nothing'])
    answers.push([path, await client.get(path, { headers: { origin: EVIL } })])
  expect(stateOf(service)).toEqual(before)

  for (const [path, { headers }] of answers) {
    expect([path, Object.keys(headers).filter((name) => name.startsWith('access-control'))]).toEqual([
      path,
      [],
    ])
    const policy = String(headers['content-security-policy'])
    expect([path, policy]).toEqual([path, expect.stringContaining("default-src 'none'")])
    expect([path, policy]).toEqual([path, expect.stringContaining("frame-ancestors 'none'")])
    expect([path, policy]).toEqual([path, expect.not.stringContaining('unsafe')])
    expect([path, headers['x-content-type-options']]).toEqual([path, 'nosniff'])
    // The shell is the same for everyone.
    const isShell = routes.some((route) => route.path === path && route.isPage)
    const kept = isShell ? expect.toBeOneOf(['no-store', 'no-cache']) : 'no-store'
    expect([path, headers['cache-control']]).toEqual([path, kept])
  }
})

/** Spellings of a path that a proxy, a file system or a careless router would resolve to it. */
function waysOfWriting(path: string, isPublic: boolean): string[] {
  const rest = path.slice(1)
  const encoded = `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`
  return [
    // An encoded letter equals the letter (RFC 3986, 6.2.2.2), so a public path stays public.
    ...(isPublic ? [] : [encoded]),
    `/${path}`,
    `///${rest}`,
    `/%2F${rest}`,
    `/%252F${rest}`,
    `${path}/`,
    `${path}%2F`,
    `${path}%00`,
    path.toUpperCase(),
    `/${rest.replaceAll('/', '//')}`,
    `/${rest.replaceAll('/', '%2F')}`,
    `/${rest.replaceAll('/', '%252F')}`,
  ].filter((way) => way !== path)
}

test('serves no route to a stranger who spells its path differently', async () => {
  // A session's last use is written once a minute; the fixed clock avoids that here.
  const nowMs = Date.now()
  const service = await startWholeService({ nowMs: () => nowMs, environment: { DEV_ROUTES: '1' } })
  const stranger = createClient(service.port)
  const before = stateOf(service)
  for (const { method, path, isPublic } of await routesOf(service.client)) {
    if (path === '/') continue
    const content = method === 'GET' ? undefined : {}
    for (const way of waysOfWriting(path.replaceAll(/\{\w+\}/g, '1'), isPublic)) {
      const { status } = await stranger.send(method, way, content)
      expect([method, way, status]).toEqual([method, way, expect.toBeOneOf([400, 401, 404])])
      if (method !== 'GET') continue
      const shown = await stranger.get(way, { headers: { accept: 'text/html' } })
      expect([way, shown.status]).toEqual([way, expect.toBeOneOf([302, 400, 404])])
      expect([way, shown.headers.location]).toEqual([way, shown.status === 302 ? '/login' : undefined])
    }
  }
  expect(stateOf(service)).toEqual(before)
})

test('opens the chat socket only for the owner on a page of the service', async () => {
  const service = await startWholeService()
  const { client } = service
  for (const [who, origin, status] of [
    [createClient(service.port), service.origin, 401],
    [null, service.origin, 401],
    [client, EVIL, 403],
    [client, 'null', 403],
    [client, `https://127.0.0.1:${service.port}`, 403],
    [client, 'http://127.0.0.1', 403],
  ] as const)
    await expect(openSocket(service, who, { origin })).rejects.toMatchObject({ status })
  const socket = await openSocket(service, client)
  expect(await socket.ask('{"type":"nothing"}')).toContain('"type"')
})

test('closes the sockets of every other session within a second after a password change, even for peers that do not respond', async () => {
  const service = await startWholeService()
  const { client } = service
  const thief = createClient(service.port)
  await thief.post('/login', { password: 'a long walk by the river' })
  const [own, stolen, deaf] = [
    await openSocket(service, client),
    await openSocket(service, thief),
    await openSocket(service, thief),
  ]
  deaf.deaf()
  const change = { currentPassword: 'a long walk by the river', newPassword: 'an even longer walk' }
  expect((await client.post('/api/auth/password', change)).status).toBe(200)
  const [code] = await within(1_000, Promise.all([stolen.closed, deaf.ended]))
  expect(code).toBe(1008)
  expect((await thief.get('/api/notes')).status).toBe(401)

  const heard = own.heard.length
  await client.post('/api/chat', { content: 'Are you there?' })
  await expect.poll(() => own.heard.length).toBeGreaterThan(heard)
  expect(stolen.heard.join()).not.toContain('Are you there?')
})
