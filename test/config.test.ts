import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ConfigError, loadConfig } from '../src/config.ts'

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('applies the defaults to an empty environment', () => {
  expect(loadConfig({})).toEqual({
    port: 8081,
    host: '127.0.0.1',
    allowedHosts: [],
    backupCommand: null,
    backupWorkFactor: 18,
    dataDir: `${process.cwd()}/data`,
    logLevel: 'info',
    ledgerDebug: false,
    itemsDebug: false,
    metricsToken: null,
    upgradeWithoutBackup: false,
    devRoutes: false,
    postgres: null,
    copilotCommand: null,
    taskIsolation: { choice: 'auto', user: null },
    copilotEnvironment: {},
    dailyLimits: { tokens: 10_000_000, texts: 500, calls: 200 },
    settings: new Map(),
  })
})

test('counts a lease in whole milliseconds, as PostgreSQL does', () => {
  const { postgres } = loadConfig({ LEDGER_POSTGRES_URL: 'postgres://one/name', LEDGER_LEASE_SECONDS: '1.1' })
  expect(postgres?.leaseMs).toBe(1_100)
})

test('reads every variable', () => {
  const config = loadConfig({
    PORT: '0',
    HOST: '0.0.0.0',
    ALLOWED_HOSTS: 'Delegate.local, box.tailnet.ts.net',
    DATA_DIR: '/var/lib/delegate',
    LOG_LEVEL: 'debug',
    LEDGER_DEBUG: '1',
    ITEMS_DEBUG: 'true',
    DEV_ROUTES: '0',
    METRICS_TOKEN: 'token-of-the-monitor',
    COPILOT_COMMAND: '["copilot","-p"]',
    TASK_ISOLATION: 'user',
    TASK_USER: 'delegate-tasks',
    DAILY_TOKENS: '2000000',
    DAILY_TEXTS: '0',
    DAILY_CALLS: '12',
    TIMEZONE: 'Europe/Berlin',
    TASK_LIMIT: '4',
    OWNER_PHONE_NUMBER: ' +493012345678, +15005550006 ',
  })
  expect(config).toMatchObject({
    port: 0,
    host: '0.0.0.0',
    allowedHosts: ['delegate.local', 'box.tailnet.ts.net'],
    dataDir: '/var/lib/delegate',
    logLevel: 'debug',
    ledgerDebug: true,
    itemsDebug: true,
    metricsToken: 'token-of-the-monitor',
    devRoutes: false,
    copilotCommand: ['copilot', '-p'],
    taskIsolation: { choice: 'user', user: 'delegate-tasks' },
    dailyLimits: { tokens: 2_000_000, texts: 0, calls: 12 },
  })
  expect([...config.settings]).toEqual([
    ['OWNER_PHONE_NUMBER', '+493012345678,+15005550006'],
    ['TIMEZONE', 'Europe/Berlin'],
    ['TASK_LIMIT', 4],
  ])
})

test('lifts a daily limit only with the word "unlimited", because 0 allows nothing', () => {
  const { dailyLimits } = loadConfig({
    DAILY_TOKENS: 'unlimited',
    DAILY_TEXTS: 'Unlimited',
    DAILY_CALLS: '0',
  })
  expect(dailyLimits).toEqual({ tokens: null, texts: null, calls: 0 })
  expect(problemsOf({ DAILY_TOKENS: 'none' })).toEqual(['DAILY_TOKENS must be a whole number or "unlimited"'])
})

test('treats an empty variable as unset', () => {
  expect(loadConfig({ PORT: '', OPENAI_API_KEY: ' ', TASK_LIMIT: '' })).toEqual(loadConfig({}))
})

test('reports every problem at once, without the values', () => {
  const problems = problemsOf({
    PORT: '80x',
    LOG_LEVEL: 'loud',
    DEV_ROUTES: 'yes',
    COPILOT_COMMAND: 'rm -rf canary',
    TASK_LIMIT: 'canary',
    METRICS_TOKEN: 'canary-too-short'.slice(1),
    OPENAI_API_KEY: 'canary with spaces',
    PUBLIC_URL: 'ftp://canary',
  })
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    'PORT',
    'LOG_LEVEL',
    'DEV_ROUTES',
    'METRICS_TOKEN',
    'COPILOT_COMMAND',
    'OPENAI_API_KEY',
    'PUBLIC_URL',
    'TASK_LIMIT',
  ])
  expect(problems.join('\n')).not.toContain('canary')
})

test.each(['8081.5', '1e3', '-1', '65536', '0x10', 'NaN', 'Infinity', '８０８１', ' 80 81 '])(
  'rejects the malformed port %j instead of using the default',
  (port) => {
    expect(problemsOf({ PORT: port })).toEqual(['PORT must be a port number from 0 to 65535'])
  },
)

test('accepts any port from 0 to 65535 and no other number', () => {
  fc.assert(
    fc.property(fc.integer({ min: -10, max: 70_000 }), (port) => {
      const isPort = port >= 0 && port <= 65_535
      expect(problemsOf({ PORT: String(port) })).toHaveLength(isPort ? 0 : 1)
    }),
  )
})

test.each(['[]', '[""]', '"copilot"', '{"0":"copilot"}', '[1]', '["a",2]'])(
  'rejects %s as the command of the coding assistant',
  (command) => {
    expect(problemsOf({ COPILOT_COMMAND: command })).toHaveLength(1)
  },
)

test('gives the coding assistant the environment without the service’s own variables', () => {
  const { copilotEnvironment } = loadConfig({
    PATH: '/usr/bin',
    GH_TOKEN: 'of the assistant',
    OPENAI_API_KEY: 'sk-of-the-service-itself',
    DELIVERY_WEBHOOK_SECRET: 'secret',
    TELEPHONY_AUTH_TOKEN: 'secret',
    DATA_DIR: '/data',
    COPILOT_COMMAND: '["assistant"]',
  })
  expect(copilotEnvironment).toEqual({ PATH: '/usr/bin', GH_TOKEN: 'of the assistant' })
})

test('leaves the LANGUAGE of the system to other programs', () => {
  const { settings, copilotEnvironment } = loadConfig({ LANGUAGE: 'en_US:en', DELEGATE_LANGUAGE: 'de' })
  expect([...settings]).toEqual([['LANGUAGE', 'de']])
  expect(copilotEnvironment).toEqual({ LANGUAGE: 'en_US:en' })
  expect([...loadConfig({ LANGUAGE: 'de' }).settings]).toEqual([])
  expect(problemsOf({ DELEGATE_LANGUAGE: 'en_US:en' })).toEqual([
    expect.stringMatching(/^DELEGATE_LANGUAGE /),
  ])
})

test.each([
  ['Box.local', ['box.local']],
  ['0.0.0.0', []],
  ['::', []],
])('answers under the HOST %s that it listens on, if it is a name', (HOST, expected) => {
  expect(loadConfig({ HOST }).allowedHosts).toEqual(expected)
  expect(loadConfig({ HOST, ALLOWED_HOSTS: 'one.example' }).allowedHosts).toEqual([
    'one.example',
    ...expected,
  ])
})
