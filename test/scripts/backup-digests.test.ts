import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeBackup } from '../../scripts/lib/backup.ts'
import { openSettingsStore } from '../../src/settings/store.ts'
import { testDirectory } from '../support/directory.ts'
import { fillDirectory, flipByte, runScript, tamper } from './run-script.ts'

test.each<[string, (file: string) => void, string]>([
  [
    'were changed by a byte',
    (file) => flipByte(file, readFileSync(file).length - 20),
    'is not the file that was backed up',
  ],
  ['are gone', (file) => rmSync(file), 'The backup lacks settings.sqlite.'],
])('refuses to restore a backup whose settings %s', async (_what, change, reason) => {
  const directory = testDirectory()
  fillDirectory(directory, 3)
  const store = openSettingsStore(directory)
  store.writeSettings([{ key: 'TIMEZONE', value: '"UTC"', sealed: false }])
  store.close()
  const backup = join(testDirectory(), 'backup')
  await makeBackup(directory, backup, Date.now)
  const parent = testDirectory()
  change(join(backup, 'settings.sqlite'))
  const { code, err } = await runScript('restore', join(parent, 'data'), [backup])
  expect([code, err]).toEqual([1, expect.stringContaining(reason)])
  expect(readdirSync(parent)).toEqual([])
})

test('restores an older backup without a digest of the settings', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 3)
  const backup = join(testDirectory(), 'backup')
  const { settings: _settings, ...older } = await makeBackup(directory, backup, Date.now)
  writeFileSync(join(backup, 'backup.json'), JSON.stringify(older))
  expect((await runScript('restore', join(testDirectory(), 'data'), [backup])).code).toBe(0)
})

test('refuses a backup if the ledger lacks events that the views know', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  tamper(directory, 'DELETE FROM events WHERE seq > 11')
  const target = join(testDirectory(), 'backup')
  const { code, out, err } = await runScript('backup', directory, [target])
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(
    /^DAMAGED at event 12: 1 event is missing \(seq 12\): ledger\.head recorded event 12 at /,
  )
  expect(existsSync(target)).toBe(false)
})
