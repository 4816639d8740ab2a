import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { settingKeys } from '../../src/settings/registry.ts'
import { createClient } from './client.ts'
import { startService } from './harness.ts'

/** The contract's list, to the letter. */
const CONTRACT_KEYS =
  'OPENAI_API_KEY OPENAI_BASE_URL CHAT_MODEL UTILITY_MODEL EMBEDDING_MODEL REALTIME_MODEL REALTIME_VOICE ' +
  'TRANSCRIPTION_MODEL COMPACT_THRESHOLD_TOKENS CAPSULE_TRIGGER_TOKENS TELEPHONY_ACCOUNT_SID TELEPHONY_AUTH_TOKEN ' +
  'TELEPHONY_API_KEY_SID TELEPHONY_API_KEY_SECRET TELEPHONY_APP_SID TELEPHONY_PHONE_NUMBER TELEPHONY_API_BASE_URL ' +
  'PUBLIC_URL OWNER_PHONE_NUMBER TIMEZONE SESSION_IDLE_MINUTES TIMELINE_PAGE_EVENTS DELIVERY_CHANNEL ' +
  'COPILOT_WORKDIR SPEECH_MODEL DELIVERY_WEBHOOK_URL DELIVERY_WEBHOOK_SECRET TRUSTED_PROXY TASK_LIMIT ' +
  'TASK_TIMEOUT_MINUTES LONG_ANSWER_CHARS GUEST_DAILY_MESSAGES'
/** Extensions of the contract. */
const OWN_KEYS =
  'PHONE_PIN PHONE_CARRIAGE RIGHTS_TEXTS RIGHTS_CALLS RIGHTS_CALLS_UNATTESTED RIGHTS_CALLS_PIN MODEL_FIRST_EVENT_SECONDS ' +
  'ALLOWANCE_DAY ALLOWANCE_MONTH PRICES MODEL_API CONTEXT_TOKENS SERVICES SERVICE_KEYS ' +
  'CHAT_SERVICE UTILITY_SERVICE EMBEDDING_SERVICE TRANSCRIPTION_SERVICE SPEECH_SERVICE REALTIME_SERVICE CHAT_FALLBACK ' +
  'LANGUAGE QUIET_HOURS REMINDER_TEXT_MINUTES BACKUP_DIRECTORY BACKUP_PASSPHRASE BACKUP_HOUR BACKUP_KEEP_DAILY ' +
  'BACKUP_KEEP_WEEKLY BACKUP_KEEP_MONTHLY'

type Entry = { key: string; value: unknown; secret: boolean; set: boolean; source: string }

const entryOf = (answer: { json: { entries: Entry[] } }, key: string) =>
  answer.json.entries.find((entry) => entry.key === key)

test('lists every setting of the contract with value, source and description', async () => {
  const service = await startService({
    environment: { CHAT_MODEL: 'from-environment', OPENAI_API_KEY: 'sk-env' },
  })
  const answer = await service.client.get('/api/config')
  expect(answer.json.entries.map(({ key }: Entry) => key).sort()).toEqual(
    `${CONTRACT_KEYS} ${OWN_KEYS}`.split(' ').sort(),
  )
  expect(entryOf(answer, 'CHAT_MODEL')).toEqual({
    key: 'CHAT_MODEL',
    value: 'from-environment',
    secret: false,
    set: true,
    source: 'environment',
    enteredFor: null,
    sentTo: null,
    description: expect.stringMatching(/\.$/),
    restart: false,
    group: 'model',
    title: 'Chat model',
    unit: null,
    choices: null,
  })
  expect(entryOf(answer, 'OPENAI_API_KEY')).toMatchObject({ value: null, secret: true, set: true })
  expect(entryOf(answer, 'TASK_LIMIT')).toMatchObject({ value: 2, set: true, source: 'default' })
  expect(entryOf(answer, 'PUBLIC_URL')).toMatchObject({ value: null, set: false, source: 'unset' })
  expect(settingKeys).toHaveLength(answer.json.entries.length)
})

test('lists the models in force: OpenAI’s defaults on its own API only', async () => {
  const { client } = await startService()
  const modelsNow = async () => {
    const answer = await client.get('/api/config')
    return ['CHAT_MODEL', 'UTILITY_MODEL', 'EMBEDDING_MODEL', 'SPEECH_MODEL'].map((key) => {
      const entry = entryOf(answer, key)
      return [entry?.value, entry?.source]
    })
  }
  const usual = await modelsNow()
  expect(usual.map(([, source]) => source)).toEqual(['default', 'default', 'default', 'default'])
  await client.put('/api/config', {
    entries: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', CHAT_MODEL: 'qwen3' },
  })
  expect(await modelsNow()).toEqual([
    ['qwen3', 'stored'],
    ['qwen3', 'default'],
    [null, 'unset'],
    [null, 'unset'],
  ])
  await client.delete('/api/config/CHAT_MODEL')
  await client.delete('/api/config/OPENAI_BASE_URL')
  expect(await modelsNow()).toEqual(usual)
})

test('prefers a stored value to the environment, and returns to it when the value is removed', async () => {
  const service = await startService({ environment: { TASK_LIMIT: '3' } })
  const { client } = service
  const changed = await client.put('/api/config', { entries: { TASK_LIMIT: 5, TIMEZONE: 'Europe/Paris' } })
  expect(changed.status).toBe(200)
  expect(entryOf(changed, 'TASK_LIMIT')).toMatchObject({ value: 5, source: 'stored' })
  expect(service.ownerState.settings.get('TIMEZONE')).toBe('Europe/Paris')
  const reset = await client.delete('/api/config/TASK_LIMIT')
  expect(entryOf(reset, 'TASK_LIMIT')).toMatchObject({ value: 3, source: 'environment' })
  expect((await client.delete('/api/config/TIMEZONE')).status).toBe(200)
  expect(service.ownerState.settings.get('TIMEZONE')).toBe('UTC')
  const facts = service.storage.ledger.readAfter(0, 100).filter(({ type }) => type === 'settings.changed')
  expect(facts.map((fact) => ('facts' in fact ? fact.facts : null))).toEqual([
    { keys: ['TASK_LIMIT', 'TIMEZONE'] },
    { keys: ['TASK_LIMIT'] },
    { keys: ['TIMEZONE'] },
  ])
})

test('changes and removes stored values at once', async () => {
  const { client, headSeq } = await startService()
  await client.put('/api/config', { entries: { TASK_LIMIT: 5, TIMEZONE: 'Europe/Paris' } })
  const head = headSeq()
  const answer = await client.put('/api/config', { entries: { TASK_LIMIT: null, TIMEZONE: 'Asia/Tokyo' } })
  expect(entryOf(answer, 'TASK_LIMIT')).toMatchObject({ value: 2, source: 'default' })
  expect(entryOf(answer, 'TIMEZONE')).toMatchObject({ value: 'Asia/Tokyo', source: 'stored' })
  expect(headSeq()).toBe(head + 1)
  await client.put('/api/config', { entries: { TASK_LIMIT: 'many', TIMEZONE: null } })
  expect(entryOf(await client.get('/api/config'), 'TIMEZONE')).toMatchObject({ value: 'Asia/Tokyo' })
})

test('changes nothing for an unknown key or an invalid value, and names each', async () => {
  const service = await startService()
  const { client } = service
  const head = service.headSeq()
  const answer = await client.put('/api/config', {
    entries: { TIMEZONE: 'Europe/Paris', TASK_LIMIT: 'many', PORT: '1', constructor: 'x' },
  })
  expect([answer.status, answer.json.code]).toEqual([400, 'invalid_setting'])
  expect(answer.json.errors.map(({ path }: { path: string }) => path)).toEqual([
    'entries.TASK_LIMIT',
    'entries.PORT',
    'entries.constructor',
  ])
  expect(service.headSeq()).toBe(head)
  expect(service.ownerState.settings.get('TIMEZONE')).toBe('UTC')
  for (const key of ['NOTHING', 'PORT', 'constructor', '__proto__']) {
    expect([key, (await client.delete(`/api/config/${key}`)).status]).toEqual([key, 404])
  }
})

test('does not let a browser set COPILOT_COMMAND', async () => {
  const { client } = await startService()
  const answer = await client.put('/api/config', { entries: { COPILOT_COMMAND: '["sh"]' } })
  expect(answer.status).toBe(400)
})

test('never reveals a stored secret, by HTTP or in the log, the ledger or the files', async () => {
  const service = await startService()
  const { client } = service
  const canary = 'canary-7d1f0e-secret'
  const keys = [
    'OPENAI_API_KEY',
    'TELEPHONY_AUTH_TOKEN',
    'TELEPHONY_API_KEY_SECRET',
    'DELIVERY_WEBHOOK_SECRET',
  ]
  const changed = await client.put('/api/config', {
    entries: Object.fromEntries(keys.map((key) => [key, canary])),
  })
  expect(changed.status).toBe(200)
  expect(service.ownerState.settings.get('OPENAI_API_KEY')).toBe(canary)
  service.ownerState.settings.subscribe(() => {
    throw new Error(`a subscriber that quotes ${canary}`)
  })
  await client.put('/api/config', { entries: { TIMEZONE: 'UTC' } })

  const seen = [
    changed.text,
    (await client.get('/api/config')).text,
    (await client.get('/api/logs?limit=2000')).text,
  ]
  for (const text of [...seen, ...service.written]) expect(text).not.toContain(canary)
  expect(service.written.join('')).toContain('a subscriber that quotes [redacted]')
  await service.stop()
  for (const name of readdirSync(service.directory)) {
    if (name === 'no-web') continue
    expect([name, readFileSync(join(service.directory, name), 'latin1').includes(canary)]).toEqual([
      name,
      false,
    ])
  }
})

test('returns the steps of a connection test', async () => {
  const asked: string[] = []
  const service = await startService({
    testConnection: async (name) => {
      asked.push(name)
      return { ok: false, steps: [{ name: 'sign in', ok: false, detail: 'refused' }] }
    },
  })
  const answer = await service.client.post('/api/config.test', { service: 'telephony' })
  expect(answer.json).toEqual({ ok: false, steps: [{ name: 'sign in', ok: false, detail: 'refused' }] })
  expect(asked).toEqual(['telephony'])
  expect((await service.client.post('/api/config.test', { service: 'fax' })).status).toBe(400)
})

test('notifies subscribers of a change once it is in effect', async () => {
  const service = await startService()
  const seen: unknown[] = []
  service.ownerState.settings.subscribe((keys) =>
    seen.push([[...keys], service.ownerState.settings.get('TASK_LIMIT')]),
  )
  await service.client.put('/api/config', { entries: { TASK_LIMIT: '7' } })
  await service.client.delete('/api/config/TASK_LIMIT')
  expect(seen).toEqual([
    [['TASK_LIMIT'], 7],
    [['TASK_LIMIT'], 2],
  ])
})

test('applies TRUSTED_PROXY without a restart', async () => {
  const service = await startService()
  const { client, port } = service
  await client.put('/api/config', { entries: { TRUSTED_PROXY: '127.0.0.0/8' } })
  const guess = (address: string) =>
    createClient(port).post('/login', { password: 'wrong' }, { headers: { 'x-forwarded-for': address } })
  for (let round = 0; round < 10; round += 1) await guess('203.0.113.1')
  expect([(await guess('203.0.113.1')).status, (await guess('203.0.113.2')).status]).toEqual([429, 401])
})
