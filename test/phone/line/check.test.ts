import { expect, onTestFinished, test } from 'vitest'
import { checkTelephony } from '../../../src/phone/line/check.ts'
import { connectTelephony } from '../../../src/phone/line/rest.ts'
import { type MessagingService, startTelephonyDouble } from '../../doubles/telephony/telephony-double.ts'

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
/** A Messaging Service that holds the number, as the provider creates it for A2P 10DLC. */
const service = (changes: object = {}): MessagingService => ({
  sid: 'MG1',
  friendly_name: 'Low Volume',
  inbound_request_url: null,
  inbound_method: 'POST',
  use_inbound_webhook_on_number: false,
  phone_numbers: ['+14155550112', NUMBER],
  ...changes,
})

async function check(
  options: {
    password?: string
    publicUrl?: string | null
    reached?: unknown
    numbers?: ReturnType<typeof number>[]
    services?: MessagingService[]
    servicesRefused?: number
  } = {},
) {
  const { servicesRefused } = options
  const double = await startTelephonyDouble({ accountSid: 'AC1', authToken: 'token', servicesRefused })
  onTestFinished(() => double.close())
  double.numbers.push(...(options.numbers ?? [number()]))
  double.services.push(...(options.services ?? []))
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
  ['defers to the number', { services: [service({ use_inbound_webhook_on_number: true })] }],
  ['sends texts here', { services: [service({ inbound_request_url: `${URL}/sms#rc=3` })] }],
  ['holds other numbers', { services: [service({ phone_numbers: ['+14155550112'] })] }],
  ['may not be read with this key', { services: [service()], servicesRefused: 403 }],
  ['cannot be listed now', { services: [service()], servicesRefused: 503 }],
])('accepts a Messaging Service that %s', async (_what, options) => {
  expect(await check(options)).toEqual({ ok: true, failing: [] })
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
    'a Messaging Service that drops texts',
    { services: [service({ sid: 'MG2', phone_numbers: [] }), service()] },
    'SMS webhook',
    'choose "Defer to sender\'s webhook"',
  ],
  [
    'a Messaging Service that sends texts elsewhere',
    { services: [service({ inbound_request_url: 'https://old.example.com/sms' })] },
    'SMS webhook',
    'The Messaging Service "Low Volume"',
  ],
  [
    'a Messaging Service that sends texts by GET',
    { services: [service({ inbound_request_url: `${URL}/sms`, inbound_method: 'GET' })] },
    'SMS webhook',
    'The Messaging Service "Low Volume"',
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
