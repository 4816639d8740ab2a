import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { testDirectory } from './support/directory.ts'
import { startServiceProcess } from './torture/service-process.ts'

const PROCESS_MS = 60_000

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
