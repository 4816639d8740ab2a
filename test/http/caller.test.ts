import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCallerIdentification } from '../../src/http/server/caller.ts'
import type { SettingKey } from '../../src/settings/registry.ts'
import { startService } from './harness.ts'

function identify(
  peer: string,
  headers: Record<string, string> = {},
  settings: Partial<Record<SettingKey, string>> = {},
) {
  const callers = createCallerIdentification(
    // Caller identification reads only two settings.
    { get: ((key: SettingKey) => settings[key] ?? null) as never },
    () => undefined,
  )
  const incoming = { socket: { remoteAddress: peer }, headers: { host: 'localhost:8081', ...headers } }
  return callers.identify(incoming as unknown as IncomingMessage)
}

test.each([
  ['127.0.0.1', {}, true],
  ['127.8.7.6', { host: '127.0.0.1:8081' }, true],
  ['::1', { host: '[::1]:8081' }, true],
  ['::ffff:127.0.0.1', { host: 'LOCALHOST' }, true],
  ['127.0.0.1', { origin: 'http://localhost:8081' }, true],
  ['192.168.1.20', {}, false],
  ['::ffff:192.168.1.20', {}, false],
  ['2001:db8::1', {}, false],
  ['', {}, false],
  ['127.0.0.1', { host: 'delegate.example.com' }, false],
  ['127.0.0.1', { host: 'localhost.example.com' }, false],
  ['127.0.0.1', { host: '127.0.0.1.example.com' }, false],
  ['127.0.0.1', { host: '' }, false],
  ['127.0.0.1', { origin: 'https://evil.example' }, false],
  ['127.0.0.1', { origin: 'null' }, false],
  ['127.0.0.1', { 'sec-fetch-site': 'none' }, true],
  ['127.0.0.1', { 'sec-fetch-site': 'same-origin' }, true],
  ['127.0.0.1', { 'sec-fetch-site': 'cross-site' }, false],
  ['127.0.0.1', { 'sec-fetch-site': 'same-site' }, false],
  ['127.0.0.1', { forwarded: 'for=127.0.0.1' }, false],
  ['127.0.0.1', { 'x-forwarded-for': '' }, false],
  ['127.0.0.1', { 'x-forwarded-proto': 'http' }, false],
  ['127.0.0.1', { 'x-forwarded-host': 'localhost' }, false],
  ['127.0.0.1', { 'x-real-ip': '127.0.0.1' }, false],
  ['127.0.0.1', { 'cf-connecting-ip': '127.0.0.1' }, false],
  ['127.0.0.1', { via: '1.1 x' }, false],
  ['127.0.0.1', { 'x-forwarded': 'for=127.0.0.1' }, false],
  ['127.0.0.1', { 'x-tunnel-forwarded-for': '127.0.0.1' }, false],
  ['127.0.0.1', { 'forwarded-for': '127.0.0.1' }, false],
  ['127.0.0.1', { 'x-envoy-external-address': '127.0.0.1' }, false],
  ['127.0.0.1', { 'fly-client-ip': '127.0.0.1' }, false],
  ['127.0.0.1', { 'x-azure-clientip': '127.0.0.1' }, false],
  ['127.0.0.1', { 'x-proxyuser-ip': '127.0.0.1' }, false],
  ['127.0.0.1', { 'x-remote-addr': '127.0.0.1' }, false],
  ['127.0.0.1', { 'cdn-loop': 'example' }, false],
  [
    '127.0.0.1',
    { 'accept-encoding': 'gzip', 'sec-ch-ua-platform': '"Linux"', 'x-twilio-signature': 's' },
    true,
  ],
])('a request from %j with %j is direct: %j', (peer, headers, isDirect) => {
  expect(identify(peer, headers).isDirectLoopback()).toBe(isDirect)
})

test('ignores X-Forwarded-For from a peer that is not a trusted proxy', () => {
  fc.assert(
    fc.property(fc.string(), (forwarded) => {
      expect(identify('203.0.113.9', { 'x-forwarded-for': forwarded }).address).toBe('203.0.113.9')
    }),
  )
})

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['1.2.3.4, 198.51.100.7', '198.51.100.7'],
  ['1.2.3.4, 198.51.100.7, 10.0.0.2', '198.51.100.7'],
  ['10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['1.2.3.4, not an address', '10.0.0.1'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['', '10.0.0.1'],
])('reads %j from trusted proxies as client %s', (forwarded, address) => {
  const caller = identify(
    '::ffff:10.0.0.1',
    { 'x-forwarded-for': forwarded },
    { TRUSTED_PROXY: '10.0.0.0/8' },
  )
  expect(caller.address).toBe(address)
})

test('ignores forged entries before the client that a trusted proxy saw', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.ipV4(), fc.string())), (madeUp) => {
      const forwarded = [...madeUp, '198.51.100.7'].join(', ')
      const caller = identify('10.0.0.1', { 'x-forwarded-for': forwarded }, { TRUSTED_PROXY: '10.0.0.1' })
      expect(caller.address).toBe('198.51.100.7')
    }),
  )
})

test('accepts the origin of the Host with the scheme of the request, and that of the Public URL', () => {
  const settings = { PUBLIC_URL: 'https://delegate.example.com' }
  const plain = identify('127.0.0.1', {}, settings)
  expect(plain.isHttps).toBe(false)
  expect(plain.isOwnOrigin('http://localhost:8081')).toBe(true)
  expect(plain.isOwnOrigin('https://delegate.example.com')).toBe(true)
  for (const origin of [
    'https://localhost:8081',
    'http://localhost',
    'http://delegate.example.com',
    'https://delegate.example.com.evil.example',
    'https://delegate.example.com:8443',
    'null',
    '',
  ]) {
    expect([origin, plain.isOwnOrigin(origin)]).toEqual([origin, false])
  }
  const proxied = identify('127.0.0.1', { 'x-forwarded-proto': 'https' }, settings)
  expect([proxied.isHttps, proxied.isOwnOrigin('https://localhost:8081')]).toEqual([true, true])
  expect(identify('127.0.0.1', { host: 'delegate.example.com' }, settings).isHttps).toBe(true)
})

test('reports an undeclared proxy once, in the log and to the owner', async () => {
  const service = await startService()
  const owner = await service.signedIn()
  const { client } = service
  for (let round = 0; round < 3; round += 1)
    await client.get('/health', { headers: { 'x-forwarded-for': '203.0.113.9' }, from: '127.0.0.5' })
  await client.get('/health', { from: '127.0.0.6' })
  const lines = service.written.filter((line) => line.includes('"setting":"TRUSTED_PROXY"'))
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'warn', peer: '127.0.0.5' }])
  expect((await owner.get('/api/proxies')).json).toEqual({ undeclared: ['127.0.0.5'] })
  await owner.put('/api/config', { entries: { TRUSTED_PROXY: '127.0.0.5' } })
  expect((await owner.get('/api/proxies')).json).toEqual({ undeclared: [] })
})

test('reports at most twenty peers', async () => {
  const service = await startService()
  for (let host = 2; host < 30; host += 1)
    await service.client.get('/health', {
      headers: { forwarded: 'for=203.0.113.9' },
      from: `127.0.0.${host}`,
    })
  const lines = service.written.filter((line) => line.includes('"setting":"TRUSTED_PROXY"'))
  expect(lines).toHaveLength(20)
})
