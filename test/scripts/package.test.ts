// @module-tag long

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../http/client.ts'
import { testDirectory } from '../support/directory.ts'
import { CLEAN_ENVIRONMENT } from './run-script.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

test('a package installs elsewhere, starts, is set up, and its commands work', async () => {
  const [home, data] = [testDirectory(), testDirectory()]
  const env = { ...CLEAN_ENVIRONMENT, HOME: home, DATA_DIR: data, PORT: '0' }
  // npm keeps the environment of the tests, which may name the registry.
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', home], { cwd: root })
  const tarball = join(home, packed.toString().trim())
  execFileSync('npm', ['install', '--omit=dev', '--prefer-offline', tarball], { cwd: home, timeout: 120_000 })
  const delegate = join(home, 'node_modules/.bin/delegate')

  const service = spawn(delegate, ['start'], { cwd: home, env })
  onTestFinished(() => void service.kill('SIGKILL'))
  let output = ''
  service.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  await expect.poll(() => output).toMatch(/"msg":"listening"/)
  const [, port, setupCode] = /http:\/\/\S+:(\d+)\/install#([\w-]+)/.exec(output) ?? []
  const client = createClient(Number(port))
  const installed = await client.post('/api/install', { password: 'tulip harbor seven lemons', setupCode })
  expect(installed.status).toBe(201)
  const chat = await client.post('/api/chat', { content: 'What is 17% of 80?' })
  expect(chat.json.reply.text).toContain('13.6')
  expect((await client.get('/')).text).toContain('<title>Delegate')
  const backup = join(testDirectory(), 'backup')
  expect(execFileSync(delegate, ['backup', backup], { env }).toString()).toContain('Backed up and verified')
  service.kill('SIGTERM')
  expect((await once(service, 'exit'))[0]).toBe(0)
  expect(execFileSync(delegate, ['verify'], { env }).toString()).toContain('The ledger is sound')
  expect(execFileSync(delegate, ['replay'], { env }).toString()).toContain('The views match the ledger.')
})
