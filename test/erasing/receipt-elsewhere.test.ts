import { expect, onTestFinished, test } from 'vitest'
import type { EngineStatus } from '../../src/storage/messages.ts'
import { optionsFor, startDatabase } from '../support/database.ts'
import { testDirectory } from '../support/directory.ts'
import { openErasing } from '../support/erasing.ts'
import type { Postgres } from '../support/postgres.ts'
import { openTestQueries } from '../support/queries.ts'
import { shareLedger } from '../support/shared-ledger.ts'
import { openTestStorage } from '../support/storage.ts'
import { said } from '../support/writer.ts'

/** Storage in this mode. `erase` erases a new message, and resolves to the facts of the receipt. */
async function startErasing(database: Postgres, mode: 'follow' | 'commit') {
  const directory = testDirectory()
  await shareLedger(database, directory, mode)
  const storage = await openTestStorage(directory, {
    postgres: optionsFor(database, 'here', { mode, leaseMs: 8_000 }),
  })
  const queries = openTestQueries(directory)
  const { erasures } = openErasing(storage, queries)
  onTestFinished(async () => {
    await erasures.close()
    await queries.close()
    await storage.close()
  })
  const erase = async (text: string) => {
    const appended = await storage.append([said(text)])
    if (appended.status !== 'appended') throw new Error('not appended')
    await erasures.eraseNow({ kind: 'message', id: String(appended.events.at(-1)?.seq) })
    const [receipt] = storage.ledger.readAfter(storage.ledger.head().seq - 1, 1)
    return receipt?.type === 'erasure.completed' ? receipt.facts : receipt
  }
  return { storage, erase }
}

test('a receipt names a machine that has not reported, until it has, and PostgreSQL by what it has', async () => {
  const database = await startDatabase()
  const { storage, erase } = await startErasing(database, 'commit')
  expect(await erase('apricot')).toMatchObject({ erased: 1, postgres: { erased: true, nodes: [] } })

  const { rows } = await database.query('SELECT ledger_id AS id FROM delegate.ledger')
  await database.query(`INSERT INTO delegate.node VALUES ($1, 'there', 3, 0, now())`, [rows[0].id])
  expect(await erase('quince')).toMatchObject({ erased: 1, postgres: { erased: true, nodes: ['there'] } })

  const seen: EngineStatus[] = []
  const waiting = openTestStorage(testDirectory(), {
    postgres: optionsFor(database, 'there', { leaseMs: 8_000 }),
    onStandby: (engine) => seen.push(engine),
  })
  await expect.poll(() => seen.at(-1)?.lag).toBe(0)
  expect(await erase('medlar')).toMatchObject({ erased: 1, postgres: { erased: true, nodes: [] } })
  // Takes over, which ends its wait.
  await storage.close()
  await waiting
})

test('a receipt does not claim that PostgreSQL has erased what it was not reached with', async () => {
  const database = await startDatabase()
  const { erase } = await startErasing(database, 'follow')
  expect(await erase('apricot')).toMatchObject({ erased: 1, postgres: { erased: true, nodes: [] } })
  await database.kill()
  expect(await erase('quince')).toMatchObject({ erased: 1, postgres: { erased: false, nodes: [] } })
})
