import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SettingsUnusable } from '../../src/settings/errors.ts'
import { openSettingsStore, settingsFile } from '../../src/settings/store.ts'
import { runScript } from '../scripts/run-script.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD, startWholeService } from '../support/service.ts'

test('names the first damage of the settings in one line', () => {
  const directory = testDirectory()
  openSettingsStore(directory).close()
  const file = settingsFile(directory)
  const sound = readFileSync(file)
  writeFileSync(file, sound.fill(7, 4_096, 12_288))
  expect(() => openSettingsStore(directory)).toThrow(
    /settings\.sqlite is damaged: Tree \d+ page \d+: [^\n]*\. Put back settings\.sqlite from a backup/,
  )
})

test('names damaged settings, and the service continues without them', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  cpSync(join(import.meta.dirname, '../recorded/data'), directory, { recursive: true })
  const file = settingsFile(directory)
  const sound = readFileSync(file)
  const noPages = Buffer.concat([sound.subarray(0, 100), Buffer.alloc(sound.length - 100, 7)])
  for (const damaged of [Buffer.from('no database at all'.repeat(20)), noPages]) {
    writeFileSync(file, damaged)
    const open = () => openSettingsStore(directory)
    expect(open).toThrow(SettingsUnusable)
    expect(open).toThrow(/settings\.sqlite is damaged: .*move it away, run npm run owner:reset-password/)
  }
  renameSync(file, `${file}.damaged`)
  const reset = await runScript('owner-reset-password', directory, [], { input: `${PASSWORD}\n` })
  expect(reset).toMatchObject({ code: 0 })
  const { client } = await startWholeService({ directory })
  expect((await client.get('/ready')).status).toBe(200)
})
