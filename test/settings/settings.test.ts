import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { SettingsUnusable } from '../../src/settings/errors.ts'
import { openSecretBox, secretKeyFile } from '../../src/settings/secrets.ts'
import { settingsFile } from '../../src/settings/store.ts'
import { newDirectory, openState } from './owner-state.ts'

const SECRET = 'sk-canary-0123456789'

async function stateWithSecret() {
  const state = await openState()
  await state.settings.change({ OPENAI_API_KEY: SECRET, TIMEZONE: 'Europe/Berlin' })
  await state.close()
  return state.directory
}

test('keeps settings and secrets across a restart', async () => {
  const directory = await stateWithSecret()
  const { settings, warnings } = await openState({ directory })
  expect([settings.get('OPENAI_API_KEY'), settings.get('TIMEZONE')]).toEqual([SECRET, 'Europe/Berlin'])
  expect(warnings).toEqual([])
})

test('makes its files readable only by their owner', async () => {
  const directory = newDirectory()
  writeFileSync(settingsFile(directory), '')
  chmodSync(settingsFile(directory), 0o644)
  const state = await openState({ directory })
  await state.settings.change({ OPENAI_API_KEY: SECRET })
  for (const file of [
    settingsFile(directory),
    `${settingsFile(directory)}-journal`,
    secretKeyFile(directory),
  ]) {
    expect([file, (statSync(file).mode & 0o777).toString(8)]).toEqual([file, '600'])
  }
})

test('binds a secret of an earlier version to the current address at the first start', async () => {
  const directory = newDirectory()
  const environment = { OPENAI_BASE_URL: 'https://models.example.com/v1' }
  await (await openState({ directory })).close()
  const box = openSecretBox(directory)
  box.makeKey()
  const db = new Database(settingsFile(directory))
  db.prepare('INSERT INTO settings VALUES (?, ?, 1)').run(
    'OPENAI_API_KEY',
    box.seal('OPENAI_API_KEY', JSON.stringify(SECRET)),
  )
  db.close()
  const first = await openState({ directory, environment })
  first.settings.bindStoredSecrets()
  expect(first.settings.get('OPENAI_API_KEY')).toBe(SECRET)
  await first.close()

  const moved = await openState({ directory })
  expect(moved.settings.get('OPENAI_API_KEY')).toBe(null)
  expect(moved.settings.entries().find(({ key }) => key === 'OPENAI_API_KEY')).toMatchObject({
    set: false,
    enteredFor: 'https://models.example.com',
  })
  expect(moved.settings.secretValues()).toEqual([SECRET])
  await moved.close()
  const back = await openState({ directory, environment })
  expect(back.settings.get('OPENAI_API_KEY')).toBe(SECRET)
})

test('reveals no secret by the settings file alone, and keeps nothing that was overwritten', async () => {
  const directory = await stateWithSecret()
  const file = () => readFileSync(settingsFile(directory), 'latin1')
  expect(file()).not.toContain(SECRET)
  expect(file()).toContain('Europe/Berlin')
  const state = await openState({ directory })
  await state.settings.change({ TIMEZONE: null })
  expect(file()).not.toContain('Europe/Berlin')
})

test('unsets secrets without the key file, warns, and keeps the other settings', async () => {
  const directory = await stateWithSecret()
  rmSync(secretKeyFile(directory))
  const { settings, warnings } = await openState({ directory })
  expect([settings.get('OPENAI_API_KEY'), settings.get('TIMEZONE')]).toEqual([null, 'Europe/Berlin'])
  expect(settings.entries().find(({ key }) => key === 'OPENAI_API_KEY')).toMatchObject({
    set: false,
    source: 'stored',
  })
  expect(warnings).toMatchObject([{ fields: { settings: ['OPENAI_API_KEY'] } }])
  expect(warnings[0]?.message).toContain('secret.key is missing')
})

test('restores the secrets when the key file is put back', async () => {
  const directory = await stateWithSecret()
  const key = readFileSync(secretKeyFile(directory))
  rmSync(secretKeyFile(directory))
  await (await openState({ directory })).close()
  writeFileSync(secretKeyFile(directory), key)
  expect((await openState({ directory })).settings.get('OPENAI_API_KEY')).toBe(SECRET)
})

test('uses a key file that is put back while the service runs, and keeps what it sealed', async () => {
  const directory = await stateWithSecret()
  const key = readFileSync(secretKeyFile(directory))
  rmSync(secretKeyFile(directory))
  const { settings } = await openState({ directory })
  writeFileSync(secretKeyFile(directory), key)
  await settings.change({ TELEPHONY_AUTH_TOKEN: 'a-new-token' })
  expect([settings.get('TELEPHONY_AUTH_TOKEN'), settings.get('OPENAI_API_KEY')]).toEqual([
    'a-new-token',
    SECRET,
  ])
  expect(readFileSync(secretKeyFile(directory)).equals(key)).toBe(true)
})

test('leaves no key if the disk has no room for it, and creates one later', () => {
  const directory = newDirectory()
  const source = fileURLToPath(new URL('../../src/settings/secrets.ts', import.meta.url))
  const program = `import { openSecretBox } from ${JSON.stringify(source)}
    openSecretBox(process.env.DIRECTORY).makeKey()`
  const makeKey = (limit: string) =>
    spawnSync('bash', ['-c', `${limit} exec "$0" --input-type=module -e "$1"`, process.execPath, program], {
      env: { ...process.env, DIRECTORY: directory },
    }).status
  expect([makeKey('ulimit -f 0;'), readdirSync(directory)]).toEqual([1, []])
  expect([makeKey(''), readdirSync(directory)]).toEqual([0, ['secret.key']])
  expect(openSecretBox(directory).hasKey()).toBe(true)
})

test('makes no new key while the lost one can still open other secrets, and names them', async () => {
  const directory = await stateWithSecret()
  const key = readFileSync(secretKeyFile(directory))
  rmSync(secretKeyFile(directory))
  const state = await openState({ directory })
  const facts = state.facts().length
  await expect(state.settings.change({ TELEPHONY_AUTH_TOKEN: 'a-new-token' })).rejects.toMatchObject({
    name: 'SecretKeyMissing',
    settings: ['OPENAI_API_KEY'],
  })
  expect(() => state.pushSubscriptions.makeKeys()).toThrow('OPENAI_API_KEY')
  expect(existsSync(secretKeyFile(directory))).toBe(false)
  expect(state.facts()).toHaveLength(facts)
  await state.close()
  writeFileSync(secretKeyFile(directory), key)
  expect((await openState({ directory })).settings.get('OPENAI_API_KEY')).toBe(SECRET)
})

test('binds a secret to the address that applies once the same change removes another', async () => {
  const state = await openState()
  const { settings } = state
  await settings.change({ OPENAI_BASE_URL: 'https://models.example.com/v1', OPENAI_API_KEY: 'sk-one-key' })
  const back = { OPENAI_BASE_URL: null, OPENAI_API_KEY: 'sk-another-key' }
  expect(await settings.change(back)).toMatchObject({ status: 'password_required', key: 'OPENAI_API_KEY' })
  expect(settings.get('OPENAI_API_KEY')).toBe('sk-one-key')
  expect(await settings.change(back, true)).toMatchObject({ status: 'valid' })
  expect(settings.get('OPENAI_API_KEY')).toBe('sk-another-key')
  await state.close()
})

test.each(['removed', 'entered'] as const)(
  'makes a new key once what the lost one sealed is %s',
  async (how) => {
    const directory = await stateWithSecret()
    rmSync(secretKeyFile(directory))
    const state = await openState({ directory })
    const entry = () => state.settings.entries().find(({ key }) => key === 'OPENAI_API_KEY')
    // Stored, so that pages offer to remove it.
    expect(entry()).toMatchObject({ set: false, source: 'stored' })
    if (how === 'removed') await state.settings.change({ OPENAI_API_KEY: null })
    const entered = how === 'entered' ? { OPENAI_API_KEY: 'another-key' } : {}
    await state.settings.change({ TELEPHONY_AUTH_TOKEN: 'a-new-token', ...entered })
    expect(entry()).toMatchObject(
      how === 'entered' ? { set: true, source: 'stored' } : { set: false, source: 'unset' },
    )
    await state.close()
    const { settings, warnings } = await openState({ directory })
    expect([settings.get('TELEPHONY_AUTH_TOKEN'), settings.get('OPENAI_API_KEY')]).toEqual([
      'a-new-token',
      how === 'entered' ? 'another-key' : null,
    ])
    expect(warnings).toEqual([])
  },
)

test.each([
  ['another key', () => `${Buffer.alloc(32, 7).toString('base64url')}\n`],
  ['no key at all', () => 'nonsense\n'],
  ['an empty file', () => ''],
])('refuses to start with %s in the key file, and says why', async (_kind, content) => {
  const directory = await stateWithSecret()
  writeFileSync(secretKeyFile(directory), content())
  const refused = await openState({ directory }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(SettingsUnusable)
  expect(String(refused)).toContain('secret.key')
  expect(String(refused)).not.toContain(SECRET)
})

test('rejects a sealed value in the place of another', async () => {
  const directory = await stateWithSecret()
  const db = new Database(settingsFile(directory))
  db.exec("UPDATE settings SET key = 'DELIVERY_WEBHOOK_SECRET' WHERE key = 'OPENAI_API_KEY'")
  db.close()
  await expect(openState({ directory })).rejects.toThrow('DELIVERY_WEBHOOK_SECRET')
})

test('never seals a secret to the same text twice', () => {
  const box = openSecretBox(newDirectory())
  box.makeKey()
  const [first, second] = [box.seal('A', SECRET), box.seal('A', SECRET)]
  expect(first).not.toBe(second)
  expect([box.open('A', first), box.open('A', second)]).toEqual([SECRET, SECRET])
  expect(() => box.open('B', first)).toThrow(SettingsUnusable)
  expect(() => box.open('A', 'v1.short')).toThrow(SettingsUnusable)
})

test.each([
  ['something else', Buffer.from('this is no database at all, but it is long enough to be one '.repeat(20))],
  ['a damaged database', null],
])('refuses a settings file that is %s, and leaves it unchanged', async (_kind, content) => {
  const directory = await stateWithSecret()
  const damaged = content ?? damage(readFileSync(settingsFile(directory)))
  writeFileSync(settingsFile(directory), damaged)
  await expect(openState({ directory })).rejects.toThrow(/damaged|malformed/)
  expect(readFileSync(settingsFile(directory)).equals(damaged)).toBe(true)
})

function damage(file: Buffer): Buffer {
  file.fill(0xff, 4096, 4096 + 200)
  return file
}

test.each([
  [
    'a trigger, which could bring an ended session back',
    `CREATE TRIGGER more AFTER DELETE ON sessions
     BEGIN INSERT INTO sessions VALUES (OLD.id, OLD.tokenHash, 0, 0, OLD.userAgent); END`,
  ],
  ['a view', 'CREATE VIEW more AS SELECT * FROM sessions'],
])('refuses a settings file that contains %s', async (_kind, sql) => {
  const directory = await stateWithSecret()
  const db = new Database(settingsFile(directory))
  db.exec(sql)
  db.close()
  await expect(openState({ directory })).rejects.toThrow('more is not part of its schema')
})

test('refuses the settings of a newer build', async () => {
  const directory = await stateWithSecret()
  const db = new Database(settingsFile(directory))
  db.pragma('user_version = 99')
  db.close()
  await expect(openState({ directory })).rejects.toThrow('format 99')
})

test('treats a stored value that is no longer allowed as unset', async () => {
  const directory = await stateWithSecret()
  const db = new Database(settingsFile(directory))
  db.exec(`UPDATE settings SET value = '"Mars/Olympus"' WHERE key = 'TIMEZONE'`)
  db.exec(`INSERT INTO settings VALUES ('OF_ANOTHER_BUILD', '"x"', 0)`)
  db.close()
  const { settings, warnings } = await openState({ directory })
  expect(settings.get('TIMEZONE')).toBe('UTC')
  expect(warnings).toMatchObject([{ fields: { setting: 'TIMEZONE' } }])
})

test('records a change in the ledger before it takes effect, and drops it if that fails', async () => {
  const seen: string[] = []
  let isDown = false
  const state = await openState({
    around: (append) => async (events) => {
      seen.push(`fact, ${state.settings.get('TASK_LIMIT')} in force`)
      if (isDown) throw new Error('the disk is full')
      return append(events)
    },
  })
  state.settings.subscribe(() => seen.push(`notified, ${state.settings.get('TASK_LIMIT')} in force`))
  await state.settings.change({ TASK_LIMIT: 9 })
  expect(seen).toEqual(['fact, 2 in force', 'notified, 9 in force'])
  isDown = true
  await expect(state.settings.change({ TASK_LIMIT: 10 })).rejects.toThrow('the disk is full')
  await expect(state.settings.change({ TASK_LIMIT: null })).rejects.toThrow('the disk is full')
  expect(state.settings.get('TASK_LIMIT')).toBe(9)
  isDown = false
  await state.settings.change({ TASK_LIMIT: 11 })
  expect(state.settings.get('TASK_LIMIT')).toBe(11)
})

test('applies concurrent changes in the order of their facts', async () => {
  const state = await openState()
  await Promise.all([3, 4, 5, 6, 7].map((limit) => state.settings.change({ TASK_LIMIT: limit })))
  expect(state.settings.get('TASK_LIMIT')).toBe(7)
  await state.close()
  expect((await openState({ directory: state.directory })).settings.get('TASK_LIMIT')).toBe(7)
})

test('records nothing for a reset of an unset setting or an empty change', async () => {
  const state = await openState()
  await state.settings.change({ TASK_LIMIT: null })
  await state.settings.change({})
  expect(state.facts()).toEqual([])
})

test('notifies the other subscribers and keeps the change if a subscriber fails', async () => {
  const state = await openState()
  const heard: string[] = []
  state.settings.subscribe(() => {
    throw new Error('not today')
  })
  const unsubscribe = state.settings.subscribe((keys) => heard.push(...keys))
  expect((await state.settings.change({ TASK_LIMIT: 3 })).status).toBe('valid')
  unsubscribe()
  await state.settings.change({ TASK_LIMIT: 4 })
  expect(heard).toEqual(['TASK_LIMIT'])
  expect(state.warnings).toHaveLength(2)
})

test('creates the data directory', async () => {
  const directory = join(newDirectory(), 'fresh', 'data')
  const state = await openState({ directory })
  expect((statSync(directory).mode & 0o777).toString(8)).toBe('700')
  expect(state.settings.entries().length).toBeGreaterThan(30)
})
