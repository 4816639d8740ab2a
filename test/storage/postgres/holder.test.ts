import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import { ledgerFile } from '../../../ledger/files.ts'
import { openLedger } from '../../../ledger/ledger.ts'
import { lockDirectory } from '../../../ledger/lock.ts'
import { acceptLoss } from '../../../scripts/lib/accept-loss.ts'
import { copyToPostgres, detach, promote, readStatus } from '../../../scripts/lib/engine.ts'
import type { EngineStatus } from '../../../src/storage/messages.ts'
import { privileges } from '../../../src/storage/postgres/migrate.ts'
import type { PostgresOptions } from '../../../src/storage/postgres/options.ts'
import { optionsFor, sharedDatabase } from '../../support/database.ts'
import { digests, filesHolding, testDirectory } from '../../support/directory.ts'
import { initNode, openNode, readState, untilStateSent, writeState } from '../../support/engine.ts'
import { openProxy } from '../../support/proxy.ts'
import { openTestWriter, said } from '../../support/writer.ts'

const database = sharedDatabase()
/** With a lease that does not end by itself on a machine that is busy. */
const commit = (node = 'here', more: Partial<PostgresOptions> = {}) =>
  optionsFor(database(), node, { leaseMs: 5_000, ...more })

/** A directory whose ledger has an id, without events, for a standby in a database with several ledgers. */
function emptyDirectory(ledgerId: string): string {
  const directory = testDirectory()
  openLedger(directory, () => ledgerId).close()
  return directory
}

/** What PostgreSQL has of a ledger: null for a body that was erased. */
async function inPostgres(ledgerId: string): Promise<(string | null)[]> {
  const { rows } = await database().query(
    `SELECT body FROM delegate.event WHERE ledger_id = $1 ORDER BY seq`,
    [ledgerId],
  )
  return rows.map(({ body }) => body && JSON.parse(body).text)
}

test('appends are refused past the deadline, and go on once PostgreSQL is back', async () => {
  const proxy = await openProxy(database().port)
  onTestFinished(() => proxy.close())
  const storage = await initNode(testDirectory(), commit('here', { url: proxy.url, leaseMs: 1_600 }))
  await storage.append([said('one')])
  proxy.watch('delegate.append', () => {
    proxy.isDeaf = true
    proxy.cut()
    return 'swallow'
  })
  await expect(storage.append([said('two')])).rejects.toMatchObject({ isUnsure: true })
  await expect.poll(() => storage.mayAct()).toBe(false)
  const refused = storage.append([said('three')])
  await expect(refused).rejects.toThrow('this machine has to catch up with PostgreSQL first')
  await expect(refused).rejects.toMatchObject({ name: 'LedgerUnavailable', isUnsure: false })
  expect(await storage.status()).toMatchObject({
    ledgerError: expect.stringMatching('^PostgreSQL does not answer'),
    engine: { role: 'holder', epoch: 2 },
  })
  proxy.isDeaf = false
  await expect.poll(() => storage.mayAct()).toBe(true)
  await storage.append([said('four')])
  expect(await storage.status()).toMatchObject({ ledgerError: null, engine: { epoch: 2, fault: null } })
  expect(await inPostgres(storage.ledger.id())).toEqual(['one', 'four'])
})

test('nothing is appended that rests on views without what PostgreSQL has', async () => {
  const proxy = await openProxy(database().port)
  onTestFinished(() => proxy.close())
  const storage = await initNode(testDirectory(), commit('here', { url: proxy.url, leaseMs: 1_600 }))
  const { seq } = storage.ledger.head()
  proxy.watch('delegate.append', () => {
    proxy.isDeaf = true
    return 'swallow the answer'
  })
  await expect(storage.append([said('one')])).rejects.toMatchObject({ isUnsure: true })
  expect(storage.mayAct()).toBe(false)
  proxy.isDeaf = false
  // Whoever asks again at once has not seen that it is there.
  await expect(storage.append([said('again')])).rejects.toMatchObject({ isUnsure: false })
  await expect.poll(() => storage.mayAct()).toBe(true)
  expect(storage.ledger.head().seq).toBe(seq + 1)
  await storage.append([said('two')])
  expect(await inPostgres(storage.ledger.id())).toEqual(['one', 'two'])
})

test('an answer does not wait for what was appended after it', async () => {
  const proxy = await openProxy(database().port)
  onTestFinished(() => proxy.close())
  const storage = await initNode(testDirectory(), commit('here', { url: proxy.url }))
  let second: Promise<unknown> | undefined
  proxy.watch('delegate.append', () => {
    second = storage.append([said('two')])
    proxy.watch('delegate.append', () => 'swallow')
    return 'pass'
  })
  await storage.append([said('one')])
  expect(await inPostgres(storage.ledger.id())).toEqual(['one'])
  await second
  expect(await inPostgres(storage.ledger.id())).toEqual(['one', 'two'])
})

test('a holder that was replaced ends, and its settings are those of its successor', async () => {
  const [here, there] = [testDirectory(), testDirectory()]
  writeState(here, 'old')
  const holder = await initNode(here, commit())
  const ledgerId = holder.ledger.id()
  writeState(here, 'new')
  await holder.append([said('one')])
  await untilStateSent(database(), ledgerId, 'new')

  openLedger(there, () => ledgerId).close()
  // A repository of the owner's, for example, stays.
  mkdirSync(join(there, 'adaptations/.git'), { recursive: true })
  writeFileSync(join(there, 'adaptations/.git/HEAD'), 'main')
  writeFileSync(join(there, 'adaptations/stale.md'), 'stale')
  const opening = openNode(there, commit('there'))
  await promote(here, commit())
  await expect.poll(() => holder.fatal.map(({ name }) => name)).toEqual(['EpochMoved'])
  expect(() => holder.append([said('two')])).toThrow(LedgerUnavailable)
  const next = await opening
  expect(readState(there)).toEqual({ settings: ['old', 'new'], adaptation: 'new', modes: [0o600, 0o600] })
  expect(filesHolding(join(there, 'adaptations'), 'main')).toHaveLength(1)
  expect(filesHolding(there, 'stale')).toEqual([])
  await next.append([said('three')])
  expect(await inPostgres(ledgerId)).toEqual(['one', 'three'])
})

test('ledgers that do not fit together end the start, and a lost tail is added again', async () => {
  const directory = testDirectory()
  const holder = await initNode(directory, commit())
  const ledgerId = holder.ledger.id()
  for (const text of ['one', 'two', 'three']) await holder.append([said(text)])
  await holder.close()

  await database().query('ALTER TABLE delegate.event DISABLE TRIGGER event_delete')
  await database().query('DELETE FROM delegate.event WHERE ledger_id = $1 AND seq > 1', [ledgerId])
  await database().query('ALTER TABLE delegate.event ENABLE TRIGGER event_delete')
  await database().query(
    `UPDATE delegate.ledger SET head_seq = 1, head_hash = (SELECT hash FROM delegate.event
     WHERE ledger_id = $1 AND seq = 1) WHERE ledger_id = $1`,
    [ledgerId],
  )
  await expect(openNode(directory, commit())).rejects.toThrow(
    'PostgreSQL ends with event 1, and the ledger here with event 3. To add what PostgreSQL does not have, run npm run engine:repair',
  )
  await expect.poll(() => lockDirectory(directory).release()).toBeUndefined()
  await database().query('CREATE ROLE repairer LOGIN')
  await database().query(privileges('repairer'))
  const url = database().url.replace('postgres@', 'repairer@')
  expect(await copyToPostgres(directory, commit('here', { url }))).toBe(2)
  expect(await inPostgres(ledgerId)).toEqual(['one', 'two', 'three'])

  const fork = emptyDirectory(ledgerId)
  const writer = openTestWriter(fork)
  writer.append(said('another'))
  writer.close()
  await expect(copyToPostgres(fork, commit('there'))).rejects.toThrow('differ from event 1 on')
  expect(await detach(fork, commit('there'))).toMatchObject({ seq: 1, isForked: true })
  await expect(openNode(fork, commit('there'))).rejects.toThrow(
    'differ from event 1 on, and nothing is merged',
  )
  expect(await readStatus(directory, commit())).toMatch(/here +event 3, the same\nholder +none/)
})

test('a holder whose PostgreSQL has lost events refuses to append, and says why', async () => {
  const storage = await initNode(testDirectory(), commit())
  const ledgerId = storage.ledger.id()
  await storage.append([said('one')])
  await database().query(
    'UPDATE delegate.ledger SET head_seq = 0, head_hash = repeat($2, 64) WHERE ledger_id = $1',
    [ledgerId, '0'],
  )
  await expect(storage.append([said('two')])).rejects.toThrow('what PostgreSQL does not have')
  expect(await storage.status()).toMatchObject({ ledgerError: expect.stringMatching('does not have') })
  expect(storage.ledger.head().seq).toBe(1)
})

test('what is erased is gone from PostgreSQL, and from the directory of the standby', async () => {
  const holder = await initNode(testDirectory(), commit())
  const ledgerId = holder.ledger.id()
  const there = emptyDirectory(ledgerId)
  const seen: EngineStatus[] = []
  const opening = openNode(there, commit('there'), { onStandby: (engine) => seen.push(engine) })
  const { status, ...appended } = await holder.append([said('quokkafelt'), said('kept')])
  expect({ status, ...appended }).toMatchObject({ status: 'appended' })
  await expect.poll(() => filesHolding(there, 'quokkafelt')).not.toEqual([])
  expect(await holder.erase([1], 'owner')).toEqual([1])
  // Nothing is left to erase.
  expect(await holder.erase([1], 'owner')).toEqual([])
  expect(await inPostgres(ledgerId)).toEqual([null, 'kept', null])
  await expect.poll(() => filesHolding(there, 'quokkafelt')).toEqual([])
  await expect
    .poll(
      async () =>
        (await database().query('SELECT * FROM delegate.node WHERE ledger_id = $1', [ledgerId])).rows,
    )
    .toContainEqual(expect.objectContaining({ node: 'there', applied_seq: 3, erased_through: 3 }))
  await holder.close()
  const next = await opening
  expect(next.ledger.isErased(1)).toBe(true)
})

test('the account of the service needs no more than it is given, and cannot write to a table', async () => {
  await database().query('CREATE ROLE delegate LOGIN')
  await database().query(privileges('delegate'))
  const url = database().url.replace('postgres@', 'delegate@')
  const directory = testDirectory()
  await copyToPostgres(directory, commit())
  const storage = await openNode(directory, commit('here', { url }))
  writeState(directory, 'plain')
  await storage.append([said('one')])
  await untilStateSent(database(), storage.ledger.id(), 'plain')
  expect(await readStatus(directory, commit('here', { url }))).toMatch(/durable on +one server/)
  for (const table of ['ledger', 'event', 'file', 'node'])
    for (const statement of [
      `INSERT INTO delegate.${table} SELECT * FROM delegate.${table}`,
      `UPDATE delegate.${table} SET ledger_id = 'x'`,
      `DELETE FROM delegate.${table}`,
      `TRUNCATE delegate.${table} CASCADE`,
    ])
      await expect(queryAs(url, statement)).rejects.toThrow('permission denied')
})

test('not even the owner of the tables changes an event, except a body that an erased fact names', async () => {
  const storage = await initNode(testDirectory(), commit())
  await storage.append([said('kept'), said('quokkafelt')])
  expect(await storage.erase([2], 'owner')).toEqual([2])
  const ledgerId = storage.ledger.id()
  const events = async () =>
    (await database().query('SELECT * FROM delegate.event WHERE ledger_id = $1 ORDER BY seq', [ledgerId]))
      .rows
  const before = await events()
  expect(before.map(({ body }) => body && JSON.parse(body).text)).toEqual(['kept', null, null])

  const change = (set: string, seq: number) =>
    database().query(`UPDATE delegate.event SET ${set} WHERE ledger_id = $1 AND seq = $2`, [ledgerId, seq])
  for (const column of Object.keys(before[0]))
    for (const seq of [1, 2])
      await expect(change(`"${column}" = '9'`, seq), column).rejects.toThrow('the ledger is append-only')
  for (const set of ['body = NULL, salt = NULL', 'body = NULL', 'salt = NULL', 'type = type'])
    await expect(change(set, 1)).rejects.toThrow('only a body named by an erased fact may become null')
  for (const statement of ['DELETE FROM delegate.event', 'TRUNCATE delegate.event'])
    await expect(database().query(statement)).rejects.toThrow('the ledger is append-only')
  expect(await events()).toEqual(before)
})

test('one database holds several ledgers, and a new directory must be told which is its own', async () => {
  const [one, two] = [await initNode(testDirectory(), commit()), await initNode(testDirectory(), commit())]
  await Promise.all([one.append([said('mine')]), two.append([said('yours')])])
  expect(await inPostgres(one.ledger.id())).toEqual(['mine'])
  expect(await inPostgres(two.ledger.id())).toEqual(['yours'])
  await expect(openNode(testDirectory(), commit('there'))).rejects.toThrow(/PostgreSQL holds \d+ ledgers/)
})

test('a directory goes on without PostgreSQL only once it is detached, and can be attached again', async () => {
  const directory = testDirectory()
  writeState(directory, 'plain')
  const holder = await initNode(directory, commit())
  const ledgerId = holder.ledger.id()
  await holder.append([said('one')])
  writeState(directory, 'last')
  await holder.close()
  const alone = () => openNode(directory, commit(), { postgres: null })
  await expect(alone()).rejects.toThrow('This ledger is committed by PostgreSQL. Set LEDGER_POSTGRES_MODE')
  // The thread that was refused is gone in a moment.
  await expect.poll(() => lockDirectory(directory).release()).toBeUndefined()
  expect(await detach(directory, commit())).toMatchObject({ seq: 1, isForked: false })
  expect(readState(directory)).toMatchObject({ settings: ['plain', 'last'], adaptation: 'last' })
  expect(await readStatus(directory, commit())).toMatch(/^holder +\(detached\)$/m)
  const storage = await alone()
  await storage.append([said('two')])
  await storage.close()
  await expect(openNode(directory, commit())).rejects.toThrow('does not have, run npm run engine:init.')
  await expect.poll(() => lockDirectory(directory).release()).toBeUndefined()
  const seen: EngineStatus[] = []
  const waiting = openNode(emptyDirectory(ledgerId), commit('there'), {
    onStandby: (engine) => seen.push(engine),
  })
  await expect.poll(() => seen.at(-1)).toMatchObject({ holder: '(detached)' })
  expect(await copyToPostgres(directory, commit())).toBe(1)
  const next = await waiting
  await next.append([said('three')])
  expect(await inPostgres(ledgerId)).toEqual(['one', 'two', 'three'])
})

async function queryAs(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

test('a holder that lost its last events, as in a power cut, gets them back from PostgreSQL', async () => {
  const directory = testDirectory()
  const first = await initNode(directory, commit())
  const ledgerId = first.ledger.id()
  await first.append([said('one')])
  await first.close()
  const older = readFileSync(ledgerFile(directory))
  const holder = await openNode(directory, commit())
  await holder.append([said('two')])
  await holder.close()
  writeFileSync(ledgerFile(directory), older)
  const before = digests(directory)
  await expect(acceptLoss(directory, async () => undefined)).rejects.toThrow('Start Delegate, which')
  expect(digests(directory)).toEqual(before)
  const again = await openNode(directory, commit())
  expect(again.ledger.head().seq).toBe(2)
  await again.append([said('three')])
  expect(await inPostgres(ledgerId)).toEqual(['one', 'two', 'three'])
})

test('goes from commit to follow only once PostgreSQL has said that nothing is missing', async () => {
  const directory = testDirectory()
  await (await initNode(directory, commit())).close()
  const away = { mode: 'follow', url: 'postgres://localhost:9/none' } as const
  await expect(openNode(directory, commit('here', away))).rejects.toThrow('may have events that it lacks')
  const follower = await openNode(directory, commit('here', { mode: 'follow' }))
  await follower.append([said('one')])
  await follower.close()
  await (await openNode(directory, commit('here', away))).close()
})

test('a standby that cannot follow PostgreSQL logs why, and does not claim to know its lag', async () => {
  const proxy = await openProxy(database().port)
  onTestFinished(() => proxy.close())
  const here = testDirectory()
  const holder = await initNode(here, commit())
  const seen: EngineStatus[] = []
  const warnings: [string, unknown][] = []
  const opening = openNode(
    emptyDirectory(holder.ledger.id()),
    commit('there', { url: proxy.url, leaseMs: 800 }),
    {
      onStandby: (engine) => seen.push(engine),
      onWarning: (message, { error }) => void warnings.push([message, error]),
    },
  )
  await expect.poll(() => seen.at(-1)).toMatchObject({ lag: 0, fault: null })
  const status = await readStatus(here, commit())
  expect(status).toMatch(/^machine +there, event 0, seen \d s ago$/m)
  expect(status).not.toMatch(/^machine +here/m)

  proxy.isDeaf = true
  proxy.cut()
  await expect.poll(() => seen.at(-1)).toMatchObject({ lag: null, fault: expect.any(String) })
  proxy.isDeaf = false
  await expect.poll(() => seen.at(-1)).toMatchObject({ lag: 0, fault: null })
  expect(warnings).toEqual([
    ['this standby cannot follow PostgreSQL', expect.any(String)],
    ['this standby follows PostgreSQL again', undefined],
  ])
  await holder.close()
  await opening
})
