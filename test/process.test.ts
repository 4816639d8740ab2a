import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { ledgerFile } from '../ledger/files.ts'
import { settingsFile } from '../src/settings/store.ts'
import { createClient } from './http/client.ts'
import { digests, testDirectory } from './support/directory.ts'
import { PASSWORD } from './support/service.ts'
import { startServiceProcess } from './torture/service-process.ts'

const PROCESS_MS = 60_000

/** All that a service says which does not come to listen. */
async function refusal(directory: string, environment: Readonly<Record<string, string>>) {
  const service = startServiceProcess(directory, { LOG_LEVEL: 'silent', ...environment })
  const [code] = await once(service.child, 'close')
  return { code, said: service.output() }
}

test('where it cannot listen it says so in a sentence', { timeout: PROCESS_MS }, async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const address = other.address()
  const port = String(typeof address === 'object' ? address?.port : address)
  expect(await refusal(testDirectory(), { PORT: port })).toEqual({
    code: 1,
    said: `The service cannot listen on HOST and PORT: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
  })
  expect(await refusal(testDirectory(), { HOST: '192.0.2.1' })).toEqual({
    code: 1,
    said: expect.stringMatching(/^The service cannot listen on HOST and PORT: .*192\.0\.2\.1.*\n$/),
  })
})

test('where the data directory cannot be one it says so in a sentence', { timeout: PROCESS_MS }, async () => {
  const file = join(testDirectory(), 'file')
  writeFileSync(file, 'mine')
  for (const directory of [file, join(file, 'below')])
    expect(await refusal(directory, {})).toEqual({
      code: 1,
      said: expect.stringMatching(/^DATA_DIR cannot be used: ENOTDIR: [^\n]*\n$/),
    })
  const odd = testDirectory()
  mkdirSync(join(odd, 'lock.sqlite'))
  expect(await refusal(odd, {})).toEqual({
    code: 1,
    said: expect.stringMatching(/^DATA_DIR cannot be used: [^\n]*\n$/),
  })
})

/** A directory as a service left it that was told secrets. */
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

test('with another key than its secrets were sealed with it does not start, and says why', {
  timeout: PROCESS_MS,
}, async () => {
  const directory = await directoryWithSecrets()
  const [key, sealed] = [join(directory, 'secret.key'), settingsFile(directory)]
  const before = [readFileSync(key), readFileSync(sealed)] as const
  writeFileSync(key, `${Buffer.alloc(32, 7).toString('base64url')}\n`)
  const { code, said } = await refusal(directory, {})
  expect(code).toBe(1)
  expect(said).toMatch(/^[^\n]*secret\.key[^\n]*\n$/)
  expect(said).not.toContain('canary')
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
])(
  'with a damaged %s of the ledger it does not start, says so, and touches no file',
  {
    timeout: PROCESS_MS,
  },
  async (what, damage) => {
    const directory = testDirectory()
    const service = startServiceProcess(directory)
    onTestFinished(() => service.kill())
    const client = createClient(await service.listening)
    await client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode() })
    await client.post('/api/notes', { title: 'Tea', content: 'Green. '.repeat(2_000) })
    // What is only in the log stays there.
    if (what === 'log') await service.kill()
    else await service.stop()
    damage(directory)
    const before = keptOf(directory)
    const { code, said } = await refusal(directory, {})
    expect(code).toBe(1)
    expect(said).toMatch(/^[^\n]*ledger\.sqlite\S* is damaged: /)
    expect(said).not.toMatch(/Green|^ +at /m)
    expect(keptOf(directory)).toEqual(before)
  },
)

/** What must not change where a start is refused: all but the lock, which is nobody's data. */
function keptOf(directory: string) {
  return Object.entries(digests(directory)).filter(([file]) => !file.includes('lock.sqlite'))
}

function overwrite(file: string, offset: number, length: number): void {
  const bytes = readFileSync(file)
  bytes.fill(0xa5, offset, offset + length)
  writeFileSync(file, bytes)
}

test('what npm start started stops with it', { timeout: PROCESS_MS }, async () => {
  const npm = spawn('npm', ['start'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, DATA_DIR: testDirectory(), PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // All that it started: the group stays where npm ends before the service.
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
  await expect.poll(() => output, { timeout: PROCESS_MS }).toContain('"msg":"listening"')
  const ended = once(npm, 'exit')
  npm.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(output).toContain('"msg":"stopped"')
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a second %s does not cut short what the first began',
  { timeout: PROCESS_MS },
  async (signal) => {
    const service = startServiceProcess(testDirectory())
    await service.listening
    const ended = once(service.child, 'exit')
    service.child.kill(signal)
    await expect.poll(service.output, { timeout: PROCESS_MS, interval: 1 }).toContain('"msg":"stopping"')
    service.child.kill(signal)
    expect(await ended).toEqual([0, null])
    expect(service.output()).toContain('"msg":"stopped"')
  },
)
