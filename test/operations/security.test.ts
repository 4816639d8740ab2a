import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkSecurity, type SecuritySources, type Seen } from '../../src/operations/security/security.ts'
import { type SettingKey, settingRegistry } from '../../src/settings/registry.ts'
import { testDirectory } from '../support/directory.ts'

type Given = Partial<Omit<SecuritySources, 'settings' | 'config'>> & {
  readonly settings?: Partial<Record<SettingKey, string | number>>
  readonly config?: Partial<SecuritySources['config']>
  readonly seen?: Partial<Seen>
}

const CONFIG: SecuritySources['config'] = {
  host: '127.0.0.1',
  devRoutes: false,
  ledgerDebug: false,
  itemsDebug: false,
  dailyLimits: { tokens: 1_000, texts: 500, calls: 200 },
}

/** The checks that are not in order, with their status. */
async function toMend({ settings = {}, config, seen, ...sources }: Given = {}) {
  const values: Partial<Record<SettingKey, string | number | null>> = settings
  const checks = await checkSecurity(
    {
      directory: mkdtempSync(join(testDirectory(), 'data-')),
      settings: {
        // biome-ignore lint/suspicious/noExplicitAny: the type of a value depends on its key.
        get: (key: SettingKey): any => values[key] ?? settingRegistry[key].default,
        webhookToken: () => (values.TELEPHONY_AUTH_TOKEN === undefined ? null : 'token'),
      },
      config: { ...CONFIG, ...config },
      isolation: async () => null,
      signInFactors: () => ['totp'],
      lacksPassword: () => false,
      ...sources,
    },
    { origin: 'http://127.0.0.1:8081', undeclaredProxies: [], ...seen },
  )
  const open = checks.filter(({ status }) => status !== 'ok')
  // Each says what to do, and the list begins with them.
  expect(open.every(({ remedy }) => remedy !== null && remedy !== '')).toBe(true)
  expect(checks.slice(0, open.length)).toEqual(open)
  return Object.fromEntries(open.map(({ id, status }) => [id, status]))
}

const PUBLIC_URL = 'https://delegate.example.com'
const BEHIND_PROXY = { PUBLIC_URL, TRUSTED_PROXY: '10.1.2.3' }
const PHONE = { TELEPHONY_PHONE_NUMBER: '+493012345678' }

test.for<[what: string, given: Given, expected: Record<string, string>]>([
  ['a service of this machine', {}, {}],
  ['a service behind a declared proxy', { settings: BEHIND_PROXY, seen: { origin: PUBLIC_URL } }, {}],
  ['an open port', { config: { host: '0.0.0.0' } }, { https: 'problem', host: 'warning' }],
  [
    'a page opened without https',
    { settings: BEHIND_PROXY, seen: { origin: 'http://192.168.1.5:8081' } },
    { https: 'problem', host: 'warning' },
  ],
  [
    'a page opened elsewhere',
    { settings: BEHIND_PROXY, seen: { origin: 'https://b.example' } },
    { host: 'warning' },
  ],
  ['a Public URL without https', { settings: { PUBLIC_URL: 'http://a.example' } }, { https: 'problem' }],
  ['a proxy that nobody declared', { settings: { PUBLIC_URL } }, { proxy: 'warning' }],
  ['a peer that forwards', { seen: { undeclaredProxies: ['172.17.0.2'] } }, { proxy: 'warning' }],
  [
    'a wide network of proxies',
    { settings: { ...BEHIND_PROXY, TRUSTED_PROXY: '10.1.2.3,10.0.0.0/8' } },
    { proxy: 'warning' },
  ],
  ['a network of containers', { settings: { ...BEHIND_PROXY, TRUSTED_PROXY: '172.17.0.0/16' } }, {}],
  ['what only a running service sees', { seen: { origin: null, undeclaredProxies: null } }, {}],
  ['a phone without auth token', { settings: PHONE }, { webhooks: 'problem' }],
  [
    'a phone without Public URL',
    { settings: { ...PHONE, TELEPHONY_AUTH_TOKEN: 't' } },
    { webhooks: 'warning' },
  ],
  ['a phone', { settings: { ...PHONE, ...BEHIND_PROXY, TELEPHONY_AUTH_TOKEN: 't' } }, {}],
  [
    'a webhook without https',
    { settings: { DELIVERY_WEBHOOK_URL: 'http://a.example/hook' } },
    { delivery: 'problem' },
  ],
  [
    'a webhook without secret',
    { settings: { DELIVERY_WEBHOOK_URL: 'https://a.example/hook' } },
    { delivery: 'warning' },
  ],
  [
    'no daily limit',
    { config: { dailyLimits: { tokens: null, texts: 5, calls: 5 } } },
    { budgets: 'warning', guests: 'warning' },
  ],
  ['guests without bounds', { settings: { GUEST_DAILY_MESSAGES: 500 } }, { guests: 'warning' }],
  ['routes for developers', { config: { devRoutes: true } }, { development: 'problem' }],
  ['traces', { config: { itemsDebug: true } }, { development: 'warning' }],
  [
    'tasks without isolation',
    { isolation: async () => ({ way: 'none', reason: 'Nothing works.', remedy: 'Install it.' }) },
    { tasks: 'problem' },
  ],
  [
    'tasks that cannot start',
    { isolation: async () => ({ way: null, reason: 'It does not work.', remedy: 'Install it.' }) },
    { tasks: 'warning' },
  ],
  ['isolated tasks', { isolation: async () => ({ way: 'bubblewrap', reason: null, remedy: null }) }, {}],
  ['a password alone', { signInFactors: () => [] }, { sign_in: 'warning' }],
  ['a passkey beside the password', { signInFactors: () => ['passkey'] }, { sign_in: 'warning' }],
  ['no password', { lacksPassword: () => true }, { sign_in: 'problem' }],
  ['a second factor', { signInFactors: () => ['totp'] }, {}],
])('checks %s', async ([, given, expected]) => {
  expect(await toMend(given)).toEqual(expected)
})
