import { expect, test } from 'vitest'
import { copyToPostgres, createTables } from '../../../scripts/lib/engine.ts'
import type { EngineStatus } from '../../../src/storage/messages.ts'
import { optionsFor, startDatabase, startDatabases } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { openTestStorage } from '../../support/storage.ts'
import { said } from '../../support/writer.ts'

test('commits in PostgreSQL, and a standby takes over what was acknowledged', async () => {
  const { primary } = await startDatabases()
  const [first, second] = [testDirectory(), testDirectory()]
  const here = optionsFor(primary, 'here')
  await createTables(here)
  expect(await copyToPostgres(first, here)).toBe(0)

  const holder = await openTestStorage(first, { postgres: here })
  await holder.append([said('one')])
  await holder.append([said('two')])
  const { rows } = await primary.query('SELECT seq, body FROM delegate.event ORDER BY seq')
  expect(rows.map(({ body }) => JSON.parse(body).text)).toEqual(['one', 'two'])
  expect(await holder.status()).toMatchObject({ engine: { role: 'holder', epoch: 2, lag: 0, fault: null } })

  const waiting: EngineStatus[] = []
  const opening = openTestStorage(second, {
    postgres: optionsFor(primary, 'there'),
    onStandby: (engine) => waiting.push(engine),
  })
  await expect.poll(() => waiting.at(-1)).toMatchObject({ role: 'standby', holder: 'here', lag: 0 })
  await holder.append([said('three')])
  await holder.close()
  const next = await opening
  expect(
    next.ledger.readAfter(0, 10).map((event) => event.type === 'chat.message.received' && event.body?.text),
  ).toEqual(['one', 'two', 'three'])
  await next.append([said('four')])
  expect(next.mayAct()).toBe(true)
  expect(next.ledger.head().seq).toBe(4)
})

test('lets an append wait while PostgreSQL restarts', async () => {
  const database = await startDatabase()
  const directory = testDirectory()
  const here = optionsFor(database, 'here', { leaseMs: 60_000 })
  await createTables(here)
  await copyToPostgres(directory, here)
  const holder = await openTestStorage(directory, { postgres: here })
  await database.kill()
  const appending = [holder.append([said('one')])]
  appending.push(holder.append([said('two')]))
  await database.start()
  expect((await Promise.all(appending)).map(({ status }) => status)).toEqual(['appended', 'appended'])
  const { rows } = await database.query('SELECT body FROM delegate.event ORDER BY seq')
  expect(rows.map(({ body }) => JSON.parse(body).text)).toEqual(['one', 'two'])
})
