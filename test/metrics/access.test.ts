import { expect, test } from 'vitest'
import { type Answer, createClient } from '../http/client.ts'
import { startWholeService } from '../support/service.ts'
import { parseExposition } from './exposition.ts'

const TOKEN = 'token-of-the-monitor-7f3a'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** What a client learns from an answer, without what changes each time. */
function learned({ status, headers, text }: Answer, path: string) {
  const { date: _date, 'x-request-id': _id, ...rest } = headers
  const hidden = JSON.stringify({ status, rest, text })
  return JSON.parse(hidden.replaceAll(path, '(path)').replaceAll(encodeURIComponent(path), '(path)'))
}

const OTHERS: Readonly<Record<string, Record<string, string>>> = {
  'forwarded for a client': { 'x-forwarded-for': '203.0.113.7' },
  'forwarded for this machine': { 'x-forwarded-for': '127.0.0.1' },
  'forwarded, in the standard header': { forwarded: 'for=127.0.0.1' },
  'through a proxy that names itself': { via: '1.1 proxy' },
  'with a real address': { 'x-real-ip': '127.0.0.1' },
  'under a name that points here': { host: 'evil.example' },
  'under a name that begins like a loopback one': { host: 'localhost.evil.example' },
  'under another address': { host: '192.168.1.5' },
  'from a page of another site': { 'sec-fetch-site': 'cross-site' },
  'from a page': { origin: 'https://evil.example' },
  'from a person who follows a link from elsewhere': {
    accept: 'text/html',
    'x-forwarded-for': '203.0.113.7',
  },
}
const WRONG_TOKENS: Readonly<Record<string, string>> = {
  'another token': bearer('token-of-the-monitor-7f3b').authorization,
  'part of the token': bearer(TOKEN.slice(0, 16)).authorization,
  'no token': 'Bearer ',
  'another scheme': `Basic ${TOKEN}`,
  'two tokens': `Bearer ${TOKEN} ${TOKEN}`,
}

test('shows the metrics to this machine and to the token, and nothing to anyone else', async () => {
  const service = await startWholeService({ environment: { METRICS_TOKEN: TOKEN } })
  const stranger = createClient(service.port)
  for (const client of [stranger, service.client]) {
    const { status, headers, text } = await client.get('/metrics')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(parseExposition(text).samples.get('delegate_ready')).toBe(1)
    for (const [how, more] of Object.entries(OTHERS)) {
      const refused = await client.get('/metrics', { headers: more })
      expect([how, refused.status]).not.toEqual([how, 200])
      // The same as at an address that does not exist.
      const unknown = await client.get('/nothing', { headers: more })
      expect([how, learned(refused, '/metrics')]).toEqual([how, learned(unknown, '/nothing')])
      expect([
        how,
        (await client.get('/metrics', { headers: { ...more, ...bearer(TOKEN) } })).status,
      ]).toEqual([how, 200])
      for (const [what, authorization] of Object.entries(WRONG_TOKENS)) {
        const wrong = await client.get('/metrics', { headers: { ...more, authorization } })
        expect([what, how, learned(wrong, '/metrics')]).toEqual([what, how, learned(unknown, '/nothing')])
      }
    }
  }
  expect((await service.client.get('/metrics', { headers: { 'x-forwarded-for': '1.2.3.4' } })).status).toBe(
    404,
  )
})

test('accepts no token if none is configured', async () => {
  const service = await startWholeService()
  for (const token of ['', 'null', 'undefined', TOKEN]) {
    const headers = { 'x-forwarded-for': '203.0.113.7', ...bearer(token) }
    expect((await createClient(service.port).get('/metrics', { headers })).status).toBe(401)
  }
})

test('works the same way before installation', async () => {
  const service = await startWholeService({ installed: false, environment: { METRICS_TOKEN: TOKEN } })
  const { client } = service
  expect((await client.get('/metrics')).status).toBe(200)
  const far = { 'x-forwarded-for': '203.0.113.7' }
  expect((await client.get('/metrics', { headers: { ...far, ...bearer(TOKEN) } })).status).toBe(200)
  const [refused, unknown] = [
    await client.get('/metrics', { headers: far }),
    await client.get('/nothing', { headers: far }),
  ]
  expect(learned(refused, '/metrics')).toEqual(learned(unknown, '/nothing'))
})

test('answers only reads', async () => {
  const service = await startWholeService()
  expect((await createClient(service.port).send('HEAD', '/metrics')).status).toBe(200)
  for (const method of ['POST', 'PUT', 'DELETE'])
    expect((await createClient(service.port).send(method, '/metrics')).status).toBe(401)
})
