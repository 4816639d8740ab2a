import { expect, onTestFinished, test } from 'vitest'
import { createWaitingServer } from '../../src/http/waiting.ts'
import type { EngineStatus } from '../../src/storage/messages.ts'
import { parseExposition } from '../metrics/exposition.ts'
import { newId } from '../support/writer.ts'
import { createClient } from './client.ts'

const STANDBY: EngineStatus = {
  ...{ mode: 'commit', role: 'standby', node: 'two.internal', holder: 'one.internal', epoch: 3 },
  ...{ lag: 7, behindSince: null, fault: null },
}

async function startStandby(engine: EngineStatus) {
  const listening = Promise.withResolvers<number>()
  const standby = createWaitingServer({
    port: 0,
    host: '127.0.0.1',
    newId,
    metricsToken: null,
    onListening: listening.resolve,
  })
  standby.showStandby(engine)
  const port = await listening.promise
  onTestFinished(standby.close)
  return { standby, client: createClient(port) }
}

test('a standby is alive, and not ready: it tells its lag, and no name', async () => {
  const { standby, client } = await startStandby(STANDBY)
  expect(await client.get('/health')).toMatchObject({ status: 200, json: { status: 'ok' } })
  const ready = await client.get('/ready')
  expect(ready).toMatchObject({ status: 503, json: { code: 'standby', role: 'standby', lag: 7 } })
  expect(ready.text).not.toContain('internal')

  standby.showStandby({
    ...STANDBY,
    fault: 'PostgreSQL does not answer (connect ECONNREFUSED 10.0.0.1:5432)',
  })
  const faulty = await client.get('/ready')
  expect(faulty.json).toMatchObject({
    fault: 'postgres',
    detail: 'This machine cannot follow PostgreSQL at the moment. Its log says why.',
  })
  expect(faulty.text).not.toContain('10.0.0.1')
})

test('a standby answers requests of any shape with the same refusal', async () => {
  const { client } = await startStandby(STANDBY)
  for (const path of ['//', '/%', '/notes/%00', 'http://[', '/index.html'])
    expect(await client.get(path)).toMatchObject({ status: 503, json: { code: 'standby' } })
  expect(await client.post('/login', { password: 'secret' })).toMatchObject({ status: 503 })
})

test('a standby shows a monitor how it follows, and nothing to anyone else', async () => {
  const { standby, client } = await startStandby(STANDBY)
  const shown = await client.get('/metrics')
  expect(shown).toMatchObject({
    status: 200,
    headers: { 'content-type': expect.stringMatching(/^text\/plain/) },
  })
  const { samples } = parseExposition(shown.text)
  expect(Object.fromEntries(samples)).toEqual({
    'delegate_postgres_up{mode="commit"}': 1,
    delegate_postgres_holder: 0,
    delegate_postgres_epoch: 3,
    delegate_postgres_lag_events: 7,
  })
  standby.showStandby({ ...STANDBY, lag: null, fault: 'PostgreSQL does not answer (10.0.0.1:5432)' })
  const faulty = (await client.get('/metrics')).text
  expect(Object.fromEntries(parseExposition(faulty).samples)).toMatchObject({
    'delegate_postgres_up{mode="commit"}': 0,
  })
  expect(faulty).not.toMatch(/internal|10\.0\.0\.1|lag_events \d/)
  for (const headers of [{ 'x-forwarded-for': '203.0.113.7' }, { host: 'evil.example' }])
    expect(await client.get('/metrics', { headers })).toMatchObject({
      status: 503,
      json: { code: 'standby' },
    })
})

test('an upgrade shows its step and how far it is, and no server opens for a short one', async () => {
  const listening = Promise.withResolvers<number>()
  const options = { port: 0, host: '127.0.0.1', newId, metricsToken: null }
  const short = createWaitingServer({ ...options, onListening: () => expect.unreachable() })
  short.showOpening({ step: 'backup', done: 0, total: 3 })
  await short.close()
  const waiting = createWaitingServer({ ...options, onListening: listening.resolve })
  waiting.showOpening({ step: 'backup', done: 0, total: 3 })
  waiting.showOpening({ step: 'views', done: 2, total: 3 })
  const client = createClient(await listening.promise)
  onTestFinished(waiting.close)
  expect(await client.get('/health')).toMatchObject({ status: 200 })
  const detail = 'Delegate rebuilds its views of the ledger.'
  const progress = { detail, step: 'views', done: 2, total: 3 }
  expect(await client.get('/ready')).toMatchObject({
    status: 503,
    json: { status: 'upgrading', ...progress },
  })
  const refused = await client.get('/api/timeline')
  expect(refused).toMatchObject({ status: 503, json: { status: 503, code: 'upgrading', ...progress } })
  expect(refused.headers).toMatchObject({ 'retry-after': '2', 'content-type': 'application/problem+json' })
})
