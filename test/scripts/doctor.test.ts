import { chmodSync, chownSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { digests, testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { runScript } from './run-script.ts'

test('prints the checks of a running service and of a stopped one, and touches nothing', async () => {
  const { client, directory, stop } = await startWholeService()
  await client.put('/api/config', { entries: { DELIVERY_WEBHOOK_SECRET: 'whsec_c2VjcmV0' } })
  expect((await runScript('doctor', directory)).out).toContain('Only a password protects sign-in.')
  const { secret } = (await client.post('/api/auth/totp')).json
  const code = TOTP.generate({ secret: Secret.fromBase32(secret) })
  expect((await client.post('/api/auth/totp/confirm', { code })).status).toBe(200)
  const fine = await runScript('doctor', directory)
  expect(fine).toMatchObject({ code: 0, err: '' })
  expect(fine.out).toMatch(/^ok {6}Encryption: Only this machine can reach Delegate\.$/m)
  expect(fine.out).toMatch(/^Nothing to mend\.$/m)

  // A stored setting, the environment and a file.
  await client.put('/api/config', { entries: { PUBLIC_URL: 'https://delegate.example.com' } })
  await stop()
  chmodSync(join(directory, 'secret.key'), 0o644)
  const before = digests(directory)
  const environment = {
    COPILOT_COMMAND: '["sh"]',
    TASK_ISOLATION: 'none',
    DAILY_TOKENS: 'unlimited',
  }
  const found = await runScript('doctor', directory, [], { environment })
  expect(found).toMatchObject({ code: 1, err: '' })
  expect(found.out).toMatch(/^PROBLEM Files: .*secret\.key\.\n {8}Run: chmod/)
  expect(found.out).toMatch(/^PROBLEM Isolation of tasks: .*\n {8}Remove TASK_ISOLATION/m)
  expect(found.out).toMatch(/^warning Proxy: .*TRUSTED_PROXY is not set/m)
  expect(found.out).toMatch(/^warning Daily limits: .*DAILY_TOKENS/m)
  expect(found.out).toMatch(/^To mend: 4\.$/m)
  expect(digests(directory)).toEqual(before)
})

test('reports that nobody can sign in without a password, once the service is installed', async () => {
  const fresh = await startWholeService({ installed: false })
  await fresh.stop()
  expect((await runScript('doctor', fresh.directory)).out).not.toContain('PROBLEM Sign-in')
  const { directory, stop } = await startWholeService()
  await stop()
  rmSync(join(directory, 'settings.sqlite'))
  await (await startWholeService({ directory, installed: false })).stop()
  const found = await runScript('doctor', directory)
  expect(found.code).toBe(1)
  expect(found.out).toMatch(/^PROBLEM Sign-in: There is no password.*\n {8}.*npm run owner:reset-password/m)
  expect(found.out).not.toContain('Only a password')
})

test('notices that the program of the coding assistant is missing', async () => {
  const { directory } = await startWholeService()
  const assistant = async (program: string) => {
    const environment = { COPILOT_COMMAND: JSON.stringify([program]) }
    return (await runScript('doctor', directory, [], { environment })).out
  }
  for (const program of ['no-such-assistant', '/no/such/assistant'])
    expect(await assistant(program)).toContain(
      `warning Isolation of tasks: Tasks cannot start. ${program} of COPILOT_COMMAND`,
    )
  expect(await assistant('sh')).not.toContain('Tasks cannot start')
})

test('names files that belong to another account, so that the service cannot open them', async ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root can give a file away')
  const { directory, stop } = await startWholeService()
  await stop()
  for (const name of ['ledger.sqlite', 'lock.sqlite']) chownSync(join(directory, name), 65_534, 65_534)
  const found = await runScript('doctor', directory)
  expect(found.code).toBe(1)
  expect(found.out).toMatch(/^PROBLEM Files: .*\/ledger\.sqlite, .*\/lock\.sqlite.*\n {8}.*chown/m)
})

test('refuses a directory without a ledger', async () => {
  const { directory, stop } = await startWholeService()
  await stop()
  rmSync(join(directory, 'ledger.sqlite'))
  expect(await runScript('doctor', directory)).toMatchObject({
    code: 1,
    err: `There is no ledger in ${directory}. Set DATA_DIR to its directory.\n`,
  })
})

test('refuses a directory without a service', async () => {
  const directory = testDirectory()
  rmSync(directory, { recursive: true })
  expect(await runScript('doctor', directory)).toMatchObject({
    code: 1,
    out: '',
    err: `There is no service in ${directory}. Set DATA_DIR to its directory.\n`,
  })
})
