import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../http/client.ts'
import { parseExposition } from '../metrics/exposition.ts'
import { runScript } from '../scripts/run-script.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { startServiceProcess } from '../torture/service-process.ts'
import { backupsOf, DAY_MS, factsOf, filesIn, PASSPHRASE, startBacking, untilFacts } from './harness.ts'

const PARTIAL = '.delegate-2026-01-01T000000Z.backup.partial-1'

test('runs the command after a change, and reports a newest backup that fails its test', async () => {
  const seen = join(testDirectory(), 'seen')
  const service = await startBacking({
    environment: { BACKUP_COMMAND: `env > ${seen}; printf x >> "$BACKUP_FILE"`, OTHER: 'inherited' },
  })
  const [tested] = await untilFacts(service, 'backup.tested')
  expect(tested).toMatchObject({ ok: false, reason: expect.stringContaining('is damaged') })
  expect(await factsOf(service, 'backup.copied')).toHaveLength(1)
  const [failed] = await untilFacts(service, 'backup.failed')
  expect(failed).toEqual({ step: 'test', reason: tested?.reason })
  const [made] = await factsOf(service, 'backup.made')
  const environment = readFileSync(seen, 'utf8')
  expect(environment).toContain(`BACKUP_DIRECTORY=${service.target}\n`)
  expect(environment).toContain(`BACKUP_FILE=${join(service.target, String(made?.name))}\n`)
  expect(environment).toContain('OTHER=inherited\n')
  expect(environment).not.toContain(PASSPHRASE)
  expect((await backupsOf(service)).lastTest).toMatchObject({ name: made?.name, ok: false })
  const { checks } = (await service.client.get('/api/session/health')).json
  expect(checks.backups).toEqual({ ok: false, detail: expect.stringContaining('restore test failed') })
  expect((await service.client.get('/ready')).status).toBe(200)
})

test('retries a failed command after an hour, and not before', { tags: ['long'] }, async () => {
  const service = await startBacking({ environment: { BACKUP_COMMAND: 'echo no >&2; exit 3' } })
  await untilFacts(service, 'backup.tested')
  expect(await factsOf(service, 'backup.failed')).toEqual([
    { step: 'copy', reason: 'BACKUP_COMMAND failed with exit code 3.' },
  ])
  await service.pass(59 * 60_000)
  await service.pass(2 * 60_000)
  expect(await untilFacts(service, 'backup.failed', 2)).toHaveLength(2)
  expect(service.written.join()).toContain('BACKUP_COMMAND failed')
})

test('after a restore, waits for the release before it changes what is elsewhere', {
  tags: ['long'],
}, async () => {
  const first = await startBacking()
  const [made] = await untilFacts(first, 'backup.made')
  await first.stop()
  const directory = join(testDirectory(), 'data')
  const environment = { BACKUP_PASSPHRASE: PASSPHRASE }
  const file = join(first.target, String(made?.name))
  expect((await runScript('restore', directory, [file], { environment })).code).toBe(0)

  const copied = join(testDirectory(), 'copied')
  const service = await startBacking({ directory, environment: { BACKUP_COMMAND: `touch ${copied}` } })
  await untilFacts(service, 'backup.tested')
  expect(existsSync(copied)).toBe(false)
  expect((await backupsOf(service)).problems).toEqual([
    'The backups are not copied until you release outgoing work.',
  ])
  expect((await service.client.post('/api/outbound/release')).status).toBe(200)
  await untilFacts(service, 'backup.copied')
  expect(existsSync(copied)).toBe(true)
  expect((await backupsOf(service)).problems).toEqual([])
})

test('reports a full disk, and leaves nothing there', async ({ skip }) => {
  const disk = mountSmallDisk(1)
  if (disk === null) return skip('no file system can be mounted here')
  disk.fill()
  const service = await startBacking({ target: disk.directory })
  const [failed] = await untilFacts(service, 'backup.failed')
  expect(failed).toEqual({ step: 'make', reason: 'The disk of the backup directory is full.' })
  expect(filesIn(disk.directory)).toEqual([])
  expect((await backupsOf(service)).problems).toEqual([
    'The last backup failed: The disk of the backup directory is full.',
  ])
})

test('does not replace a directory that vanished, as that of a disk that is not connected', {
  tags: ['long'],
}, async () => {
  const service = await startBacking()
  await untilFacts(service, 'backup.tested')
  renameSync(service.target, `${service.target}.away`)
  await service.client.post('/api/backups')
  const [failed] = await untilFacts(service, 'backup.failed')
  const reason = 'The backup directory does not exist. Connect its disk, or create the directory.'
  expect(failed).toEqual({ step: 'make', reason })
  expect(existsSync(service.target)).toBe(false)
  renameSync(`${service.target}.away`, service.target)
  await service.client.post('/api/backups')
  expect(await untilFacts(service, 'backup.made', 2)).toHaveLength(2)
})

test('says that the last backup is too old', { tags: ['long'] }, async () => {
  const first = await startBacking()
  await untilFacts(first, 'backup.tested')
  await first.stop()
  const late = await startWholeService({
    directory: first.directory,
    nowMs: () => Date.now() + 3 * DAY_MS,
    environment: { BACKUP_DIRECTORY: join(first.directory, 'below'), BACKUP_PASSPHRASE: PASSPHRASE },
  })
  const [failed] = await untilFacts(late, 'backup.failed')
  expect(failed?.reason).toContain('must be outside the data directory')
  expect((await backupsOf(late)).problems).toContain('The last backup is older than two days.')
  const { samples } = parseExposition((await late.client.get('/metrics')).text)
  expect(samples.get('delegate_backup_age_seconds')).toBeGreaterThan((2 * DAY_MS) / 1000)
})

test('refuses a directory within the data or the program, also by a link', async () => {
  const service = await startWholeService()
  const link = join(testDirectory(), 'link')
  symlinkSync(service.directory, link)
  for (const directory of [
    service.directory,
    join(service.directory, 'b'),
    link,
    join(link, 'b'),
    process.cwd(),
    '/',
  ])
    expect([
      directory,
      (await service.client.put('/api/config', { entries: { BACKUP_DIRECTORY: directory } })).status,
    ]).toEqual([directory, 400])
  expect((await service.client.put('/api/config', { entries: { BACKUP_COMMAND: 'id' } })).status).toBe(400)
})

test('makes another backup if the directory changed meanwhile', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const { client } = service
  const [first, second] = [join(testDirectory(), 'first'), join(testDirectory(), 'second')]
  const put = async (entries: Record<string, string>) =>
    expect((await client.put('/api/config', { entries })).status).toBe(200)
  await put({ BACKUP_DIRECTORY: first, BACKUP_PASSPHRASE: PASSPHRASE })
  await expect.poll(async () => (await backupsOf(service)).running, { interval: 20 }).toBe(true)
  await put({ BACKUP_DIRECTORY: second })
  const [, later] = await untilFacts(service, 'backup.made', 2)
  expect(filesIn(second)).toEqual([later?.name])
})

test('says in a receipt how many backups hold the words, and until when', async () => {
  const service = await startBacking({
    environment: { BACKUP_KEEP_DAILY: '2', BACKUP_KEEP_WEEKLY: '0', BACKUP_KEEP_MONTHLY: '0' },
  })
  await untilFacts(service, 'backup.tested')
  const write = async () =>
    (await service.client.post('/api/notes', { title: 'Tea', content: 'Green.' })).json.id
  const receiptOf = async (id: string) => {
    const before = (await factsOf(service, 'erasure.completed')).length
    expect((await service.client.post('/api/erasures', { kind: 'note', id })).status).toBeLessThan(300)
    await service.pass(2 * 60_000)
    return (await untilFacts(service, 'erasure.completed', before + 1)).at(-1)?.backups
  }
  expect(await receiptOf(await write())).toBeUndefined()
  const [old, older, oldest] = [await write(), await write(), await write()]
  await service.client.post('/api/backups')
  await untilFacts(service, 'backup.removed')
  const { nextAt } = await backupsOf(service)
  const until = new Date(Date.parse(nextAt) + DAY_MS).toISOString()
  expect(await receiptOf(old)).toEqual({ count: 1, until })

  // The service cannot remove what is elsewhere, as after another directory was chosen.
  const [name = ''] = filesIn(service.target)
  renameSync(join(service.target, name), join(testDirectory(), name))
  expect(await receiptOf(older)).toEqual({ count: 1, until: null, missing: 1 })
  await service.client.post('/api/backups')
  await untilFacts(service, 'backup.made', 3)
  expect(await receiptOf(oldest)).toEqual({ count: 2, until, missing: 1 })
})

test('after a kill, every file has a fact, and no unencrypted copy is left', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  const target = join(testDirectory(), 'backups')
  mkdirSync(target)
  writeFileSync(join(target, PARTIAL), 'age-encryption.org/v1\n-> scr')
  const environment = { BACKUP_DIRECTORY: target, BACKUP_PASSPHRASE: PASSPHRASE }
  const work = join(directory, '.backup', 'work')
  // Once while it is being made, and once as soon as the file is there.
  for (const isTime of [
    () => existsSync(work),
    () => filesIn(target).some((name) => name.startsWith('delegate-')),
  ]) {
    const service = startServiceProcess(directory, { LOG_LEVEL: 'silent', ...environment })
    onTestFinished(() => service.kill())
    await expect.poll(isTime, { interval: 5 }).toBe(true)
    await service.kill()
  }
  const service = await startWholeService({ directory, environment, installed: false })
  const client = createClient(service.port)
  await client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode })
  await untilFacts({ client }, 'backup.tested')
  const kept = (await client.get('/api/backups')).json.backups.map(({ name }: { name: string }) => name)
  await expect.poll(() => filesIn(target)).toEqual(kept.sort())
  await expect.poll(() => existsSync(work)).toBe(false)
})
