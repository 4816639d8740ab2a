import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerFile } from '../../../ledger/files.ts'
import { copyToPostgres, createTables } from '../../../scripts/lib/engine.ts'
import { fillDirectory, runScript } from '../../scripts/run-script.ts'
import { damagePages } from '../../support/damage.ts'
import { optionsFor, sharedDatabase } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { expectHonest, rowsIn } from '../../support/salvaging.ts'

const database = sharedDatabase()

test('fills a damaged ledger from its copy in PostgreSQL, which then has the fact, too', async () => {
  const options = optionsFor(database(), 'here', { leaseMs: 8_000, mode: 'follow' })
  const environment = { LEDGER_POSTGRES_URL: database().url }
  const directory = testDirectory()
  const target = join(testDirectory(), 'salvaged')
  const gone = join(testDirectory(), 'gone')
  await createTables(options)
  fillDirectory(directory, 300)
  const rows = rowsIn(directory)
  await copyToPostgres(directory, options)
  damagePages(ledgerFile(directory), [
    { kind: 'zeros', page: 10, other: 0 },
    { kind: 'noise', page: 15, other: 3 },
  ])
  const ran = await runScript('ledger-salvage', directory, [target, '--from', 'postgres'], { environment })
  expect([ran.code, ran.err]).toEqual([0, ''])
  expectHonest(target, rows, { missing: [], saved: rows.length })
  expect(await copyToPostgres(target, options)).toBe(1)

  const nothing = await runScript('ledger-salvage', testDirectory(), [gone, '--from', 'postgres'], {
    environment,
  })
  expect(nothing).toMatchObject({ code: 1, err: expect.stringMatching(/^The id of the ledger is lost/) })
})

test('copies a salvaged ledger with a gap to PostgreSQL, and from there to another machine', {
  tags: ['long'],
}, async () => {
  const options = optionsFor(database(), 'here', { leaseMs: 8_000, mode: 'follow' })
  const environment = { LEDGER_POSTGRES_URL: database().url }
  const directory = testDirectory()
  const [target, pulled] = ['salvaged', 'pulled'].map((name) => join(testDirectory(), name)) as [
    string,
    string,
  ]
  await createTables(options)
  fillDirectory(directory, 300)
  damagePages(ledgerFile(directory), [{ kind: 'zeros', page: 10, other: 0 }])
  expect((await runScript('ledger-salvage', directory, [target])).code).toBe(3)
  await copyToPostgres(target, options)
  const ledgerId = /^ledger (\w+)$/m.exec((await runScript('ledger-verify', target)).out)?.[1] ?? ''
  const ran = await runScript('ledger-pull', pulled, ['--ledger', ledgerId], { environment })
  expect([ran.code, ran.err]).toEqual([0, ''])
  expect((await runScript('ledger-verify', pulled)).out).toMatch(/INCOMPLETE.*\ngap {4}events \d+ to \d+/s)
})
