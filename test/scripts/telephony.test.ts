import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type Resource, startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import { openState } from '../settings/owner-state.ts'
import { CLEAN_ENVIRONMENT } from './run-script.ts'

const ACCOUNT = 'AC1'
const AUTH_TOKEN = 'canary-auth-token'
const KEY_SECRET = 'canary-key-secret'

async function startAccount(environment: Record<string, string> = {}) {
  const double = await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN })
  const state = await openState()
  await state.install()
  await state.close()
  onTestFinished(() => double.close())
  const run = (script: string, ...args: string[]) =>
    new Promise<{ code: number | null; output: string }>((resolve) => {
      const file = fileURLToPath(new URL('../../scripts/telephony.ts', import.meta.url))
      const child = spawn(process.execPath, [file, script, ...args], {
        env: {
          ...CLEAN_ENVIRONMENT,
          DATA_DIR: state.directory,
          TELEPHONY_ACCOUNT_SID: ACCOUNT,
          TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
          TELEPHONY_API_BASE_URL: double.url,
          TELEPHONY_API_KEY_SID: 'SK1',
          TELEPHONY_API_KEY_SECRET: KEY_SECRET,
          TELEPHONY_APP_SID: 'AP1',
          PUBLIC_URL: 'https://delegate.example.com',
          ...environment,
        },
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => (output += String(chunk)))
      child.on('close', (code) => {
        for (const secret of [AUTH_TOKEN, KEY_SECRET]) expect(output).not.toContain(secret)
        resolve({ code, output })
      })
    })
  return { double, run }
}

const application = (changes: object = {}): Resource => ({
  sid: 'AP1',
  friendly_name: 'Delegate',
  voice_url: 'https://old.example.com/voice-markup',
  sms_url: 'https://delegate.example.com/sms',
  status_callback: '',
  message_status_callback: '',
  ...changes,
})

test('lists and shows applications with where they point', { tags: ['long'] }, async () => {
  const { double, run } = await startAccount()
  double.applications.push(application())
  const listed = await run('list-apps')
  expect(listed).toMatchObject({ code: 0 })
  expect(listed.output).toContain('AP1  Delegate')
  expect((await run('inspect-app')).output).toContain('https://old.example.com/voice-markup')
  expect(await run('inspect-app', 'AP9')).toMatchObject({ code: 1 })
  expect(double.problems).toEqual([])
})

test('points every address to the Public URL and prints what changed, and nothing the second time', {
  tags: ['long'],
}, async () => {
  const { double, run } = await startAccount()
  double.applications.push(application())
  const { code, output } = await run('update-app')
  expect(code).toBe(0)
  expect(output).toContain(
    'voice: https://old.example.com/voice-markup -> https://delegate.example.com/voice-markup',
  )
  expect(output).not.toContain('SMS:')
  expect(double.applications[0]).toMatchObject({
    voice_url: 'https://delegate.example.com/voice-markup',
    status_callback: 'https://delegate.example.com/voice-status',
    message_status_callback: 'https://delegate.example.com/sms/status',
  })
  expect((await run('update-app')).output).toContain('Nothing was changed')
  expect(double.problems).toEqual([])
})

test('creates an application at the Public URL and prints its SID', async () => {
  const { double, run } = await startAccount()
  const { code, output } = await run('create-app', 'Mine')
  expect(code).toBe(0)
  expect(output).toContain(`Set TELEPHONY_APP_SID to ${double.applications[0]?.sid}`)
  expect(double.applications[0]).toMatchObject({ friendly_name: 'Mine' })
  expect(double.problems).toEqual([])
})

test('prints a token with a signed grant for the owner to call through the application', async () => {
  const { run } = await startAccount()
  const { code, output } = await run('token')
  expect(code).toBe(0)
  const claims = JSON.parse(Buffer.from(output.split('.')[1] ?? '', 'base64url').toString())
  expect(claims.grants).toMatchObject({ identity: 'owner', voice: { outgoing: { application_sid: 'AP1' } } })
})

test('explains what is missing or wrong, with exit code 1, or 2 for wrong usage, and prints help with 0', {
  tags: ['long'],
}, async () => {
  const { run } = await startAccount({ TELEPHONY_APP_SID: '', TELEPHONY_API_KEY_SID: '' })
  const missing = await run('update-app')
  expect(missing).toMatchObject({ code: 1 })
  expect(missing.output).toContain('TELEPHONY_APP_SID')
  expect(await run('token')).toMatchObject({ code: 1 })
  expect(await run('list-apps', 'surplus')).toMatchObject({ code: 2 })
  const help = await run('create-app', '--help')
  expect(help).toMatchObject({ code: 0 })
  expect(help.output).toContain('Usage: npm run script:create-app')
  const wrong = await startAccount({ TELEPHONY_ACCOUNT_SID: 'AC2' })
  expect((await wrong.run('list-apps')).output).toContain('refuses the credentials')
})
