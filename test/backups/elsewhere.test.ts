// @module-tag long

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runScript } from '../scripts/run-script.ts'
import { testDirectory } from '../support/directory.ts'
import { hasProgram } from '../support/programs.ts'
import { factsOf, filesIn, PASSPHRASE, startBacking, untilFacts } from './harness.ts'

const hasRclone = hasProgram('rclone')

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Has rclone serve a directory, as another machine would. Ends with the test. */
function serve(protocol: 'webdav' | 'sftp', directory: string, port: number): ChildProcess {
  const options = ['--addr', `127.0.0.1:${port}`, '--user', 'owner', '--pass', 'secret']
  const child = spawn('rclone', ['serve', protocol, directory, ...options], { stdio: 'ignore' })
  onTestFinished(() => void child.kill())
  return child
}

test.runIf(hasRclone).each([
  ['webdav', (port: number) => `:webdav,url="http://127.0.0.1:${port}",user=owner,pass=$PASS:`],
  ['sftp', (port: number) => `:sftp,host=127.0.0.1,port=${port},user=owner,pass=$PASS:`],
] as const)(
  'copies backups and their removal by rclone to %s, from where they restore',
  async (protocol, remoteAt) => {
    const elsewhere = join(testDirectory(), 'elsewhere')
    mkdirSync(elsewhere)
    const port = await freePort()
    serve(protocol, elsewhere, port)
    const pass = execFileSync('rclone', ['obscure', 'secret'], { encoding: 'utf8' }).trim()
    const remote = remoteAt(port).replace('$PASS', pass)
    const service = await startBacking({
      environment: {
        // The server may need a moment.
        BACKUP_COMMAND: `rclone sync --config /dev/null --low-level-retries 50 --retries 5 --retries-sleep 1s "$BACKUP_DIRECTORY" '${remote}'`,
        PATH: process.env.PATH ?? '',
      },
    })
    await untilFacts(service, 'backup.copied')
    expect(filesIn(elsewhere)).toEqual(filesIn(service.target))

    await service.pass(5_000)
    expect((await service.client.post('/api/backups')).status).toBe(202)
    const [, second] = await untilFacts(service, 'backup.made', 2)
    await untilFacts(service, 'backup.copied', 2)
    await expect.poll(() => readdirSync(elsewhere)).toEqual([second?.name])
    expect(await factsOf(service, 'backup.failed')).toEqual([])

    const restored = join(testDirectory(), 'data')
    const environment = { BACKUP_PASSPHRASE: PASSPHRASE }
    const { code, out } = await runScript('restore', restored, [join(elsewhere, String(second?.name))], {
      environment,
    })
    expect([code, out]).toEqual([0, expect.stringContaining(String(second?.headHash))])
  },
)
