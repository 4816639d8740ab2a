import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { diskRemedies } from '../../../ledger/causes.ts'
import { ledgerFile, viewsFile } from '../../../ledger/files.ts'
import { checkStores, placesOf } from '../../../src/operations/readiness/stores.ts'
import { settingsFile, WITHOUT_SETTINGS } from '../../../src/settings/store.ts'
import { testDirectory } from '../../support/directory.ts'
import { startWholeService } from '../../support/service.ts'

/** The directory of a stopped service with a few events, and a check of it. */
async function stopped() {
  const directory = testDirectory()
  const { client, stop } = await startWholeService({ directory })
  await client.post('/api/chat', { content: 'Remember that my cat is called Otto.' })
  await stop()
  const places = placesOf(directory)
  return { directory, check: () => checkStores({ directory, places, hadKey: false }) }
}

function damage(file: string): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(statSync(file).size - 4096, 0xa5), 0, undefined, 4096)
  closeSync(descriptor)
}

test('finds nothing wrong with sound stores', async () => {
  expect((await stopped()).check()).toMatchObject({ ledger: null, views: null, settings: null })
})

test('reports a damaged store with its remedy, and views as being rebuilt', async () => {
  const { directory, check } = await stopped()
  for (const file of [ledgerFile(directory), viewsFile(directory), settingsFile(directory)]) damage(file)
  const { ledger, views, settings } = check()
  expect(ledger).toContain(diskRemedies.damaged)
  expect(settings).toContain(WITHOUT_SETTINGS)
  expect(settings).not.toContain('ledger')
  expect(views).toMatch(/damaged.*rebuilt from the ledger/)
  expect(views).not.toContain('backup')
})

test("reports an event that was changed behind SQLite's back", async () => {
  const { directory, check } = await stopped()
  const db = new Database(ledgerFile(directory))
  db.exec('DROP TRIGGER IF EXISTS events_no_update')
  for (const { name } of db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all())
    db.exec(`DROP TRIGGER "${name}"`)
  db.exec(`UPDATE events SET facts = '{"x":1}' WHERE seq = (SELECT max(seq) FROM events)`)
  db.close()
  expect(check().ledger).toMatch(/event \d+ is not what was written/)
})

test('reports a lock that another program holds', async () => {
  const { directory, check } = await stopped()
  const blocker = new Database(settingsFile(directory))
  blocker.exec('BEGIN EXCLUSIVE')
  expect(check().settings).toContain(diskRemedies.locked)
  blocker.close()
})
