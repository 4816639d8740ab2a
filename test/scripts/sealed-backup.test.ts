import { execFileSync } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Encrypter } from 'age-encryption'
import { create } from 'tar'
import { expect, test } from 'vitest'
import { makeBackup } from '../../scripts/lib/backup.ts'
import { openSealedBackup, sealBackup } from '../../scripts/lib/sealed-backup.ts'
import { openSettingsStore } from '../../src/settings/store.ts'
import { filesHolding, testDirectory } from '../support/directory.ts'
import { hasProgram } from '../support/programs.ts'
import { fillDirectory, flipByte, headOf, runScript } from './run-script.ts'

const PASSPHRASE = 'seven grey herons'
const hasAge = hasProgram('age')

const digestOf = (file: string) => hash('sha256', readFileSync(file))

/** A backup of a small service, as a directory and as a file. */
async function seal() {
  const dataDir = testDirectory()
  fillDirectory(dataDir, 30)
  const store = openSettingsStore(dataDir)
  store.writeSettings([{ key: 'TIMEZONE', value: '"UTC"', sealed: false }])
  store.close()
  mkdirSync(join(dataDir, 'adaptations'))
  writeFileSync(join(dataDir, 'adaptations', 'brief.md'), '# Brief\n\nBe brief.\n')
  const directory = join(testDirectory(), 'backup')
  const manifest = await makeBackup(dataDir, directory, Date.now)
  const target = testDirectory()
  const file = join(target, 'delegate-2026-01-02T030405Z.backup')
  const sealed = await sealBackup(directory, file, PASSPHRASE, 10)
  return { dataDir, directory, manifest, target, file, sealed }
}

const restore = (file: string, dataDir: string, passphrase = PASSPHRASE) =>
  runScript('restore', dataDir, [file], { environment: { BACKUP_PASSPHRASE: passphrase } })

test('restores an encrypted backup to the same head, with the passphrase from the environment or from standard input', async () => {
  const { dataDir, manifest, target, file, sealed } = await seal()
  expect(readdirSync(target)).toEqual(['delegate-2026-01-02T030405Z.backup'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(sealed.bytes).toBe(statSync(file).size)
  expect(digestOf(file)).toBe(sealed.digest)
  expect(filesHolding(target, 'needle')).toEqual([])
  await expect(sealBackup(dataDir, file, PASSPHRASE, 10)).rejects.toThrow('There is already a file')

  const restored = join(testDirectory(), 'data')
  const { code, out, err } = await restore(file, restored)
  expect([code, err]).toEqual([0, ''])
  expect(headOf(out)).toContain(`${manifest.events} ${manifest.headHash}`)
  expect(readFileSync(join(restored, 'adaptations', 'brief.md'), 'utf8')).toContain('Be brief.')
  expect(readdirSync(restored).sort()).toEqual([
    'adaptations',
    'ledger.sqlite',
    'lock.sqlite',
    'settings.sqlite',
  ])

  const again = join(testDirectory(), 'data')
  expect((await runScript('restore', again, [file], { input: `${PASSPHRASE}\n` })).code).toBe(0)
})

test.runIf(hasAge)('is a tar archive that age opens', async () => {
  const { directory, file } = await seal()
  // age asks for a passphrase only at a terminal.
  const typed = `import pty, sys, os
pid, fd = pty.fork()
if pid == 0: os.execvp('age', ['age', '-d', '-o', sys.argv[2], sys.argv[1]])
seen = b''
while b'passphrase' not in seen: seen += os.read(fd, 1024)
os.write(fd, sys.argv[3].encode() + b'\\n')
try:
  while os.read(fd, 1024): pass
except OSError: pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`
  const opened = testDirectory()
  const archive = join(opened, 'archive.tar.gz')
  execFileSync('python3', ['-c', typed, file, archive, PASSPHRASE])
  const target = join(opened, 'opened')
  mkdirSync(target)
  execFileSync('tar', ['-xzf', archive, '-C', target])
  for (const name of ['backup.json', 'ledger.sqlite', 'settings.sqlite', 'adaptations/brief.md'])
    expect(digestOf(join(target, name))).toBe(digestOf(join(directory, name)))
})

test.each<[string, (file: string) => void, string, string]>([
  ['with another passphrase', () => undefined, 'eight grey herons', 'The passphrase is not the one'],
  ['without a passphrase', () => undefined, '', 'No passphrase was given.'],
  ['with a changed byte', (file) => flipByte(file, statSync(file).size - 200), PASSPHRASE, 'is damaged'],
  ['with a changed header', (file) => flipByte(file, 5), PASSPHRASE, 'is damaged'],
  ['that was cut off', (file) => truncateSync(file, statSync(file).size - 1), PASSPHRASE, 'is damaged'],
  ['that is empty', (file) => truncateSync(file, 0), PASSPHRASE, 'is damaged'],
])('refuses an encrypted backup %s, and leaves nothing behind', async (_what, change, passphrase, reason) => {
  const { file } = await seal()
  change(file)
  const parent = testDirectory()
  const { code, out, err } = await restore(file, join(parent, 'data'), passphrase)
  expect([code, out, err]).toEqual([1, '', expect.stringContaining(reason)])
  expect(err.trim().split('\n')).toHaveLength(1)
  expect(readdirSync(parent)).toEqual([])
})

test('names the file to restore, given the directory of encrypted backups', async () => {
  const { target } = await seal()
  const { code, err } = await restore(target, join(testDirectory(), 'data'), PASSPHRASE)
  expect([code, err]).toEqual([1, expect.stringContaining('To restore an encrypted backup, name its file.')])
})

test('has written every file when it is done', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  for (const name of ['backup.json', 'ledger.sqlite', 'settings.sqlite'])
    writeFileSync(join(directory, name), randomBytes(4_000_000))
  const file = join(testDirectory(), 'x.backup')
  await sealBackup(directory, file, PASSPHRASE, 10)
  for (let round = 0; round < 5; round += 1) {
    const opened = join(testDirectory(), 'opened')
    await openSealedBackup(file, opened, PASSPHRASE)
    for (const name of ['backup.json', 'ledger.sqlite', 'settings.sqlite'])
      expect([name, digestOf(join(opened, name))]).toEqual([name, digestOf(join(directory, name))])
  }
})

test('unpacks nothing but the files of a backup', async () => {
  const { directory } = await seal()
  writeFileSync(join(directory, 'secret.key'), 'k')
  symlinkSync('/etc/passwd', join(directory, 'adaptations', 'link.md'))
  mkdirSync(join(directory, 'adaptations', 'deep'))
  writeFileSync(join(directory, 'adaptations', 'deep', 'x.md'), 'x')
  const encrypter = new Encrypter()
  encrypter.setPassphrase(PASSPHRASE)
  const names = ['backup.json', 'secret.key', 'adaptations', '../outside']
  writeFileSync(join(directory, '..', 'outside'), 'x')
  const packed = create({ cwd: directory, gzip: true, preservePaths: true, sync: true }, names).read()
  const file = join(testDirectory(), 'x.backup')
  writeFileSync(file, await encrypter.encrypt(new Uint8Array(packed ?? [])))
  const parent = testDirectory()
  await openSealedBackup(file, join(parent, 'opened'), PASSPHRASE)
  expect(readdirSync(parent)).toEqual(['opened'])
  expect(readdirSync(join(parent, 'opened'), { recursive: true }).sort()).toEqual([
    'adaptations',
    'adaptations/brief.md',
    'backup.json',
  ])
  expect(existsSync(join(parent, 'outside'))).toBe(false)
})
