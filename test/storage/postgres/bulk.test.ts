import { expect, test } from 'vitest'
import { newSalt, toDraft } from '../../../ledger/codec.ts'
import { openLedger } from '../../../ledger/ledger.ts'
import { verifyChain } from '../../../ledger/verify.ts'
import { copyToPostgres } from '../../../scripts/lib/engine.ts'
import { catchUp } from '../../../src/storage/postgres/catch-up.ts'
import { createRemote } from '../../../src/storage/postgres/remote.ts'
import { timelineEvents } from '../../bench/timeline.ts'
import { optionsFor, sharedDatabase } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { newId } from '../../support/writer.ts'

const EVENTS = 30_000

const database = sharedDatabase()

test('a ledger of many events is copied to PostgreSQL, and from there to an empty directory', {
  tags: ['long'],
}, async () => {
  const options = optionsFor(database(), 'here', { leaseMs: 8_000 })
  const [here, there] = [testDirectory(), testDirectory()]
  const ledger = openLedger(here, newId)
  const context = { newId, newSalt, at: new Date().toISOString() }
  const drafts = timelineEvents(EVENTS).map((event) => toDraft(event, context))
  ledger.commit([[...drafts]])
  const ledgerId = ledger.id()
  const head = ledger.head()
  ledger.close()

  expect(await copyToPostgres(here, options)).toBe(EVENTS)
  // Until PostgreSQL has counted the events, it sorts all that follow a page to read that page.
  const counted = await database().query(
    "SELECT reltuples FROM pg_class WHERE oid = 'delegate.event'::regclass",
  )
  expect(counted.rows).toEqual([{ reltuples: EVENTS }])
  const copy = openLedger(there, () => ledgerId)
  const remote = createRemote(options, ledgerId)
  await catchUp(remote, { ledger: copy, apply: copy.importRows })
  expect(verifyChain(copy)).toEqual(head)
  remote.close()
  copy.close()
})
