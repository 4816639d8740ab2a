import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../../../ledger/files.ts'
import { createReader } from '../../../ledger/reader.ts'
import { copyToPostgres, createTables } from '../../../scripts/lib/engine.ts'
import type { EngineStatus } from '../../../src/storage/messages.ts'
import { optionsFor, startDatabase, startDatabases } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { openTestStorage } from '../../support/storage.ts'
import { said } from '../../support/writer.ts'

test('copies the settings before there is any event', async () => {
  const database = await startDatabase()
  const directory = testDirectory()
  const options = optionsFor(database, 'here')
  await createTables(options)
  await copyToPostgres(directory, options)
  await openTestStorage(directory, { postgres: options })
  new Database(join(directory, 'settings.sqlite')).exec('CREATE TABLE password (hash TEXT)').close()

  const paths = async () => (await database.query('SELECT path FROM delegate.file')).rows
  await expect.poll(paths).toEqual([{ path: 'settings.sqlite' }])
})

test('a standby takes over nothing that only the primary of PostgreSQL has', async () => {
  const { primary, standby } = await startDatabases()
  const [first, second] = [testDirectory(), testDirectory()]
  // Longer than the test, so that nobody takes over.
  const long = { leaseMs: 60_000 }
  const here = optionsFor(primary, 'here', long)
  await createTables(here)
  await copyToPostgres(first, here)
  const holder = await openTestStorage(first, { postgres: here })
  await holder.append([said('one')])
  const waiting: EngineStatus[] = []
  const opening = openTestStorage(second, {
    postgres: optionsFor(primary, 'there', long),
    onStandby: (engine) => waiting.push(engine),
  })
  const db = await expect
    .poll(() => waiting.at(-1))
    .toMatchObject({ lag: 0 })
    .then(() => openLedgerReadOnly(second))
  const ledger = createReader(db)
  expect(ledger.head().seq).toBe(1)

  await standby.kill()
  const appended = holder.append([said('two')])
  const cancelled = async () =>
    (await primary.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`))
      .rowCount
  await expect.poll(cancelled).toBeGreaterThan(0)
  const { rows } = await primary.query('SELECT head_seq::int AS head FROM delegate.ledger')
  expect(rows).toEqual([{ head: 2 }])
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(ledger.head().seq).toBe(1)

  await standby.start()
  expect((await appended).status).toBe('appended')
  await expect.poll(() => ledger.head().seq).toBe(2)
  db.close()
  await holder.close()
  await opening
})
