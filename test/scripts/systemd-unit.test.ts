import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../http/client.ts'
import { hasProgram } from '../support/programs.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** An account without files here. */
const NOBODY = 65_534

const file = join(root, 'deploy/delegate.service')

/** The settings of the unit, each with all its values. */
function readUnit(): ReadonlyMap<string, readonly string[]> {
  const lines = [...readFileSync(file, 'utf8').matchAll(/^(\w+)=(.*)$/gm)]
  return new Map(
    [...Map.groupBy(lines, ([, name = '']) => name)].map(([name, all]) => [
      name,
      all.map(([, , value = '']) => value),
    ]),
  )
}

/** As /var/lib: everyone may read it, only root may write. */
function rootDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'delegate-unit-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  chmodSync(directory, 0o755)
  return directory
}

const unit = readUnit()
/** A package would have it in node_modules/.bin. */
const [program, ...args] = [
  join(root, 'scripts/delegate'),
  ...(unit.get('ExecStart')?.[0]?.split(' ').slice(1) ?? []),
]
/** Only root can run a command as another account, which must be able to read the checkout. */
const canFollow =
  process.getuid?.() === 0 &&
  spawnSync('cat', [join(root, 'package.json')], { uid: NOBODY, gid: NOBODY }).status === 0

test.skipIf(!canFollow)(
  'starts the service as in the unit on a read-only checkout, and ends on SIGTERM (needs root)',
  { tags: ['long'] },
  async () => {
    const state = rootDirectory()
    // As systemd creates them under /var/lib.
    for (const name of unit.get('StateDirectory')?.[0]?.split(' ') ?? []) {
      mkdirSync(join(state, name), { mode: Number.parseInt(unit.get('StateDirectoryMode')?.[0] ?? '755', 8) })
      chownSync(join(state, name), NOBODY, NOBODY)
    }
    const given = (unit.get('Environment') ?? []).map((line) => line.replace('/var/lib', state).split('=', 2))
    const child = spawn(program, args, {
      cwd: root,
      uid: NOBODY,
      gid: NOBODY,
      // systemd.exec(5): the PATH of system services, and HOME as the guide's useradd sets it.
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin',
        HOME: join(state, 'delegate-work'),
        PORT: '0',
        ...Object.fromEntries(given),
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
    const service = await Promise.race([
      expect.poll(() => /"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(output)?.[1]).toBeDefined(),
      exit.then((code) => expect.fail(`it ended with ${code}: ${output}`)),
    ]).then(() => createClient(Number(/"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(output)?.[1])))

    expect((await service.get('/health')).json).toEqual({ status: 'ok' })
    expect((await service.get('/install')).text).toContain('<title>')
    expect((statSync(join(state, 'delegate/ledger.sqlite')).mode & 0o777).toString(8)).toBe('600')
    expect(output).not.toMatch(/EACCES|EROFS|readable by other accounts/)
    child.kill('SIGTERM')
    await exit
    expect(output).toContain('"msg":"stopped"')
  },
)

test.skipIf(!hasProgram('systemd-analyze'))('is rated as safe by systemd', () => {
  // In tenths: below 2.5 of 10.
  const rating = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=25', file])
  expect([rating.status, String(rating.stderr)]).toEqual([0, ''])
})

test.skipIf(!canFollow)('says what to do if the pages are stale and cannot be built (needs root)', () => {
  const checkout = rootDirectory()
  for (const path of ['package.json', 'package-lock.json', 'scripts/build-web.ts', 'web/index.html'])
    cpSync(join(root, path), join(checkout, path))
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-web.ts'], {
    cwd: checkout,
    uid: NOBODY,
    gid: NOBODY,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, expect.stringContaining('npm run build:web')])
  expect(stderr).not.toContain('    at ')
})

test('says what to do if npm left out what builds the pages', () => {
  const checkout = rootDirectory()
  for (const path of ['package.json', 'package-lock.json', 'scripts/build-web.ts', 'web/index.html'])
    cpSync(join(root, path), join(checkout, path))
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-web.ts'], {
    cwd: checkout,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, expect.stringMatching(/cannot be built.*Node 20\.19/s)])
  expect(stderr).not.toContain('    at ')
})
