import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSetting, type SettingKey, settingKeys, settingRegistry } from '../../src/settings/registry.ts'

const parsedValue = (key: SettingKey, input: unknown) => {
  const parsed = parseSetting(key, input)
  return parsed.ok ? parsed.value : null
}

test('has valid, canonical defaults', () => {
  for (const key of settingKeys) {
    const { default: byDefault } = settingRegistry[key]
    if (byDefault !== null) expect([key, parsedValue(key, byDefault)]).toEqual([key, byDefault])
  }
})

test('reads stored values back unchanged', () => {
  const inputs = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.webUrl(),
    fc.constantFrom('UTC', '+4930123456', 'sms', '/x'),
  )
  fc.assert(
    fc.property(fc.constantFrom(...settingKeys), inputs, (key, input) => {
      const value = parsedValue(key, input)
      if (value !== null) expect(parsedValue(key, JSON.parse(JSON.stringify(value)))).toBe(value)
    }),
  )
})

test.each<[SettingKey, unknown, unknown]>([
  ['PUBLIC_URL', 'https://delegate.example.com', 'https://delegate.example.com'],
  ['PUBLIC_URL', ' HTTPS://Delegate.Example.com:443/ ', 'https://delegate.example.com'],
  ['PUBLIC_URL', 'http://localhost:8081', 'http://localhost:8081'],
  ['PUBLIC_URL', 'https://delegate.example.com/path', null],
  ['PUBLIC_URL', 'https://user:secret@delegate.example.com', null],
  ['PUBLIC_URL', 'https://delegate.example.com?x', null],
  ['PUBLIC_URL', 'javascript:alert(1)', null],
  ['PUBLIC_URL', 'delegate.example.com', null],
  ['OPENAI_BASE_URL', 'http://127.0.0.1:1234/v1/', 'http://127.0.0.1:1234/v1'],
  ['OPENAI_BASE_URL', 'http://127.0.0.1:1234/v1?key=x', null],
  ['OPENAI_BASE_URL', 'file:///etc/passwd', null],
  ['DELIVERY_WEBHOOK_URL', 'https://example.com/hook?token=x', 'https://example.com/hook?token=x'],
  ['OWNER_PHONE_NUMBER', '+493012345678', '+493012345678'],
  ['OWNER_PHONE_NUMBER', '+493012345678, +15005550006,+493012345678', '+493012345678,+15005550006'],
  ['OWNER_PHONE_NUMBER', '+44 (7700) 900-123', '+447700900123'],
  ['OWNER_PHONE_NUMBER', '+44 (0)7700 900123', '+447700900123'],
  ['QUIET_HOURS', '22:00 – 07:00', '22:00-07:00'],
  ['OWNER_PHONE_NUMBER', '+493012345678;+15005550006', null],
  ['OWNER_PHONE_NUMBER', '030 12345678', null],
  ['OWNER_PHONE_NUMBER', '+0123456789', null],
  ['OWNER_PHONE_NUMBER', '+1234567890123456', null],
  ['OWNER_PHONE_NUMBER', ',', null],
  ['TELEPHONY_PHONE_NUMBER', '+15005550006,+15005550007', null],
  ['TIMEZONE', 'Europe/Berlin', 'Europe/Berlin'],
  ['TIMEZONE', 'Mars/Olympus', null],
  ['TIMEZONE', '+02:00', null],
  ['PHONE_PIN', '0918', '0918'],
  ['PHONE_PIN', '123', null],
  ['PHONE_PIN', '1234567890123', null],
  ['PHONE_PIN', '12a4', null],
  ['PHONE_PIN', '0000', null],
  ['PHONE_PIN', '45678', null],
  ['PHONE_PIN', '8765', null],
  ['RIGHTS_CALLS', 'change', null],
  ['RIGHTS_CALLS_PIN', 'everything', 'everything'],
  ['TASK_LIMIT', '3', 3],
  ['TASK_LIMIT', 3, 3],
  ['TASK_LIMIT', '3.5', null],
  ['TASK_LIMIT', 3.5, null],
  ['TASK_LIMIT', '', null],
  ['TASK_LIMIT', 0, null],
  ['TASK_LIMIT', true, null],
  ['TASK_LIMIT', Number.NaN, null],
  ['TIMELINE_PAGE_EVENTS', 5_000, 5_000],
  ['TIMELINE_PAGE_EVENTS', 5_001, null],
  ['GUEST_DAILY_MESSAGES', 0, 0],
  ['OPENAI_API_KEY', ' sk-abc ', 'sk-abc'],
  ['OPENAI_API_KEY', 'sk-abc\r\nX-Evil: 1', null],
  ['OPENAI_API_KEY', ['sk-abc'], null],
  ['CHAT_SERVICE', 'claude-2', 'claude-2'],
  ['CHAT_SERVICE', 'Claude', null],
  [
    'SERVICES',
    '[{"id":"a","kind":"other","title":"A","baseUrl":"http://host/v1/"}]',
    '[{"id":"a","kind":"other","title":"A","baseUrl":"http://host/v1","api":"auto"}]',
  ],
  ['SERVICES', '[{"id":"main","kind":"other","title":"A","baseUrl":"http://host/v1"}]', null],
  ['SERVICES', '[{"id":"a","kind":"other","title":"A","baseUrl":"http://host/v1?key=x"}]', null],
  ['SERVICES', '{}', null],
  ['SERVICE_KEYS', '{"a": "key"}', '{"a":"key"}'],
  ['SERVICE_KEYS', '{"a": "key\\r\\nX-Evil: 1"}', null],
  ['CHAT_FALLBACK', '[{"service":"a"}]', null],
  ['PRICES', '{"models":{"a":{"input":0,"output":6}}}', '{"models":{"a":{"input":0,"output":6}}}'],
  ['PRICES', '{"models":{"a":{"minute":0.006}}}', '{"models":{"a":{"input":0,"output":0,"minute":0.006}}}'],
  ['PRICES', '{"models":{"a":{"output":6}}}', null],
  ['PRICES', '{"models":{"a":{"input":6,"minute":0.006}}}', null],
  ['PRICES', '{"models":{"a":{}}}', null],
  ['PRICES', '{"models":{"a":{"input":-1,"output":6}}}', null],
  ['DELIVERY_CHANNEL', 'webhook', 'webhook'],
  ['DELIVERY_CHANNEL', 'fax', null],
  ['COPILOT_WORKDIR', '/home/owner/work', '/home/owner/work'],
  ['COPILOT_WORKDIR', 'work', null],
  ['BACKUP_PASSPHRASE', 'seven grey herons', 'seven grey herons'],
  ['BACKUP_PASSPHRASE', 'too short', null],
  ['BACKUP_PASSPHRASE', ' seven grey herons', null],
  ['TRUSTED_PROXY', '10.0.0.0/8, ::1', '10.0.0.0/8,::1'],
  ['TRUSTED_PROXY', '10.0.0.0/33', null],
  ['TRUSTED_PROXY', 'proxy.internal', null],
  ['TRUSTED_PROXY', '0.0.0.0/0', null],
  ['TRUSTED_PROXY', '::/0', null],
  ['TRUSTED_PROXY', '::/7', null],
  ['TRUSTED_PROXY', '::ffff:128.0.0.0/97', null],
  ['TRUSTED_PROXY', '::ffff:0:0/96', null],
  ['TRUSTED_PROXY', '100::/7', null],
  ['TRUSTED_PROXY', '::ffff:10.0.0.0/104,fd00::/8', '::ffff:10.0.0.0/104,fd00::/8'],
  ['TRUSTED_PROXY', '10.0.0.1,0.0.0.0/1,128.0.0.0/1', null],
])('parses %s from %j as %j', (key, input, expected) => {
  expect(parsedValue(key, input)).toBe(expected)
})

test('says what is expected and never repeats the input', () => {
  for (const key of settingKeys) {
    const parsed = parseSetting(key, { canary: 'canary' })
    const text = parseSetting(key, 'canary \r\n canary')
    expect([key, parsed.ok, text.ok]).toEqual([key, false, false])
    for (const result of [parsed, text]) if (!result.ok) expect(result.message).not.toContain('canary')
  }
})

test('has the secrets of the contract', () => {
  expect(settingKeys.filter((key) => settingRegistry[key].secret)).toEqual([
    'OPENAI_API_KEY',
    'SERVICE_KEYS',
    'TELEPHONY_AUTH_TOKEN',
    'TELEPHONY_API_KEY_SECRET',
    'PHONE_PIN',
    'DELIVERY_WEBHOOK_SECRET',
    'BACKUP_PASSPHRASE',
  ])
})
