import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../../ledger/ledger.ts'
import { copyToPostgres } from '../../../scripts/lib/engine.ts'
import type { EngineStatus } from '../../../src/storage/messages.ts'
import { optionsFor, sharedDatabase } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { initNode, openNode } from '../../support/engine.ts'
import { openProxy } from '../../support/proxy.ts'
import { startWholeService } from '../../support/service.ts'
import { postgresEnvironment, shareLedger } from '../../support/shared-ledger.ts'
import { said } from '../../support/writer.ts'
import { startServiceProcess } from '../../torture/service-process.ts'

const database = sharedDatabase()

/** Starts a service that cannot run; returns its exit code and output. */
async function failedStart(environment: Readonly<Record<string, string>>, directory = testDirectory()) {
  const service = startServiceProcess(directory, { LOG_LEVEL: 'silent', ...environment })
  const [code] = await once(service.child, 'close')
  return { code, output: service.output() }
}

test('answers /ready at once while PostgreSQL hangs during a commit', async () => {
  const proxy = await openProxy(database().port)
  onTestFinished(() => proxy.close())
  const directory = testDirectory()
  await shareLedger(database(), directory, 'commit')
  const environment = {
    ...postgresEnvironment(database(), 'commit', 'here', 8),
    LEDGER_POSTGRES_URL: proxy.url,
  }
  const { client } = await startWholeService({ directory, environment })
  // Loads the thread that reads the files.
  expect((await client.get('/ready')).status).toBe(200)
  const isHeld = new Promise<void>((resolve) => {
    proxy.watch('delegate.append', () => {
      proxy.isDeaf = true
      resolve()
      return 'swallow the answer'
    })
  })
  const note = client.post('/api/notes', { title: 'Tea', content: 'Green.' })
  await isHeld
  const startedMs = performance.now()
  const ready = await client.get('/ready')
  expect(performance.now() - startedMs).toBeLessThan(1_000)
  expect([200, 503]).toContain(ready.status)
  proxy.isDeaf = false
  await note
})

test('says in a sentence that the port of a standby is in use', { tags: ['long'] }, async () => {
  const holder = await initNode(testDirectory(), optionsFor(database(), 'here', { leaseMs: 8_000 }))
  const there = testDirectory()
  openLedger(there, () => holder.ledger.id()).close()
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const address = other.address()
  const PORT = String(typeof address === 'object' ? address?.port : address)
  const started = failedStart({ ...postgresEnvironment(database(), 'commit', 'there', 8), PORT }, there)
  expect(await started).toEqual({
    code: 1,
    output: `The service cannot listen on HOST and PORT: listen EADDRINUSE: address already in use 127.0.0.1:${PORT}\n`,
  })
})

test('says in a sentence what the account may not do', { tags: ['long'] }, async () => {
  await database().query('CREATE ROLE nobody_yet LOGIN')
  const environment = {
    ...postgresEnvironment(database(), 'commit', 'there', 8),
    LEDGER_POSTGRES_URL: database().url.replace('postgres@', 'nobody_yet@'),
  }
  expect(await failedStart(environment)).toEqual({
    code: 1,
    output:
      'PostgreSQL refused this: permission denied for schema delegate. npm run engine:init prints what the account needs.\n',
  })
})

test('a second directory under the same name leaves the lease to its holder', async () => {
  const options = optionsFor(database(), 'here', { leaseMs: 5_000 })
  const holder = await initNode(testDirectory(), options)
  const there = testDirectory()
  openLedger(there, () => holder.ledger.id()).close()
  const seen: EngineStatus[] = []
  const warnings: string[] = []
  const opening = openNode(there, options, {
    onStandby: (engine) => seen.push(engine),
    onWarning: (message) => void warnings.push(message),
  })
  await expect.poll(() => seen.length).toBeGreaterThan(3)
  await holder.append([said('one')])
  expect(holder.fatal).toEqual([])
  expect(warnings).toEqual([
    'another directory holds the lease under this name: give each its own LEDGER_NODE',
  ])
  await holder.close()
  expect((await opening).ledger.head().seq).toBe(1)
})

test('a machine that was killed has its own lease again at once', async () => {
  const directory = testDirectory()
  await shareLedger(database(), directory, 'commit')
  const environment = postgresEnvironment(database(), 'commit', 'here', 60)
  const killed = startServiceProcess(directory, environment)
  await killed.listening
  await killed.kill()
  const again = startServiceProcess(directory, environment)
  onTestFinished(() => again.kill())
  await again.listening
  expect(again.output()).not.toContain('standby')
})

test('a machine has the lease at once although the answer was lost', async () => {
  const proxy = await openProxy(database().port)
  onTestFinished(() => proxy.close())
  const options = optionsFor(database(), 'here', { leaseMs: 60_000 })
  const directory = testDirectory()
  await copyToPostgres(directory, options)
  proxy.watch('delegate.take', () => 'cut the answer')
  const seen: EngineStatus[] = []
  const onStandby = (engine: EngineStatus) => void seen.push(engine)
  const node = await openNode(directory, { ...options, url: proxy.url }, { onStandby })
  expect(seen.map(({ holder }) => holder)).not.toContain('here')
  expect(await node.status()).toMatchObject({ engine: { role: 'holder', epoch: 3 } })
})
