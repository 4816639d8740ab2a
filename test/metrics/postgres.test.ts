import { expect, test } from 'vitest'
import { startDatabase } from '../support/database.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { postgresEnvironment, shareLedger } from '../support/shared-ledger.ts'
import { parseExposition } from './exposition.ts'

test.each(['follow', 'commit'] as const)(
  'shows PostgreSQL that keeps the ledger (%s), and names no machine',
  { tags: ['long'] },
  async (mode) => {
    const database = await startDatabase()
    const directory = testDirectory()
    await shareLedger(database, directory, mode)
    const service = await startWholeService({
      directory,
      environment: postgresEnvironment(database, mode, 'canary-node', 2),
    })
    const scrape = async () => (await service.client.get('/metrics')).text
    const samplesOf = (text: string) =>
      Object.fromEntries([...parseExposition(text).samples].filter(([name]) => name.includes('postgres')))
    const up = `delegate_postgres_up{mode="${mode}"}`
    const lag = mode === 'follow' ? { delegate_postgres_lag_events: 0 } : {}
    await expect
      .poll(async () => samplesOf(await scrape()))
      .toMatchObject({ [up]: 1, delegate_postgres_holder: 1, ...lag })
    const text = await scrape()
    expect(samplesOf(text).delegate_postgres_epoch).toBeGreaterThan(0)
    expect(text).toContain('delegate_health{check="postgres"} 1')
    expect(text).not.toMatch(/canary|127\.0\.0\.1/)

    await database.stop()
    await expect.poll(async () => samplesOf(await scrape())).toMatchObject({ [up]: 0 })
    expect(await scrape()).toContain('delegate_health{check="postgres"} 0')
  },
)
