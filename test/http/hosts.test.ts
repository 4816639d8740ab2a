import { expect, test } from 'vitest'
import { createClient, raw } from './client.ts'
import { PASSWORD, startService } from './harness.ts'
import { openSocket } from './web-socket.ts'

const FOREIGN = ['evil.example', 'evil.example:8081', 'localhost.evil.example', '127.0.0.1.evil.example']

test('answers only under its own names and under addresses', async () => {
  const service = await startService({
    environment: { PUBLIC_URL: 'https://delegate.example.com' },
    allowedHosts: ['box.local'],
  })
  const client = await service.signedIn()
  const status = async (path: string, host: string) => (await client.get(path, { headers: { host } })).status
  for (const host of [
    'localhost',
    '127.0.0.1:9',
    '[::1]:8081',
    '192.168.1.20:8081',
    '[fd00::1]',
    'delegate.example.com',
    'delegate.example.com.:443',
    'box.local:8081',
  ])
    expect([host, await status('/api/sessions', host)]).toEqual([host, 200])

  for (const host of FOREIGN) {
    for (const path of ['/api/sessions', '/login', '/auth/status', '/favicon.svg']) {
      const { status, json } = await client.get(path, { headers: { host } })
      expect([host, path, status, json.code]).toEqual([host, path, 403, 'host_not_allowed'])
    }
    for (const path of ['/health', '/ready']) expect([path, await status(path, host)]).toEqual([path, 200])
    const callback = await client.post('/api/copilot/callback', {}, { headers: { host } })
    expect(callback.json.code).not.toBe('host_not_allowed')
  }
})

test('answers the health check of a load balancer, which names no host', async () => {
  const { port } = await startService()
  const status = async (request: string) =>
    (await raw(port, `GET ${request}\r\nConnection: close\r\n\r\n`)).status
  expect(await status('/health HTTP/1.0')).toBe(200)
  expect(await status('/health HTTP/1.1')).toBe(400)
  expect(await status('/login HTTP/1.0')).toBe(400)
})

test('answers under the host of an earlier Public URL, so that a mistake can be mended', async () => {
  const service = await startService({ environment: { PUBLIC_URL: 'https://delegate.example.com' } })
  const client = await service.signedIn()
  expect((await client.put('/api/config', { entries: { PUBLIC_URL: 'https://typo.example' } })).status).toBe(
    200,
  )
  for (const host of ['delegate.example.com', 'typo.example'])
    expect((await client.get('/api/sessions', { headers: { host } })).status).toBe(200)
})

test('gives a page that rebinds its name neither a sign-in nor a socket', async () => {
  const service = await startService()
  const client = await service.signedIn()
  const headers = { host: 'evil.example', origin: 'http://evil.example' }
  const guess = await createClient(service.port).post('/login', { password: PASSWORD }, { headers })
  expect([guess.status, guess.json.code]).toEqual([403, 'host_not_allowed'])
  await expect(openSocket(service, client, headers)).rejects.toMatchObject({ status: 403 })
  await openSocket(service, client)
  await service.intrusions.flush()
  expect(
    service.storage.ledger
      .readAfter(0, 100)
      .map((fact) => (fact.type === 'intrusion.counted' ? fact.facts : null)),
  ).toContainEqual(expect.objectContaining({ kind: 'foreign_host', count: 2 }))
})

test('can be installed under an address or as localhost before it has a Public URL', async () => {
  for (const host of ['192.0.2.7:8081', 'localhost:8081']) {
    const service = await startService({ installed: false })
    const client = createClient(service.port)
    const answer = await client.post(
      '/api/install',
      { password: PASSWORD, setupCode: service.ownerState.setupCode },
      { headers: { host, origin: `http://${host}` } },
    )
    expect([host, answer.status]).toEqual([host, 201])
  }
})
