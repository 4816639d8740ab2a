import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ledgerFile } from '../../../ledger/files.ts'
import { copyToPostgres, promote, pull } from '../../../scripts/lib/engine.ts'
import type { PostgresOptions } from '../../../src/storage/postgres/options.ts'
import { optionsFor, sharedDatabase } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { initNode, openNode, readState, untilStateSent, writeState } from '../../support/engine.ts'
import { openProxy } from '../../support/proxy.ts'
import { said } from '../../support/writer.ts'

const database = sharedDatabase()
const follow = (more: Partial<PostgresOptions> = {}) =>
  optionsFor(database(), 'here', { mode: 'follow', leaseMs: 5_000, ...more })

test('what is appended, set and adapted is in PostgreSQL within a second, and after an outage', async () => {
  const proxy = await openProxy(database().port)
  onTestFinished(() => proxy.close())
  const directory = testDirectory()
  const storage = await initNode(directory, follow({ url: proxy.url }))
  const ledgerId = storage.ledger.id()
  const inPostgres = async () => {
    const query = (text: string) => database().query(text, [ledgerId])
    const { rows } = await query('SELECT count(*)::int AS events FROM delegate.event WHERE ledger_id = $1')
    const { rows: files } = await query('SELECT path FROM delegate.file WHERE ledger_id = $1 ORDER BY path')
    return { events: rows[0].events, files: files.map(({ path }) => path) }
  }

  writeState(directory, 'plain')
  await storage.append([said('one'), said('two')])
  await expect
    .poll(inPostgres, { timeout: 2_000 })
    .toEqual({ events: 2, files: ['adaptations/tone.md', 'settings.sqlite'] })

  proxy.isDeaf = true
  proxy.cut()
  await storage.append([said('three')])
  await expect
    .poll(() => storage.status())
    .toMatchObject({
      ledgerError: null,
      engine: {
        mode: 'follow',
        lag: 1,
        behindSince: expect.any(String),
        fault: expect.stringMatching('answer'),
      },
    })
  proxy.isDeaf = false
  await expect
    .poll(() => storage.status())
    .toMatchObject({ engine: { lag: 0, behindSince: null, fault: null } })
  expect(await inPostgres()).toMatchObject({ events: 3 })
  expect(storage.warnings.map(({ message }) => message)).toEqual([
    'the ledger could not be copied to PostgreSQL',
    'PostgreSQL has the ledger again',
  ])
})

test('a file that cannot be read does not keep the ledger from being copied', async () => {
  const directory = testDirectory()
  await copyToPostgres(directory, follow())
  writeFileSync(join(directory, 'settings.sqlite'), 'not a database'.repeat(100))
  const storage = await openNode(directory, follow())
  await storage.append([said('one')])
  await expect
    .poll(() => storage.status())
    .toMatchObject({ engine: { lag: 0, fault: expect.stringMatching('not a database') } })
})

test('another machine pulls the ledger with all that belongs to it, and this one stops for good', async () => {
  const [here, there] = [testDirectory(), join(testDirectory(), 'new')]
  writeState(here, 'old')
  const storage = await initNode(here, follow())
  await storage.append([said('one')])
  writeState(here, 'new')
  await expect.poll(() => storage.status()).toMatchObject({ engine: { lag: 0 } })
  await untilStateSent(database(), storage.ledger.id(), 'new')

  const elsewhere = { ...follow(), node: 'there' }
  expect(await pull(there, elsewhere, storage.ledger.id())).toMatchObject({ seq: 1 })
  await expect.poll(() => storage.fatal.map(({ name }) => name)).toEqual(['EpochMoved'])
  await storage.close()
  await expect(openNode(here, follow())).rejects.toThrow(
    'there has pulled this ledger, so this machine must not continue.',
  )
  expect(readState(there)).toEqual({ settings: ['old', 'new'], adaptation: 'new', modes: [0o600, 0o600] })

  const next = await openNode(there, elsewhere)
  await next.append([said('two')])
  await expect.poll(() => next.status()).toMatchObject({ engine: { lag: 0, fault: null } })
})

test('an empty directory is refused instead of becoming another ledger', async () => {
  const directory = testDirectory()
  await expect(openNode(directory, follow())).rejects.toThrow('This directory has no ledger.')
  expect(existsSync(ledgerFile(directory))).toBe(false)
})

test('there is no lease to end, so a promotion does not stop the machine', async () => {
  const directory = testDirectory()
  const storage = await initNode(directory, follow())
  await expect(promote(directory, follow())).rejects.toThrow('No machine holds the lease.')
  await storage.append([said('one')])
  await expect.poll(() => storage.status()).toMatchObject({ engine: { lag: 0, fault: null } })
  expect(storage.fatal).toEqual([])
})
