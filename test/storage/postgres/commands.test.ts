import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLedger } from '../../../ledger/ledger.ts'
import { copyToPostgres, createTables, detach, pull, readStatus } from '../../../scripts/lib/engine.ts'
import { privileges } from '../../../src/storage/postgres/migrate.ts'
import { runScript } from '../../scripts/run-script.ts'
import { optionsFor, sharedDatabase, startDatabase, startDatabases } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { initNode, openNode, readState, untilStateSent, writeState } from '../../support/engine.ts'
import { openTestWriter, said } from '../../support/writer.ts'

const database = sharedDatabase()

test('says in a sentence what the account may not do', async () => {
  await database().query('CREATE ROLE stranger LOGIN')
  const environment = { LEDGER_POSTGRES_URL: database().url.replace('postgres@', 'stranger@') }
  expect(await runScript('engine', testDirectory(), ['init'], { environment })).toEqual({
    code: 1,
    out: 'The tables are up to date.\n',
    err: 'PostgreSQL refused this: permission denied for schema delegate.\n',
  })
})

test('upgrades the tables of an older build, and keeps the privileges of its account', async () => {
  const database = await startDatabase()
  const first = new URL('../../../src/storage/postgres/schema/0001-ledgers.sql', import.meta.url)
  await database.query(readFileSync(first, 'utf8'))
  await database.query("COMMENT ON SCHEMA delegate IS 'Ledgers of Delegate, version 1'")
  await database.query('CREATE ROLE service LOGIN')
  await database.query(privileges('service'))
  const directory = testDirectory()
  const url = database.url.replace('postgres@', 'service@')
  const service = optionsFor(database, 'here', { leaseMs: 8_000, url })
  await expect(openNode(directory, service)).rejects.toThrow('of an older build. Run npm run engine:init.')

  const environment = { LEDGER_POSTGRES_URL: database.url }
  const { out } = await runScript('engine', directory, ['init'], { environment })
  expect(out).toContain(
    `Applied: 0002-append.sql, 0003-append-only.sql, 0004-own-lease.sql.\nA new, empty ledger was created in ${directory}.\nCopied 0`,
  )
  const node = await openNode(directory, service)
  await node.append([said('one'), said('two')])
  const { rows } = await database.query('SELECT head_seq::int AS head FROM delegate.ledger')
  expect(rows).toEqual([{ head: 2 }])
  expect(await node.erase([1], 'owner')).toEqual([1])
  const unnamed = 'UPDATE delegate.event SET body = NULL, salt = NULL WHERE seq = 2'
  await expect(database.query(unnamed)).rejects.toThrow('the ledger is append-only')
  await node.close()
  await database.query('DELETE FROM delegate.node; DELETE FROM delegate.file')
  await expect(database.query('DELETE FROM delegate.ledger')).rejects.toThrow('the ledger has events')
})

test('adds another ledger to a database only if told to', async () => {
  await copyToPostgres(testDirectory(), optionsFor(database(), 'here', { leaseMs: 8_000 }))
  const directory = testDirectory()
  openTestWriter(directory).close()
  const environment = { LEDGER_POSTGRES_URL: database().url }
  const init = (...args: string[]) => runScript('engine', directory, ['init', ...args], { environment })
  expect(await init()).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /^The database holds another ledger \(.*npm run engine:init -- --another-ledger\n$/,
    ),
  })
  expect(await init('--another-ledger')).toMatchObject({ code: 0, out: expect.stringContaining('Copied 0') })
  expect(await init()).toMatchObject({ code: 0 })
  // As the manual says for a ledger that was added by mistake.
  expect((await database().query('DELETE FROM delegate.ledger')).rowCount).toBe(2)
})

test('says in a sentence that a commit is not confirmed', { tags: ['long'] }, async () => {
  const { primary, standby } = await startDatabases()
  const options = optionsFor(primary, 'here', { leaseMs: 8_000 })
  await createTables(options)
  const directory = testDirectory()
  await copyToPostgres(directory, options)
  standby.signal('SIGSTOP')
  const environment = { LEDGER_POSTGRES_URL: primary.url }
  const ended = runScript('engine', directory, ['detach'], { environment })
  const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
  await expect.poll(async () => (await primary.query(cancel)).rowCount).toBeGreaterThan(0)
  const { code, err } = await ended
  standby.signal('SIGCONT')
  expect([code, err]).toEqual([
    1,
    'PostgreSQL did not confirm what was written, so it may be there or not. ' +
      'If it has a synchronous standby, see that it runs. Then run this command again.\n',
  ])
})

test('refuses to promote or pull a detached ledger, and says what to do', async () => {
  const [here, there, pulled] = [testDirectory(), testDirectory(), testDirectory()]
  const options = optionsFor(database(), 'here', { leaseMs: 8_000 })
  const writer = openTestWriter(here)
  writer.append(said('one'))
  const ledgerId = writer.ledger.id()
  writer.close()
  cpSync(here, there, { recursive: true })
  await copyToPostgres(here, options)
  await detach(here, options)
  const row = () => database().query('SELECT * FROM delegate.ledger WHERE ledger_id = $1', [ledgerId])
  const before = (await row()).rows

  const environment = { LEDGER_POSTGRES_URL: database().url }
  const says =
    'This ledger was detached, so the machine that ran engine:detach may have newer events. ' +
    'To share it again, run npm run engine:init there.'
  expect(await runScript('engine', there, ['promote'], { environment })).toEqual({
    code: 1,
    out: '',
    err: `${says}\n`,
  })
  const pull = (...more: string[]) =>
    runScript('ledger-pull', pulled, ['--ledger', ledgerId, ...more], { environment })
  expect(await pull()).toEqual({
    code: 1,
    out: '',
    err: `${says} If that machine is lost, take what PostgreSQL has: npm run ledger:pull -- --detached\n`,
  })
  expect((await row()).rows).toEqual(before)
  expect(await pull('--detached')).toMatchObject({ code: 0, out: expect.stringMatching('^Pulled 1 events') })
})

test('shows the role and the lag of a machine', async () => {
  const [here, there, pulled] = [testDirectory(), testDirectory(), testDirectory()]
  const commit = optionsFor(database(), 'here', { leaseMs: 8_000 })
  const follow = { ...commit, mode: 'follow' } as const
  const node = await initNode(here, commit)
  await node.append([said('one'), said('two')])
  const ledgerId = node.ledger.id()
  openLedger(there, () => ledgerId).close()
  const shown = async (directory: string, options: typeof commit) =>
    (await readStatus(directory, options)).match(/(?<=^(role|lag) +)\S.*$/gm)

  expect(await shown(here, commit)).toEqual(['holder', '0 events'])
  // As in a shell that does not set the mode.
  expect(await shown(here, follow)).toEqual(['holder', '0 events'])
  expect(await shown(there, follow)).toEqual(['standby', '2 events that only PostgreSQL has'])
  await node.close()
  expect(await shown(there, commit)).toEqual(['standby', '2 events that only PostgreSQL has'])

  const writer = openTestWriter(here)
  writer.append(said('three'))
  writer.close()
  expect(await shown(here, follow)).toEqual(['holder, without a lease', '1 event that PostgreSQL lacks'])
  await pull(pulled, { ...follow, node: 'there' }, ledgerId)
  expect(await shown(here, follow)).toEqual([
    'none: another machine has pulled the ledger',
    '1 event that PostgreSQL lacks',
  ])
  await detach(pulled, follow)
  expect(await shown(pulled, follow)).toEqual(['none: the ledger is detached', '0 events'])
})

test('backs up the newest settings and files on a machine that did not write them', async () => {
  const [here, there, fresh] = [testDirectory(), testDirectory(), testDirectory()]
  const options = optionsFor(database(), 'here', { leaseMs: 8_000 })
  const environment = { LEDGER_POSTGRES_URL: database().url }
  const backUp = async (directory: string) => {
    const backup = join(testDirectory(), 'backup')
    const { code, out } = await runScript('backup', directory, [backup], { environment })
    expect(code).toBe(0)
    const { settings, adaptation } = readState(backup)
    return { settings, adaptation, out }
  }
  writeState(here, 'old')
  const former = await initNode(here, options)
  const ledgerId = former.ledger.id()
  await former.append([said('one')])
  await untilStateSent(database(), ledgerId, 'old')
  await former.close()
  expect(await backUp(here)).toMatchObject({ settings: ['old'], adaptation: 'old' })

  for (const directory of [there, fresh]) openLedger(directory, () => ledgerId).close()
  const holder = await openNode(there, { ...options, node: 'there' })
  await holder.append([said('two')])
  writeState(there, 'new')
  await untilStateSent(database(), ledgerId, 'new')
  const newest = { settings: ['old', 'new'], adaptation: 'new' }
  const says =
    'The settings and adaptation files are those in PostgreSQL, because another machine wrote last.\n'
  expect(await backUp(there)).toEqual({ ...newest, out: expect.not.stringContaining('PostgreSQL') })
  expect(await backUp(fresh)).toEqual({
    ...newest,
    out: expect.stringContaining(`${says}PostgreSQL has more events. `),
  })
  expect(await backUp(here)).toEqual({ ...newest, out: expect.stringContaining(says) })
})

test.each([
  ['was not asked', {}, 'LEDGER_POSTGRES_URL is not set, so'],
  [
    'does not answer',
    { LEDGER_POSTGRES_URL: 'postgres://localhost:1/none' },
    'PostgreSQL does not answer, so',
  ],
])('says on a machine of several if PostgreSQL %s for newer settings', async (_, environment, says) => {
  const directory = testDirectory()
  const node = await initNode(directory, optionsFor(database(), 'here', { leaseMs: 8_000 }))
  await node.close()
  const backup = join(testDirectory(), 'backup')
  expect(await runScript('backup', directory, [backup], { environment })).toMatchObject({
    code: 0,
    out: expect.stringContaining(says),
  })
})

test('refuses to detach while another machine may write', async () => {
  const [here, there] = [testDirectory(), testDirectory()]
  const options = optionsFor(database(), 'here', { leaseMs: 8_000 })
  const holder = await initNode(here, options)
  openLedger(there, () => holder.ledger.id()).close()
  const detached = () => detach(there, { ...options, node: 'there' })
  await expect(detached()).rejects.toThrow(
    /^here may write for another \d\.\d s\. Stop the service on every machine first\.$/,
  )
  await holder.append([said('one')])
  expect(holder.fatal).toEqual([])
  await holder.close()
  expect(await detached()).toMatchObject({ seq: 1, isForked: false })
})
