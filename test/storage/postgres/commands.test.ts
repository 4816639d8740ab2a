import { expect, test } from 'vitest'
import { copyToPostgres, createTables } from '../../../scripts/lib/engine.ts'
import { runScript } from '../../scripts/run-script.ts'
import { optionsFor, sharedDatabase, startDatabases } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'

const database = sharedDatabase()

test('says in a sentence what the account may not do', async () => {
  await database().query('CREATE ROLE stranger LOGIN')
  const environment = { LEDGER_POSTGRES_URL: database().url.replace('postgres@', 'stranger@') }
  expect(await runScript('engine', testDirectory(), ['init'], { environment })).toEqual({
    code: 1,
    out: 'The tables are up to date.\n',
    err: 'PostgreSQL refused this: permission denied for schema delegate.\n',
  })
})

test('says in a sentence that a commit is not confirmed', { tags: ['long'] }, async () => {
  const { primary, standby } = await startDatabases()
  const options = optionsFor(primary, 'here', { leaseMs: 8_000 })
  await createTables(options)
  const directory = testDirectory()
  await copyToPostgres(directory, options)
  standby.signal('SIGSTOP')
  const environment = { LEDGER_POSTGRES_URL: primary.url }
  const ended = runScript('engine', directory, ['detach'], { environment })
  const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
  await expect.poll(async () => (await primary.query(cancel)).rowCount).toBeGreaterThan(0)
  const { code, err } = await ended
  standby.signal('SIGCONT')
  expect([code, err]).toEqual([
    1,
    'PostgreSQL did not confirm what was written, so it may be there or not. ' +
      'If it has a synchronous standby, see that it runs. Then run this command again.\n',
  ])
})
