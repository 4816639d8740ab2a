import { copyFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runScript } from '../scripts/run-script.ts'
import { filesHolding, testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { backupsOf, DAY_MS, factsOf, filesIn, PASSPHRASE, startBacking, untilFacts } from './harness.ts'

test('makes a verified, encrypted backup at once, tests it, and makes the next one at its hour', async () => {
  const service = await startBacking()
  const [made] = await untilFacts(service, 'backup.made')
  await untilFacts(service, 'backup.tested')
  const [name = ''] = filesIn(service.target)
  expect(filesIn(service.target)).toEqual([made?.name])
  const file = join(service.target, name)
  expect([statSync(service.target).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600])
  expect(made).toEqual({
    name: expect.stringMatching(/^delegate-[\d-]{10}T\d{6}Z\.backup$/),
    bytes: statSync(file).size,
    events: expect.any(Number),
    headHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  const listed = await backupsOf(service)
  expect(listed).toMatchObject({
    state: 'on',
    directory: service.target,
    last: { name, present: true },
    lastTest: { name, ok: true, reason: null },
    problems: [],
  })
  // No unencrypted copy is left.
  expect(filesIn(join(service.directory, '.backup'))).toEqual(['lock.sqlite'])

  const waitMs = Date.parse(listed.nextAt) - Date.now() - service.clock.aheadMs
  expect(waitMs).toBeLessThanOrEqual(DAY_MS)
  await service.pass(waitMs - 60_000)
  await service.pass(120_000)
  expect(await untilFacts(service, 'backup.made', 2)).toHaveLength(2)

  const restored = join(testDirectory(), 'data')
  const environment = { BACKUP_PASSPHRASE: PASSPHRASE }
  const { code, out } = await runScript('restore', restored, [file], { environment })
  expect([code, out]).toEqual([0, expect.stringContaining(`${made?.events} ${made?.headHash}`)])
})

test('makes none without a directory or without a passphrase, and says so', async () => {
  const off = await startWholeService()
  expect(await backupsOf(off)).toMatchObject({ state: 'off', directory: null, nextAt: null, problems: [] })
  expect((await off.client.post('/api/backups')).status).toBe(409)
  const health = async ({ client }: typeof off) =>
    (await client.get('/api/session/health')).json.checks.backups
  expect(await health(off)).toEqual({ ok: true, off: true, detail: expect.stringContaining('Off.') })

  const target = join(testDirectory(), 'backups')
  const open = await startWholeService({ environment: { BACKUP_DIRECTORY: target } })
  expect(await health(open)).toEqual({ ok: false, detail: expect.stringContaining('no passphrase') })
  expect((await open.client.get('/ready')).status).toBe(200)
  expect(await factsOf(open, 'backup.made')).toEqual([])
})

test('makes a backup at once when asked, even within the second that names the last one', async () => {
  const service = await startBacking()
  await untilFacts(service, 'backup.made')
  expect((await service.client.post('/api/backups')).status).toBe(202)
  expect(await untilFacts(service, 'backup.made', 2)).toHaveLength(2)
  // The newest of a day is kept.
  const [removed] = await untilFacts(service, 'backup.removed')
  const [first, second] = await factsOf(service, 'backup.made')
  expect(removed?.names).toEqual([first?.name])
  await expect.poll(() => filesIn(service.target)).toEqual([second?.name])
  expect(filesHolding(service.target, 'SQLite format')).toEqual([])
})

test('adopts files of this ledger that have no fact, leaves all others alone, and removes what the rule drops', {
  tags: ['long'],
}, async () => {
  const service = await startBacking()
  const { target } = service
  const [made] = await untilFacts(service, 'backup.made')
  await untilFacts(service, 'backup.tested')
  const name = String(made?.name)
  const other = await startBacking({ environment: { BACKUP_PASSPHRASE: 'eight grey herons' } })
  const [foreign] = await untilFacts(other, 'backup.made')
  const foreignName = 'delegate-2020-01-01T000000Z.backup'
  copyFileSync(join(other.target, String(foreign?.name)), join(target, foreignName))
  writeFileSync(join(target, 'delegate-2020-02-01T000000Z.backup'), 'mine')
  writeFileSync(join(target, 'notes.txt'), 'mine')
  for (const day of ['2020-03-01', '2020-03-02', '2020-04-01'])
    copyFileSync(join(target, name), join(target, `delegate-${day}T000000Z.backup`))
  const entries = { BACKUP_KEEP_DAILY: 1, BACKUP_KEEP_WEEKLY: 0, BACKUP_KEEP_MONTHLY: 3 }
  expect((await service.client.put('/api/config', { entries })).status).toBe(200)
  expect((await service.client.post('/api/backups')).status).toBe(202)
  const [removed] = await untilFacts(service, 'backup.removed')
  expect(removed?.names).toEqual([name, 'delegate-2020-03-01T000000Z.backup'])
  const newest = (await backupsOf(service)).last.name
  await expect
    .poll(() => filesIn(target))
    .toEqual([
      foreignName,
      'delegate-2020-02-01T000000Z.backup',
      'delegate-2020-03-02T000000Z.backup',
      'delegate-2020-04-01T000000Z.backup',
      newest,
      'notes.txt',
    ])
  const facts = await factsOf(service, 'backup.made')
  expect(facts).toHaveLength(5)
  expect(await factsOf(service, 'backup.failed')).toEqual([])
})

test('restores a backup of another ledger only once to find that out', { tags: ['long'] }, async () => {
  const other = await startBacking()
  await untilFacts(other, 'backup.tested')
  await other.stop()
  const service = await startBacking({ target: other.target })
  await untilFacts(service, 'backup.tested')
  expect((await service.client.post('/api/backups')).status).toBe(202)
  await untilFacts(service, 'backup.removed')
  expect(filesIn(service.target)).toHaveLength(2)
  const lines = service.written.filter((line) => line.includes('was not adopted'))
  expect(lines).toEqual([expect.stringContaining('It belongs to another ledger.')])
})
