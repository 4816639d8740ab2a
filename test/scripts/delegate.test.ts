import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ledgerFile } from '../../ledger/files.ts'
import { testDirectory } from '../support/directory.ts'
import { CLEAN_ENVIRONMENT, fillDirectory, type Ran } from './run-script.ts'

const delegate = fileURLToPath(new URL('../../scripts/delegate', import.meta.url))

function run(args: readonly string[], dataDir = testDirectory(), more: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { ...CLEAN_ENVIRONMENT, DATA_DIR: dataDir, ...more }
    execFile(delegate, args, { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

test('knows every operator command of the npm scripts, by one name each', { tags: ['long'] }, async () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const names = Object.keys(scripts).filter((name) =>
    /^(?:doctor|halt|backup|restore|(?:ledger|engine|owner|script):.*)$/.test(name),
  )
  expect(names.length).toBeGreaterThan(15)
  const calls = names.map((name) =>
    name
      .replace(/^(?:ledger|owner):/, '')
      .replace(/^script:/, 'telephony ')
      .replace(':', ' '),
  )
  const { out: usage } = await run(['help'])
  for (const call of calls) {
    const { code, out, err } = await run([...call.split(' '), '--help'])
    expect([call, code, err]).toEqual([call, 0, ''])
    expect(out).toContain(`delegate ${call}`)
    expect(out).not.toMatch(/npm run|ledger:|owner:reset/)
    for (const word of call.split(' ')) expect(usage).toContain(word)
  }
})

test('passes arguments, output and exit codes on', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 3)
  expect(await run(['verify'], directory)).toMatchObject({
    code: 0,
    out: expect.stringContaining('is sound'),
  })
  const refused = await run(['verify', '--expect', `1:${'0'.repeat(64)}`], directory)
  expect(refused.code).toBe(1)
  expect(await run(['verify'])).toMatchObject({ code: 1, err: expect.stringContaining('There is no ledger') })
})

test.each([
  ['start', /^delegate start\n\nStarts the service/],
  ['health', /^delegate health\n\nSucceeds if the service/],
  ['engine', /^delegate engine init [\s\S]*\n\ndelegate engine detach /],
  ['telephony', /delegate telephony list-apps\n[\s\S]*delegate telephony token\n/],
])('explains %s', async (command, help) => {
  for (const flag of ['--help', '-h'])
    expect(await run([command, flag])).toEqual({ code: 0, out: expect.stringMatching(help), err: '' })
})

test('refuses to start on a damaged ledger with the command that saves it', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  fillDirectory(directory, 3)
  writeFileSync(ledgerFile(directory), 'not a database')
  const { code, err } = await run(['start'], directory)
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/no SQLite header\. Nothing was changed\. .*delegate salvage/),
  ])
  const npm = await run(['start'], directory, { npm_lifecycle_event: 'start' })
  expect(npm.err).toContain('npm run ledger:salvage')
})

test('explains a wrong call', async () => {
  expect(await run(['nope'])).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/^There is no command "nope"\.\nUsage: delegate /),
  })
  expect(await run([])).toMatchObject({ code: 2, err: expect.stringMatching(/^Usage: /) })
  expect(await run(['engine'])).toMatchObject({ code: 2, err: expect.stringContaining('init, status') })
  expect(await run(['start', 'now'])).toMatchObject({ code: 2, err: expect.stringContaining('no arguments') })
  expect(await run(['health', 'now'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('no arguments'),
  })
  const wrongOption = await run(['verify', '--fast'])
  expect([wrongOption.code, wrongOption.err.split('\n', 1)]).toEqual([2, ["Unknown option '--fast'."]])
})

test('says why the service is not healthy', async () => {
  expect(await run(['health'], testDirectory(), { PORT: '9' })).toEqual({
    code: 1,
    out: '',
    err: 'The service does not answer at http://127.0.0.1:9/health.\n',
  })
})
