// @module-tag long

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { closing } from '../ledger/closing.ts'
import { ledgerFile, openLedgerReadOnly } from '../ledger/files.ts'
import { createReader } from '../ledger/reader.ts'
import { settingsFile } from '../src/settings/store.ts'
import { createClient } from './http/client.ts'
import { digests, testDirectory } from './support/directory.ts'
import { PASSWORD } from './support/service.ts'
import { startServiceProcess } from './torture/service-process.ts'

/** Starts a service that cannot run; returns its exit code and output. */
async function failedStart(directory: string, environment: Readonly<Record<string, string>>) {
  const service = startServiceProcess(directory, { LOG_LEVEL: 'silent', ...environment })
  const [code] = await once(service.child, 'close')
  return { code, output: service.output() }
}

test('reports in one sentence that it cannot listen', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const address = other.address()
  const port = String(typeof address === 'object' ? address?.port : address)
  expect(await failedStart(testDirectory(), { PORT: port })).toEqual({
    code: 1,
    output: `The service cannot listen on HOST and PORT: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
  })
  expect(await failedStart(testDirectory(), { HOST: '192.0.2.1' })).toEqual({
    code: 1,
    output: expect.stringMatching(/^The service cannot listen on HOST and PORT: .*192\.0\.2\.1.*\n$/),
  })
})

test('reports in one sentence that the data directory is unusable', async () => {
  const file = join(testDirectory(), 'file')
  writeFileSync(file, 'mine')
  for (const directory of [file, join(file, 'below')])
    expect(await failedStart(directory, {})).toEqual({
      code: 1,
      output: expect.stringMatching(/^DATA_DIR cannot be used: ENOTDIR: [^\n]*\n$/),
    })
  const odd = testDirectory()
  mkdirSync(join(odd, 'lock.sqlite'))
  expect(await failedStart(odd, {})).toEqual({
    code: 1,
    output: expect.stringMatching(/^DATA_DIR cannot be used: [^\n]*\n$/),
  })
})

/** A data directory with stored secrets. */
async function directoryWithSecrets(): Promise<string> {
  const directory = testDirectory()
  const service = startServiceProcess(directory)
  onTestFinished(() => service.kill())
  const client = createClient(await service.listening)
  await client.post('/api/install', {
    password: PASSWORD,
    setupCode: service.setupCode(),
    openaiApiKey: 'sk-canary-0123456789',
  })
  expect(await service.stop()).toBe(0)
  return directory
}

test('refuses to start with another key than that of its secrets, and says why', async () => {
  const directory = await directoryWithSecrets()
  const [key, sealed] = [join(directory, 'secret.key'), settingsFile(directory)]
  const before = [readFileSync(key), readFileSync(sealed)] as const
  writeFileSync(key, `${Buffer.alloc(32, 7).toString('base64url')}\n`)
  const { code, output } = await failedStart(directory, {})
  expect(code).toBe(1)
  expect(output).toMatch(/^[^\n]*secret\.key[^\n]*\n$/)
  expect(output).not.toContain('canary')
  expect(readFileSync(sealed).equals(before[1])).toBe(true)

  writeFileSync(key, before[0])
  const service = startServiceProcess(directory)
  onTestFinished(() => service.kill())
  const client = createClient(await service.listening)
  await client.post('/login', { password: PASSWORD })
  const { entries } = (await client.get('/api/config')).json
  expect(entries).toContainEqual(expect.objectContaining({ key: 'OPENAI_API_KEY', set: true }))
})

test.each<[string, (directory: string) => void]>([
  ['header', (directory) => overwrite(ledgerFile(directory), 0, 100)],
  ['page', (directory) => overwrite(ledgerFile(directory), 4096, 4096)],
  ['log', (directory) => overwrite(`${ledgerFile(directory)}-wal`, 32 + 24, 4096)],
])('refuses to start with a damaged %s of the ledger, says so, and changes no file', async (what, damage) => {
  const directory = testDirectory()
  const service = startServiceProcess(directory)
  onTestFinished(() => service.kill())
  const client = createClient(await service.listening)
  await client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode() })
  await client.post('/api/notes', { title: 'Tea', content: 'Green. '.repeat(2_000) })
  // A crash leaves the write-ahead log in place; a clean stop would empty it.
  if (what === 'log') await service.kill()
  else await service.stop()
  damage(directory)
  const before = keptOf(directory)
  const { code, output } = await failedStart(directory, {})
  expect(code).toBe(1)
  expect(output).toMatch(/^[^\n]*ledger\.sqlite\S* is damaged: /)
  expect(output).not.toMatch(/Green|^ +at /m)
  expect(keptOf(directory)).toEqual(before)
})

/** Digests of the files that a refused start must not change: all but the lock. */
function keptOf(directory: string) {
  return Object.entries(digests(directory)).filter(([file]) => !file.includes('lock.sqlite'))
}

function overwrite(file: string, offset: number, length: number): void {
  const bytes = readFileSync(file)
  bytes.fill(0xa5, offset, offset + length)
  writeFileSync(file, bytes)
}

test('logs the head of the ledger once it listens', async () => {
  const directory = testDirectory()
  const service = startServiceProcess(directory)
  await service.listening
  await expect.poll(service.output).toContain('"msg":"listening"')
  await service.stop()
  const line = service
    .output()
    .split('\n')
    .find((each) => each.includes('"msg":"listening"'))
  const { head } = JSON.parse(line ?? '')
  using ledger = closing(openLedgerReadOnly(directory))
  expect(head).toEqual({ seq: expect.any(Number), hash: createReader(ledger).hashAt(head.seq) })
})

test('stops the service together with npm start', async () => {
  const npm = spawn('npm', ['start'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, DATA_DIR: testDirectory(), PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // Kills the whole group, because npm may exit before the service.
  onTestFinished(() => {
    try {
      process.kill(-(npm.pid ?? Number.NaN), 'SIGKILL')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  })
  let output = ''
  npm.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  await expect.poll(() => output).toContain('"msg":"listening"')
  const ended = once(npm, 'exit')
  npm.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(output).toContain('"msg":"stopped"')
})

test.each(['SIGTERM', 'SIGINT'] as const)('does not cut a shutdown short on a second %s', async (signal) => {
  const service = startServiceProcess(testDirectory())
  await service.listening
  const ended = once(service.child, 'exit')
  service.child.kill(signal)
  await expect.poll(service.output, { interval: 1 }).toContain('"msg":"stopping"')
  service.child.kill(signal)
  expect(await ended).toEqual([0, null])
  expect(service.output()).toContain('"msg":"stopped"')
})
