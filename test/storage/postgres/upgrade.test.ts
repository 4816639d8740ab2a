import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyToPostgres, createTables } from '../../../scripts/lib/engine.ts'
import { optionsFor, startDatabase } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { openTestStorage } from '../../support/storage.ts'
import { said } from '../../support/writer.ts'

test('backs up before an upgrade in follow mode, and not on a machine that may be a standby', {
  tags: ['long'],
}, async () => {
  const database = await startDatabase()
  const here = optionsFor(database, 'here')
  await createTables(here)
  const directory = testDirectory()
  const local = await openTestStorage(directory)
  await local.append([said('one')])
  await local.close()
  await copyToPostgres(directory, here)
  const places = { database: 'settings.sqlite', directory: 'adaptations' }
  const upgrade = { build: { version: '9.0.0', commit: null, settings: 1 }, places, withoutBackup: false }
  for (const mode of ['commit', 'follow'] as const) {
    rmSync(join(directory, 'build.json'), { force: true })
    const notices: string[] = []
    const onNotice = (message: string) => void notices.push(message)
    const storage = await openTestStorage(directory, { postgres: { ...here, mode }, upgrade, onNotice })
    await storage.close()
    expect(notices).toContain('upgrading')
    expect([mode, existsSync(join(directory, 'upgrades'))]).toEqual([mode, mode === 'follow'])
  }
})
