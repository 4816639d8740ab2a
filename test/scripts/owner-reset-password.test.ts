import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { copyToPostgres, createTables } from '../../scripts/lib/engine.ts'
import { createRemote } from '../../src/storage/postgres/remote.ts'
import { newDirectory, openState, PASSWORD } from '../settings/owner-state.ts'
import { optionsFor, startDatabase } from '../support/database.ts'
import { CLEAN_ENVIRONMENT } from './run-script.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/owner-reset-password.ts', import.meta.url))

function run(
  directory: string,
  input: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [SCRIPT, ...args], {
      env: { ...CLEAN_ENVIRONMENT, ...environment, DATA_DIR: directory },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += String(chunk)
      })
    }
    child.on('close', (code) => resolve({ code, output }))
    child.stdin.end(input)
  })
}

async function installed() {
  const state = await openState()
  await state.install()
  await state.close()
  return state.directory
}

test('sets a new password without the old one, and ends every session', async () => {
  const directory = await installed()
  const { code, output } = await run(directory, 'quite another password\nnot this line\n')
  expect([code, output]).toEqual([0, 'The password was changed.\nEvery session has ended.\n'])
  const state = await openState({ directory })
  expect(state.sessions.list()).toEqual([])
  expect((await state.signIn()).status).toBe('wrong_password')
  expect((await state.signIn('quite another password')).status).toBe('signed_in')
})

test('generates and prints a password if none is given', async () => {
  const directory = await installed()
  const { code, output } = await run(directory, '')
  const made = output.match(/^The new password is: (\S{20})$/m)?.[1] ?? ''
  expect([code, made.length]).toEqual([0, 20])
  const state = await openState({ directory })
  expect((await state.signIn(made)).status).toBe('signed_in')
})

test.each([
  ['too short', 'short', 'at least 12 characters'],
  ['too common', 'password1234', 'too common'],
])('refuses a password that is %s, and changes nothing', async (_kind, password, reason) => {
  const directory = await installed()
  const { code, output } = await run(directory, `${password}\n`)
  expect([code, output]).toEqual([1, expect.stringContaining(reason)])
  const state = await openState({ directory })
  expect((await state.signIn(PASSWORD)).status).toBe('signed_in')
})

test('changes nothing when it prints its help or is called wrongly', { tags: ['long'] }, async () => {
  const directory = await installed()
  const help = await run(directory, '', ['--help'])
  expect([help.code, help.output]).toEqual([0, expect.stringContaining('npm run owner:reset-password')])
  for (const args of [['quite another password'], ['--password=quite another password']])
    expect((await run(directory, '', args)).code).toBe(2)
  const state = await openState({ directory })
  expect((await state.signIn()).status).toBe('signed_in')
})

test('asks to stop the service first if it is running', async () => {
  const state = await openState()
  await state.install()
  const { code, output } = await run(state.directory, 'quite another password\n')
  expect([code, output]).toEqual([1, 'The service is running. Stop it first.\n'])
})

test('creates nothing if there is no service or it is not installed', { tags: ['long'] }, async () => {
  const empty = newDirectory()
  expect(await run(empty, '')).toEqual({ code: 1, output: expect.stringContaining('There is no ledger') })
  const state = await openState()
  await state.close()
  expect((await run(state.directory, '')).output).toContain('not installed yet')
})

test('removes the authenticator app as well, unless told to keep it', async () => {
  const directory = await installed()
  const state = await openState({ directory })
  const { secret = '' } = state.factors.beginTotp('session') ?? {}
  await state.factors.confirmTotp('session', TOTP.generate({ secret: Secret.fromBase32(secret) }))
  await state.close()
  const kept = await run(directory, 'quite another password\n', ['--keep-factors'])
  expect([kept.code, kept.output]).toEqual([0, 'The password was changed.\nEvery session has ended.\n'])
  const { output } = await run(directory, 'quite another password\n')
  expect(output).toContain('Removed: the authenticator app. Add them again in the settings.')
  const later = await openState({ directory })
  expect((await later.signIn('quite another password')).status).toBe('signed_in')
  expect(later.facts().map(({ type }) => type)).toContain('owner.factor.removed')
})

test('sets it in PostgreSQL, too, unless another machine may write', { tags: ['long'] }, async () => {
  const directory = await installed()
  const postgres = optionsFor(await startDatabase(), 'here', { leaseMs: 8_000 })
  await createTables(postgres)
  await copyToPostgres(directory, postgres)
  const environment = {
    LEDGER_POSTGRES_URL: postgres.url,
    LEDGER_POSTGRES_MODE: 'commit',
    LEDGER_NODE: 'here',
  }
  const reset = () => run(directory, 'quite another password\n', [], environment)
  expect(await reset()).toMatchObject({ code: 0 })
  const db = openLedgerReadOnly(directory)
  const remote = createRemote(postgres, createReader(db).id())
  db.close()
  const types = (await remote.rowsAfter(0, 100)).map(({ type }) => type)
  expect(types).toContain('owner.password.changed')
  await remote.take('there', 60_000, 1_000)
  expect(await reset()).toEqual({
    code: 1,
    output: 'Nothing was changed: there may write to the ledger. Stop Delegate on every machine first.\n',
  })
  remote.close()
})
