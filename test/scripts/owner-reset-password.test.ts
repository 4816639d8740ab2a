import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { newDirectory, openState, PASSWORD } from '../settings/owner-state.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/owner-reset-password.ts', import.meta.url))

function run(
  directory: string,
  input: string,
  args: readonly string[] = [],
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [SCRIPT, ...args], {
      env: { PATH: process.env.PATH, DATA_DIR: directory },
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

test('the shell sets a new password without the old one, and ends every session', async () => {
  const directory = await installed()
  const { code, output } = await run(directory, 'quite another password\nnot this line\n')
  expect([code, output]).toEqual([0, 'The password is changed.\nEvery session has ended.\n'])
  const state = await openState({ directory })
  expect(state.sessions.list()).toEqual([])
  expect((await state.signIn()).status).toBe('wrong_password')
  expect((await state.signIn('quite another password')).status).toBe('signed_in')
})

test('without a password one is made, and shown', async () => {
  const directory = await installed()
  const { code, output } = await run(directory, '')
  const made = output.match(/^The new password is: (\S{20})$/m)?.[1] ?? ''
  expect([code, made.length]).toEqual([0, 20])
  const state = await openState({ directory })
  expect((await state.signIn(made)).status).toBe('signed_in')
})

test.each([
  ['too short', 'short', 'at least 12 characters'],
  ['too common', 'password1234', 'tried first'],
])('a password that is %s is refused, and nothing changes', async (_kind, password, reason) => {
  const directory = await installed()
  const { code, output } = await run(directory, `${password}\n`)
  expect([code, output]).toEqual([1, expect.stringContaining(reason)])
  const state = await openState({ directory })
  expect((await state.signIn(PASSWORD)).status).toBe('signed_in')
})

test('asked what it does, or called as it is not meant to be, it changes nothing', async () => {
  const directory = await installed()
  const help = await run(directory, '', ['--help'])
  expect([help.code, help.output]).toEqual([0, expect.stringContaining('npm run owner:reset-password')])
  for (const args of [['quite another password'], ['--password=quite another password']])
    expect((await run(directory, '', args)).code).toBe(2)
  const state = await openState({ directory })
  expect((await state.signIn()).status).toBe('signed_in')
})

test('while the service runs it is told to stop first', async () => {
  const state = await openState()
  await state.install()
  const { code, output } = await run(state.directory, 'quite another password\n')
  expect([code, output]).toEqual([1, 'The service is running. Stop it first.\n'])
})

test('where there is no service, or none that is installed, nothing is made', async () => {
  const empty = newDirectory()
  expect(await run(empty, '')).toEqual({ code: 1, output: expect.stringContaining('There is no service') })
  const state = await openState()
  await state.close()
  expect((await run(state.directory, '')).output).toContain('not installed yet')
})
