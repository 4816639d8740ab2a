import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { PASSWORD, type Service, startService } from './harness.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const NEWER = FIREFOX.replaceAll('128', '131')
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36'

/** Signs in with a browser that keeps the device cookie, and returns that cookie. */
async function signIn(service: Service, userAgent: string, device?: string): Promise<string> {
  const headers = { 'user-agent': userAgent, ...(device === undefined ? {} : { cookie: device }) }
  const answer = await createClient(service.port).post('/login', { password: PASSWORD }, { headers })
  expect(answer.status).toBe(200)
  const cookie = answer.headers['set-cookie']?.find((each) => each.startsWith('delegate_device='))
  expect(cookie).toMatch(
    /^delegate_device=[\w-]{22}; Max-Age=34560000; Path=\/login; HttpOnly; SameSite=Strict$/,
  )
  return cookie?.replace(/;.*/, '') ?? ''
}

/** For each sign-in, whether it was from a new device. */
const newDevices = ({ storage }: Service) =>
  storage.ledger
    .readAfter(0, 100)
    .flatMap((fact) => (fact.type === 'owner.signed-in' ? [fact.facts.newDevice ?? false] : []))

test('records a sign-in from a new device, by token and kind of browser, not by address', async () => {
  const service = await startService()
  const device = await signIn(service, FIREFOX)
  expect(await signIn(service, FIREFOX, device)).toBe(device)
  await signIn(service, NEWER, device)
  await signIn(service, CHROME, device)
  await signIn(service, FIREFOX)
  await signIn(service, FIREFOX, 'delegate_device=chosen-by-an-attacker')
  // The first sign-in is that of the installation.
  expect(newDevices(service)).toEqual([false, true, false, false, true, true, true])
})

test('knows the browser that installed it, after a restart too', async () => {
  const service = await startService({ installed: false })
  const headers = { 'user-agent': FIREFOX }
  const { setupCode } = service.ownerState
  const installed = await service.client.post('/api/install', { password: PASSWORD, setupCode }, { headers })
  const [, device = ''] = installed.headers['set-cookie'] ?? []
  expect(device).toMatch(/^delegate_device=/)
  await service.stop()
  const again = await startService({ directory: service.directory })
  await signIn(again, FIREFOX, device.replace(/;.*/, ''))
  expect(newDevices(again)).toEqual([false, false])
})

test('remembers no device of a failed sign-in', async () => {
  const service = await startService()
  const wrong = await createClient(service.port).post('/login', { password: 'not the password at all' })
  expect(wrong.headers['set-cookie']).toBeUndefined()
})

test('lets a browser that has signed in before try, however many strangers guess', async () => {
  const service = await startService({ environment: { TRUSTED_PROXY: '127.0.0.1' } })
  const device = await signIn(service, FIREFOX)
  const from = (address: string, password: string, cookie = '') =>
    createClient(service.port).post(
      '/login',
      { password },
      {
        headers: { 'x-forwarded-for': address, 'user-agent': FIREFOX, cookie },
      },
    )
  for (let index = 0; index < 100; index += 1)
    expect((await from(`203.0.113.${index}`, 'not the password at all')).status).toBe(401)
  expect((await from('198.51.100.1', PASSWORD)).status).toBe(429)
  expect((await from('198.51.100.1', PASSWORD, device)).status).toBe(200)
  // Its address is known from now on.
  expect((await from('198.51.100.1', PASSWORD)).status).toBe(200)
  for (let round = 0; round < 10; round += 1)
    expect((await from('198.51.100.2', 'not the password at all', device)).status).toBe(401)
  expect((await from('198.51.100.3', PASSWORD, device)).status).toBe(429)
})
