import { expect, test } from 'vitest'
import { startDatabase } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import type { Postgres } from '../../support/postgres.ts'
import { startWholeService } from '../../support/service.ts'
import { postgresEnvironment, shareLedger } from '../../support/shared-ledger.ts'

/** A service whose ledger is also kept in a PostgreSQL of its own. */
async function startWith(database: Postgres, mode: 'follow' | 'commit') {
  const directory = testDirectory()
  await shareLedger(database, directory, mode)
  const environment = postgresEnvironment(database, mode, 'here', 2)
  const service = await startWholeService({ directory, environment })
  const look = async () => {
    const { status, json } = await service.client.get('/ready')
    return { status, ledger: json.checks.ledger, postgres: json.checks.postgres }
  }
  return { service, look, environment }
}

test('says in follow mode what PostgreSQL lacks, since when and why, and stays ready', {
  tags: ['long'],
}, async () => {
  const database = await startDatabase()
  const { service, look } = await startWith(database, 'follow')
  const copied = {
    status: 200,
    ledger: { ok: true },
    postgres: { ok: true, detail: 'The copy in PostgreSQL is up to date.' },
  }
  await expect.poll(look).toEqual(copied)

  await database.kill()
  await service.client.post('/api/notes', { title: 'Kept here', content: 'And there later' })
  await expect.poll(look).toEqual({
    status: 200,
    ledger: { ok: true },
    postgres: {
      ok: false,
      detail: expect.stringMatching(
        /^PostgreSQL lacks 1 event since 2\S+Z: PostgreSQL does not answer \(connect ECONNREFUSED \S+\)\.$/,
      ),
    },
  })
  const { json } = await service.client.get('/api/session/health')
  expect(json.checks.postgres.detail).toContain('PostgreSQL lacks 1 event')

  await database.start()
  await expect.poll(look).toEqual(copied)

  service.client.useCookie(undefined)
  expect((await look()).postgres).toEqual({ ok: true })
})

test('does not claim to know what PostgreSQL lacks if it has not answered since the start', {
  tags: ['long'],
}, async () => {
  const database = await startDatabase()
  const { service, environment } = await startWith(database, 'follow')
  await service.stop()
  await database.kill()
  const again = await startWholeService({ directory: service.directory, environment })
  const { json } = await again.client.get('/ready')
  expect(json.checks.postgres).toEqual({
    ok: false,
    detail: expect.stringMatching(/^It is not known what PostgreSQL lacks: PostgreSQL does not answer /),
  })
})

test('names the holder and its epoch in commit mode, and is not ready past the deadline', async () => {
  const database = await startDatabase()
  const { service, look } = await startWith(database, 'commit')
  expect(await look()).toEqual({
    status: 200,
    ledger: { ok: true },
    postgres: { ok: true, detail: 'PostgreSQL commits each event. here may write, under epoch 2.' },
  })
  await database.kill()
  const fault = 'does not answer \\(connect ECONNREFUSED \\S+\\)'
  await expect.poll(look).toEqual({
    status: 503,
    ledger: { ok: false, detail: expect.stringMatching(new RegExp(`^PostgreSQL ${fault}$`)) },
    postgres: {
      ok: false,
      detail: expect.stringMatching(
        new RegExp(`^PostgreSQL cannot confirm that here may write, under epoch 2: PostgreSQL ${fault}\\.$`),
      ),
    },
  })
  const refused = await service.client.post('/api/notes', { title: 'Too late', content: 'For now' })
  expect(refused.status).toBe(503)
  await database.start()
  await expect.poll(look).toMatchObject({ status: 200, postgres: { ok: true } })
})
