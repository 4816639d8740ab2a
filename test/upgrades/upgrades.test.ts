import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { closing } from '../../ledger/closing.ts'
import { chainHash } from '../../ledger/codec.ts'
import { ledgerFile, openLedgerReadOnly, viewsFile } from '../../ledger/files.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { createReader } from '../../ledger/reader.ts'
import { settingsFile } from '../../src/settings/store.ts'
import { MANIFEST } from '../../src/storage/backup.ts'
import { generateLedger } from '../bench/generate.ts'
import { createClient } from '../http/client.ts'
import { runScript, tamper } from '../scripts/run-script.ts'
import { digests, filesHolding, testDirectory } from '../support/directory.ts'
import { lastingPort } from '../support/lasting-port.ts'
import { startWholeService } from '../support/service.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { openTestStorage } from '../support/storage.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Makes it look as if another build had used the directory last. */
function writtenBy(directory: string, version: string, change: (events: Record<string, number>) => void) {
  const file = join(directory, 'build.json')
  const build = JSON.parse(readFileSync(file, 'utf8'))
  change(build.events)
  writeFileSync(file, JSON.stringify({ ...build, version, commit: 'abc1234'.padEnd(40, '0') }))
}

const older = (events: Record<string, number>) => void delete events['note.deleted']

function run(file: string, sql: string): void {
  const db = new Database(file)
  db.exec(sql)
  db.close()
}

function headOf(directory: string) {
  using db = closing(openLedgerReadOnly(directory))
  return createReader(db).head()
}

async function directoryWithNote(directory = testDirectory()): Promise<string> {
  const { client, stop } = await startWholeService({ directory })
  expect((await client.post('/api/notes', { title: 'Tea', content: 'Sencha.' })).status).toBe(201)
  await stop()
  return directory
}

/** Starts the service and stops it; returns the lines of its log. */
async function startAndStop(directory: string, environment = {}): Promise<Record<string, unknown>[]> {
  const { written, stop } = await startWholeService({ directory, environment })
  await stop()
  return written.map((line) => JSON.parse(line))
}

const upgradesOf = (directory: string) => readdirSync(join(directory, 'upgrades')).sort()
const lineOf = (lines: Record<string, unknown>[], msg: string) => lines.find((line) => line.msg === msg)

test('makes one verified backup before an upgrade, and names the views that it rebuilds', async () => {
  const directory = await directoryWithNote()
  writtenBy(directory, '0.1.0', older)
  run(viewsFile(directory), "UPDATE views_folds SET version = 0 WHERE name = 'notes'")
  const head = headOf(directory)
  const lines = await startAndStop(directory)
  expect(lineOf(lines, 'upgrading')).toMatchObject({
    from: '0.1.0 (commit abc1234)',
    to: expect.stringContaining(version),
  })
  const [name = ''] = upgradesOf(directory)
  expect(name).toMatch(/^0\.1\.0-abc1234-\d{8}T\d{6}Z$/)
  const backup = join(directory, 'upgrades', name)
  expect(lineOf(lines, 'made a backup before the upgrade')).toMatchObject({ backup, events: head.seq })
  expect(lineOf(lines, 'rebuilding views')).toMatchObject({ views: ['notes'], events: head.seq })
  for (const path of [backup, join(backup, '..')]) expect(statSync(path).mode & 0o777).toBe(0o700)

  const quiet = await startAndStop(directory)
  expect(lineOf(quiet, 'upgrading') ?? lineOf(quiet, 'rebuilding views')).toBeUndefined()
  expect(upgradesOf(directory)).toEqual([name])

  const restored = join(testDirectory(), 'data')
  expect(await runScript('restore', restored, [backup])).toMatchObject({ code: 0, err: '' })
  expect(headOf(restored)).toEqual(head)
})

test('makes no backup of a directory that is new, restored, or used by a build that writes the same', {
  tags: ['long'],
}, async () => {
  const directory = await directoryWithNote()
  writtenBy(directory, '0.2.1', () => undefined)
  expect(lineOf(await startAndStop(directory), 'upgrading')).toMatchObject({ from: '0.2.1 (commit abc1234)' })
  const backup = join(testDirectory(), 'backup')
  expect((await runScript('backup', directory, [backup])).code).toBe(0)
  const restored = join(testDirectory(), 'data')
  expect((await runScript('restore', restored, [backup])).code).toBe(0)
  await startAndStop(restored)
  expect([directory, restored].flatMap((path) => readdirSync(path))).not.toContain('upgrades')
})

test('keeps the newest two backups, and none that holds erased words', async () => {
  const directory = await directoryWithNote()
  for (const from of ['0.10.0', '0.9.0', '0.11.0']) {
    writtenBy(directory, from, older)
    await startAndStop(directory)
    // One with a damaged manifest is no backup.
    if (from === '0.10.0')
      writeFileSync(join(directory, 'upgrades', upgradesOf(directory)[0] ?? '', MANIFEST), '{')
  }
  expect(upgradesOf(directory)).toEqual([
    expect.stringMatching(/^0\.11\.0-/),
    expect.stringMatching(/^0\.9\.0-/),
  ])
  expect(filesHolding(directory, 'Sencha')).toHaveLength(4)
  const storage = await openTestStorage(directory)
  const note = storage.ledger.seqsOf(['note.created'], { firstSeq: 1, lastSeq: storage.ledger.head().seq })
  await storage.erase(note, 'owner')
  expect(upgradesOf(directory)).toEqual([])
  expect(filesHolding(directory, 'Sencha')).toEqual([])
})

test.each<[string, (directory: string) => void]>([
  ['version 9 of the event note.created', addNewer],
  ['format 9 of ledger.sqlite', (directory) => run(ledgerFile(directory), 'PRAGMA user_version = 9')],
  ['settings.sqlite', (directory) => run(settingsFile(directory), 'PRAGMA user_version = 9')],
])('refuses a directory with a newer %s, says who wrote it, and changes no file', async (what, change) => {
  const directory = await directoryWithNote()
  writtenBy(directory, '0.1.0', older)
  await startAndStop(directory)
  const [backup = ''] = upgradesOf(directory)
  writtenBy(directory, '0.3.0', (events) => {
    events['note.created'] = 9
  })
  change(directory)
  const before = digests(directory)
  const message = await startWholeService({ directory }).catch((error: Error) => error.message)
  expect(digests(directory)).toEqual(before)
  expect(message).toContain(what)
  expect(message).toMatch(
    /^This ledger was last written by Delegate 0\.3\.0 \(commit abc1234\), which is newer than this build, /,
  )
  expect(message).toContain(`Start that version or a newer one, or restore the backup in ${directory}`)
  expect(message).toContain(`${backup} into an empty directory.`)
})

/** An event as a newer build would write it. */
function addNewer(directory: string): void {
  using ledger = closing(openLedger(directory, () => ''))
  const head = ledger.head()
  const note = ledger.rowsAfter(0, head.seq).find(({ type }) => type === 'note.created')
  if (!note) throw new Error('there is no note')
  const row = { ...note, seq: head.seq + 1, id: 'newer', key: 'newer', version: 9 }
  ledger.importRows([{ ...row, hash: chainHash(head.hash, row.seq, row) }])
}

test('refuses newer events in a directory that names no build', async () => {
  const directory = await directoryWithNote()
  rmSync(join(directory, 'build.json'))
  addNewer(directory)
  const before = digests(directory)
  const message = await startWholeService({ directory }).catch((error: Error) => error.message)
  expect(digests(directory)).toEqual(before)
  expect(message).toMatch(
    /^This ledger was last written by a version of Delegate, which is newer than this build, /,
  )
  expect(message).toContain('or restore an earlier backup into an empty directory.')
})

test('reports a damaged event as damage, not as a newer one', async () => {
  const directory = await directoryWithNote()
  tamper(directory, "UPDATE events SET type = 'note.cr\uFFFD' WHERE type = 'note.created'")
  await expect(startWholeService({ directory })).rejects.toThrow(
    /^event \d+ is not what was written: .*\. Nothing was changed\. .*npm run ledger:salvage$/,
  )
})

test('goes back to an older build while the newer one has written nothing that it does not know', async () => {
  const directory = await directoryWithNote()
  writtenBy(directory, '0.3.0', (events) => {
    events['note.shared'] = 1
  })
  const lines = await startAndStop(directory)
  expect(lineOf(lines, 'upgrading')).toMatchObject({ from: '0.3.0 (commit abc1234)' })
})

test('shows the progress of a long rebuild on its port, then answers there', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  const events = 100_000
  generateLedger(directory, events)
  const port = await lastingPort()
  const client = createClient(Number(port))
  const environment = { PORT: port }
  let isRunning = false
  const starting = startWholeService({ directory, environment, installed: false }).then((service) => {
    isRunning = true
    return service
  })
  const get = (path: string) => client.get(path).catch(() => null)
  await expect.poll(() => isRunning || get('/ready'), { interval: 5 }).toBeTruthy()
  const refused = await get('/api/timeline')
  expect(refused).toMatchObject({ status: 503, json: { code: 'upgrading', status: 503 } })
  expect(refused?.headers['retry-after']).toBe('2')
  expect(await get('/health')).toMatchObject({ status: 200, json: { status: 'ok' } })
  const seen = []
  while (!isRunning) {
    const ready = await get('/ready')
    if (ready?.json.status === 'upgrading') seen.push(ready.json)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await starting
  expect(seen[0]).toMatchObject({ status: 'upgrading', step: 'views', total: events })
  expect(seen.at(-1).done).toBeGreaterThan(seen[0].done)
  expect(await get('/ready')).toMatchObject({ status: 200 })
})

test('refuses an upgrade without room for its backup, and goes on without one if told to', async (context) => {
  const disk = mountSmallDisk(40)
  if (!disk) return context.skip('this process may not mount a file system')
  const { directory } = disk
  await directoryWithNote(directory)
  writtenBy(directory, '0.1.0', older)
  const before = digests(directory)
  const message = await startWholeService({ directory }).catch((error: Error) => error.message)
  expect(message).toMatch(/no room for the backup .* Free \d+ MB on the disk of .*UPGRADE_WITHOUT_BACKUP=1/)
  expect(digests(directory)).toEqual(before)
  const lines = await startAndStop(directory, { UPGRADE_WITHOUT_BACKUP: '1' })
  expect(lineOf(lines, 'no backup is made before the upgrade')).toBeDefined()
  expect(readdirSync(directory)).not.toContain('upgrades')
  expect(lineOf(await startAndStop(directory), 'upgrading')).toBeUndefined()
})

test('removes what an interrupted backup left, before it looks for room', async (context) => {
  const disk = mountSmallDisk(100)
  if (!disk) return context.skip('this process may not mount a file system')
  const { directory } = disk
  await directoryWithNote(directory)
  writtenBy(directory, '0.1.0', older)
  const partial = join(directory, 'upgrades', '.0.1.0-20260101T120000Z.partial-99')
  mkdirSync(partial, { recursive: true })
  writeFileSync(join(partial, 'ledger.sqlite'), Buffer.alloc(60_000_000))
  await startAndStop(directory)
  expect(upgradesOf(directory)).toEqual([expect.stringMatching(/^0\.1\.0-abc1234-/)])
})
