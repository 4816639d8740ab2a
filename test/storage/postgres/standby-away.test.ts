import { expect, test } from 'vitest'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import { createTables } from '../../../scripts/lib/engine.ts'
import { optionsFor, startDatabases } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { initNode } from '../../support/engine.ts'
import { said } from '../../support/writer.ts'

/** A statement that waits for its lock must not outlive its client by more than a moment. */
const MOST_CONNECTIONS = 8

test("while PostgreSQL's standby hangs, nothing is acknowledged, and no connections pile up", async () => {
  const { primary, standby } = await startDatabases()
  const options = optionsFor(primary, 'here')
  await createTables({ ...options, leaseMs: 8_000 })
  const holder = await initNode(testDirectory(), options)
  await holder.append([said('one')])
  standby.signal('SIGSTOP')
  const untilMs = performance.now() + 5_000
  let most = 0
  while (performance.now() < untilMs) {
    await expect(holder.append([said('meanwhile', { key: 'meanwhile' })])).rejects.toThrow(LedgerUnavailable)
    const { rows } = await primary.query(
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name LIKE 'delegate%'`,
    )
    most = Math.max(most, rows[0].count)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  expect(most).toBeLessThanOrEqual(MOST_CONNECTIONS)
  standby.signal('SIGCONT')
  await expect.poll(() => holder.append([said('meanwhile', { key: 'meanwhile' })])).toBeTruthy()
  await holder.append([said('two')])
  const { rows } = await primary.query('SELECT body FROM delegate.event ORDER BY seq')
  expect(rows.map(({ body }) => JSON.parse(body).text)).toEqual(['one', 'meanwhile', 'two'])
})
