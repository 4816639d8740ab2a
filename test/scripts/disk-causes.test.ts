// @module-tag long

import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diskRemedies } from '../../ledger/causes.ts'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import { ledgerFile } from '../../ledger/files.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import { testDirectory } from '../support/directory.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { startFlags } from '../support/start-flags.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { CLEAN_ENVIRONMENT, headOf, runScript, scriptFile } from './run-script.ts'

const NO_MOUNT = 'this process may not mount a file system'
const NOT_ROOT = 'this is not root, or has no setpriv'
const MAIN = join(import.meta.dirname, '../../src/main.ts')

/** Runs a start that fails, and returns its status and output. */
function refusedStart(directory: string, before: readonly string[] = []) {
  const [program = '', ...args] = [...before, process.execPath, ...startFlags(), MAIN]
  const environment = {
    ...process.env,
    DATA_DIR: directory,
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'silent',
  }
  const { status, stderr } = spawnSync(program, args, {
    env: environment,
    encoding: 'utf8',
    timeout: 180_000,
  })
  return { status, said: stderr }
}

/** Root without the capabilities that override file permissions. Null if this is not root, or has no setpriv. */
function withoutOverride(): readonly string[] | null {
  const without = ['--bounding-set=-dac_override,-dac_read_search']
  return spawnSync('setpriv', [...without, 'true']).status === 0 ? ['setpriv', ...without] : null
}

/** Runs the read-only commands and expects each of them to succeed. */
async function expectReadable(directory: string, events: number): Promise<void> {
  const temporary = testDirectory()
  const target = testDirectory()
  const more = { environment: { TMPDIR: temporary } }
  const verified = await runScript('ledger-verify', directory, [], more)
  expect(verified).toMatchObject({ code: 0, err: '' })
  expect(verified.out).toContain(`sound: ${events} events`)
  const exported = await runScript('ledger-export', directory, [join(target, 'export')], more)
  expect([exported.code, headOf(exported.err)]).toEqual([0, headOf(verified.out)])
  const made = await runScript('backup', directory, [join(target, 'backup')], more)
  expect([made.code, made.err, headOf(made.out)]).toEqual([0, '', headOf(verified.out)])
  const replayed = await runScript('ledger-replay', directory, [], more)
  expect([replayed.code, replayed.err]).toEqual([0, ''])
  expect(replayed.out).toMatch(/\nThe views match the ledger\.\n$/)
  expect(readdirSync(temporary)).toEqual([])
}

test('verifies, exports, backs up and replays the ledger of a killed service on a read-only disk', async ({
  skip,
}) => {
  const disk = mountSmallDisk(8)
  if (disk === null) return skip(NO_MOUNT)
  const live = testDirectory()
  const writer = openTestWriter(live)
  for (let index = 0; index < 20; index += 1) writer.append(said(`message ${index}`))
  cpSync(live, disk.directory, { recursive: true })
  writer.close()
  rmSync(`${ledgerFile(disk.directory)}-shm`)
  disk.makeReadOnly()
  await expectReadable(disk.directory, 20)
  expect(refusedStart(disk.directory)).toEqual({
    status: 1,
    said: expect.stringMatching(/^DATA_DIR cannot be used\. The disk is read-only\. [^\n]*\n$/),
  })
})

test('verifies, exports, backs up and replays the ledger of a service whose disk is full', async ({
  skip,
}) => {
  const disk = mountSmallDisk(8)
  if (disk === null) return skip(NO_MOUNT)
  const writer = openTestWriter(disk.directory)
  for (let index = 0; index < 20; index += 1) writer.append(said(`message ${index}`))
  disk.fill()
  let refusal: unknown
  try {
    for (let index = 0; index < 500; index += 1) writer.append(said('words '.repeat(500)))
  } catch (error) {
    refusal = error
  }
  expect(refusal).toBeInstanceOf(LedgerUnavailable)
  expect(refusal).toMatchObject({ disk: 'full', message: expect.stringContaining(diskRemedies.full) })
  expect(writer.status()).toMatchObject({ ledgerError: expect.stringMatching(/^The disk is full\./) })
  await expectReadable(disk.directory, writer.ledger.head().seq)
  writer.close()
})

test('verifies, exports, backs up and replays the ledger of a service that left no room', async ({
  skip,
}) => {
  const disk = mountSmallDisk(8)
  if (disk === null) return skip(NO_MOUNT)
  const writer = openTestWriter(disk.directory)
  for (let index = 0; index < 20; index += 1) writer.append(said(`message ${index}`))
  writer.settle()
  writer.close()
  disk.fill()
  await expectReadable(disk.directory, 20)
})

test('replays a ledger in a directory that this account may only read', ({ skip }) => {
  const without = withoutOverride()
  if (without === null) return skip(NOT_ROOT)
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('tea'))
  writer.settle()
  writer.close()
  chmodSync(directory, 0o500)
  const [program = '', ...args] = [...without, process.execPath, scriptFile('ledger-replay')]
  const env = { ...CLEAN_ENVIRONMENT, DATA_DIR: directory, TMPDIR: testDirectory() }
  const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8' })
  expect([status, stderr, stdout]).toEqual([0, '', expect.stringContaining('The views match the ledger.')])
})

test('says that the disk is full when it cannot start', ({ skip }) => {
  const disk = mountSmallDisk(1)
  if (disk === null) return skip(NO_MOUNT)
  disk.fill()
  expect(refusedStart(disk.directory)).toEqual({
    status: 1,
    said: expect.stringMatching(/^DATA_DIR cannot be used\. The disk is full\. [^\n]*\n$/),
  })
})

test.for(['', 'ledger.sqlite', 'lock.sqlite'])(
  'names DATA_DIR/%s if the account may not use it',
  (name, { skip }) => {
    const without = withoutOverride()
    if (without === null) return skip(NOT_ROOT)
    const directory = testDirectory()
    openTestWriter(directory).close()
    const path = join(directory, name)
    if (name === 'lock.sqlite') lockDirectory(directory).release()
    chownSync(path, 65_534, 65_534)
    const refused = refusedStart(directory, without)
    expect(refused).toEqual({
      status: 1,
      said: expect.stringMatching(/^DATA_DIR cannot be used\. Permission denied\. [^\n]*\n$/),
    })
    expect(refused.said).toContain(`'${path}`)
  },
)

test.for<[string, RegExp]>([
  ['ledger-verify', /^Permission denied\. /],
  ['owner-reset-password', /^Permission denied\. /],
  ['doctor', /belongs to another account\. Run this command as that account\.$/m],
])('%s says that the account may not look into the directory', ([name, message], { skip }) => {
  const without = withoutOverride()
  if (without === null) return skip(NOT_ROOT)
  const directory = testDirectory()
  openTestWriter(directory).close()
  chownSync(directory, 65_534, 65_534)
  const [program = '', ...args] = [...without, process.execPath, scriptFile(name)]
  const env = { ...CLEAN_ENVIRONMENT, DATA_DIR: directory }
  const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8' })
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)])
})

test('says that another process holds the directory', () => {
  const directory = testDirectory()
  const lock = lockDirectory(directory)
  expect(refusedStart(directory).said).toMatch(
    /^another process uses [^\n]*; stop it first, or choose another DATA_DIR\n$/,
  )
  lock.release()
})
