import { expect, onTestFinished, test } from 'vitest'
import { checkTelephony } from '../../../src/phone/line/check.ts'
import { connectTelephony } from '../../../src/phone/line/rest.ts'
import { startTelephonyDouble } from '../../doubles/telephony/telephony-double.ts'

const URL = 'https://delegate.example.com'
const NUMBER = '+14155550111'
const number = (changes: object = {}) => ({
  sid: 'PN1',
  phone_number: NUMBER,
  voice_url: `${URL}/voice-markup`,
  sms_url: `${URL}/sms`,
  status_callback: `${URL}/voice-status`,
  ...changes,
})

async function check(
  options: {
    password?: string
    publicUrl?: string | null
    reached?: unknown
    numbers?: ReturnType<typeof number>[]
  } = {},
) {
  const double = await startTelephonyDouble({ accountSid: 'AC1', authToken: 'token' })
  onTestFinished(() => double.close())
  double.numbers.push(...(options.numbers ?? [number()]))
  const credentials = {
    accountSid: 'AC1',
    username: 'AC1',
    password: options.password ?? 'token',
    baseUrl: double.url,
  }
  const publicUrl = options.publicUrl === undefined ? URL : options.publicUrl
  const result = await checkTelephony({
    client: () => connectTelephony(credentials),
    number: NUMBER,
    applicationSid: null,
    publicUrl,
    ownerNumbers: ['+14155550100'],
    calls: { ok: true, detail: 'Calls use gpt-realtime.' },
    fetch: async () => Response.json(options.reached ?? { publicUrl }),
    signal: AbortSignal.timeout(10_000),
  })
  expect(double.problems).toEqual([])
  return { ok: result.ok, failing: result.steps.filter(({ ok }) => !ok) }
}

test('reports success for every step', async () => {
  expect(await check()).toEqual({ ok: true, failing: [] })
})

test('accepts webhooks with connection overrides', async () => {
  const numbers = [number({ voice_url: `${URL}/voice-markup#ct=2000`, sms_url: `${URL}/sms#rc=3&rp=all` })]
  expect(await check({ numbers })).toEqual({ ok: true, failing: [] })
})

test.each([
  ['refused credentials', { password: 'wrong' }, 'credentials', 'refuses the credentials'],
  ['no Public URL', { publicUrl: null }, 'public URL', 'Set PUBLIC_URL'],
  ['a wrong scheme', { publicUrl: 'http://delegate.example.com' }, 'public URL', 'not https'],
  ['a number of another account', { numbers: [] }, 'number', 'not a number of this account'],
  [
    'a webhook that points elsewhere',
    { numbers: [number({ voice_url: 'https://old.example.com' })] },
    'voice webhook',
    'https://old.example.com',
  ],
  [
    'a webhook that points nowhere',
    { numbers: [number({ sms_url: '' })] },
    'SMS webhook',
    'It points nowhere',
  ],
  ['a webhook by GET', { numbers: [number({ sms_method: 'GET' })] }, 'SMS webhook', 'by GET'],
  [
    'calls without a status callback',
    { numbers: [number({ status_callback: null })] },
    'call status webhook',
    'Point my number here',
  ],
  [
    'a stale Public URL',
    { reached: { publicUrl: 'https://other.example.com' } },
    'reachability',
    'Something else answers',
  ],
] as const)('reports %s with a remedy', async (_what, options, name, detail) => {
  const { ok, failing } = await check(options as Parameters<typeof check>[0])
  expect(ok).toBe(false)
  expect(failing.map((step) => step.name)).toEqual([name])
  expect(failing[0]?.detail).toContain(detail)
})
