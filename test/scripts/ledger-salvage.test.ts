import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Encrypter } from 'age-encryption'
import { expect, test } from 'vitest'
import { ledgerFile } from '../../ledger/files.ts'
import { headFile } from '../../ledger/witness.ts'
import { createOwnerQueries } from '../../projections/owner.ts'
import { makeBackup } from '../../scripts/lib/backup.ts'
import { damagePages } from '../support/damage.ts'
import { digests, filesHolding, testDirectory } from '../support/directory.ts'
import { expectHonest, rowsIn } from '../support/salvaging.ts'
import { startWholeService } from '../support/service.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { openTestStorage } from '../support/storage.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { CLEAN_ENVIRONMENT, fillDirectory, headOf, type Ran, runScript } from './run-script.ts'

const RECORDED = join(import.meta.dirname, '../recorded/data')

/** A stopped directory with damaged pages, and its rows before. */
function damaged(events = 300) {
  const directory = testDirectory()
  fillDirectory(directory, events)
  const rows = rowsIn(directory)
  damagePages(ledgerFile(directory), [
    { kind: 'zeros', page: 10, other: 0 },
    { kind: 'noise', page: 20, other: 7 },
  ])
  return { directory, rows, target: `${testDirectory()}/salvaged` }
}

/** The ranges that the command printed. */
function reported({ out }: Ran) {
  const ranges = [...out.matchAll(/^MISSING: (?:event (\d+)|\d+ events, (\d+) to (\d+)), between /gm)]
  const missing = ranges.map(([, one, first, last]) => ({
    firstSeq: Number(one ?? first),
    lastSeq: Number(one ?? last),
    after: null,
    before: null,
  }))
  return { missing, saved: Number(/^Saved (\d+) events/.exec(out)?.[1]) }
}

test('saves a damaged ledger, names what is missing, and the service starts with it', async () => {
  const { directory, rows, target } = damaged()
  const before = digests(directory)
  const ran = await runScript('ledger-salvage', directory, [target])
  expect([ran.code, ran.err]).toEqual([3, ''])
  expect(digests(directory)).toEqual(before)
  const lost = expectHonest(target, rows, reported(ran))
  expect(lost.length).toBeGreaterThan(10)
  expect(lost.length).toBeLessThan(30)
  expect(await runScript('ledger-salvage', directory, [target])).toMatchObject({ code: 1, out: '' })

  const verified = await runScript('ledger-verify', target)
  expect(verified).toMatchObject({ code: 0, err: '' })
  expect(verified.out).toMatch(/^The ledger is sound, but INCOMPLETE: 303 events\./)
  expect(verified.out).toMatch(/^gap {4}events \d+ to \d+ are missing, as event 303 acknowledges$/m)
  expect(headOf(verified.out)).toBe(headOf(ran.out))

  const storage = await openTestStorage(target, { verifyAfterMs: 0 })
  await expect.poll(async () => (await storage.status()).verification.status).toBe('sound')
  expect((await storage.status()).projections.every(({ error }) => error === null)).toBe(true)
  expect(createOwnerQueries(storage.views).outboundHeld()).toMatchObject({ heldSeq: 303 })
})

test('is complete with a backup, and says so', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  const backup = `${testDirectory()}/backup`
  const target = `${testDirectory()}/salvaged`
  fillDirectory(directory, 300)
  await makeBackup(directory, backup, Date.now)
  const writer = openTestWriter(directory)
  writer.append(said('after the backup'))
  writer.close()
  const rows = rowsIn(directory)
  damagePages(ledgerFile(directory), [
    { kind: 'noise', page: 2, other: 3 },
    { kind: 'zeros', page: 12, other: 0 },
  ])
  const ran = await runScript('ledger-salvage', directory, [target, '--from', backup])
  expect([ran.code, ran.err]).toEqual([0, ''])
  expect(ran.out).toMatch(/^The ledger is complete\.$/m)
  expect(expectHonest(target, rows, reported(ran))).toEqual([])
  expect((await runScript('ledger-verify', target)).out).toMatch(/^The ledger is sound: 304 events\.\n/)
})

test('fills from an export with a damaged line, and later from the export again', {
  tags: ['long'],
}, async () => {
  const directory = testDirectory()
  const [file, half, whole] = ['export', 'half', 'whole'].map((name) => join(testDirectory(), name)) as [
    string,
    string,
    string,
  ]
  fillDirectory(directory, 300)
  const rows = rowsIn(directory)
  await runScript('ledger-export', directory, [file])
  const lines = readFileSync(file, 'utf8')
  const broken = `${file}-broken`
  writeFileSync(broken, lines.replace('needle 50 ', 'needle 51 '))
  damagePages(ledgerFile(directory), [{ kind: 'zeros', page: 10, other: 0 }])
  const ran = await runScript('ledger-salvage', directory, [half, '--from', broken])
  expect(ran.code).toBe(3)
  expect(expectHonest(half, rows, reported(ran))).toEqual([50])

  const again = await runScript('ledger-salvage', half, [whole, '--from', file])
  expect([again.code, again.err]).toEqual([3, ''])
  expect(again.out).toMatch(/The end is unknown/)
  expect(expectHonest(whole, [...rows, ...rowsIn(half).slice(rows.length)], reported(again))).toEqual([])
})

test('refuses a file that is no export, and says what to do with an encrypted backup', async () => {
  const { directory, target } = damaged(30)
  const backup = `${testDirectory()}/delegate-2026-01-01T030000Z.backup`
  const encrypter = new Encrypter()
  encrypter.setScryptWorkFactor(1)
  encrypter.setPassphrase('a long passphrase')
  writeFileSync(backup, await encrypter.encrypt('tar'))
  expect(await runScript('ledger-salvage', directory, [target, '--from', backup])).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/is no export\. Restore an encrypted backup into a new directory first/),
  })
  expect(existsSync(target)).toBe(false)
})

test('takes nothing from a source with another history or another ledger', { tags: ['long'] }, async () => {
  const { directory, rows, target } = damaged()
  const [forked, other] = [testDirectory(), testDirectory()]
  cpSync(directory, forked, { recursive: true })
  rmSync(ledgerFile(forked))
  rmSync(headFile(forked))
  rmSync(join(forked, 'views.sqlite'))
  const early = openTestWriter(forked, { newId: () => createIdOf(directory) })
  early.append(...Array.from({ length: 400 }, (_, index) => said(`forged ${index}`)))
  early.close()
  const ran = await runScript('ledger-salvage', directory, [target, '--from', forked])
  expect(ran.code).toBe(3)
  expect(expectHonest(target, rows, reported(ran)).length).toBeGreaterThan(10)
  expect(ran.out).not.toContain('of them from')

  fillDirectory(other, 10)
  const refused = await runScript('ledger-salvage', directory, [`${target}-2`, '--from', other])
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/holds another ledger/) })
  expect(existsSync(`${target}-2`)).toBe(false)
})

const createIdOf = (directory: string): string =>
  JSON.parse(readFileSync(headFile(directory), 'utf8')).ledgerId

test('reports the lost end that only ledger.head knows, and an end that nobody knows', async () => {
  const directory = testDirectory()
  const [one, two] = [`${testDirectory()}/one`, `${testDirectory()}/two`]
  fillDirectory(directory, 300)
  const rows = rowsIn(directory)
  const bytes = readFileSync(ledgerFile(directory))
  writeFileSync(ledgerFile(directory), bytes.subarray(0, 20 * 4096 + 100))
  const ran = await runScript('ledger-salvage', directory, [one])
  expect(ran.code).toBe(3)
  expect(reported(ran).missing).toMatchObject([{ lastSeq: 302 }])
  expectHonest(one, rows, reported(ran))
  rmSync(headFile(directory))
  const blind = await runScript('ledger-salvage', directory, [two])
  expect([blind.code, reported(blind).missing]).toEqual([3, []])
  expect(blind.out).toMatch(/^The end is unknown/m)
})

test('saves events behind a damaged frame of the log', async () => {
  const live = testDirectory()
  const directory = testDirectory()
  const writer = openTestWriter(live)
  for (let index = 1; index <= 60; index += 1) writer.append(said(`message ${index} ${'words '.repeat(100)}`))
  cpSync(live, directory, { recursive: true })
  const rows = rowsIn(live)
  writer.close()
  const log = `${ledgerFile(directory)}-wal`
  const bytes = readFileSync(log)
  bytes.fill(0, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 100)
  writeFileSync(log, bytes)
  const ran = await runScript('ledger-salvage', directory, [`${directory}-new`])
  expect(expectHonest(`${directory}-new`, rows, reported(ran))).toEqual([])
  rmSync(`${directory}-new`, { recursive: true })
})

test('reads a read-only disk', async ({ skip }) => {
  const disk = mountSmallDisk(8)
  if (disk === null) return skip('this process may not mount a file system')
  const { directory, rows, target } = damaged()
  cpSync(directory, disk.directory, { recursive: true })
  disk.makeReadOnly()
  const ran = await runScript('ledger-salvage', disk.directory, [target])
  expect([ran.code, ran.err]).toEqual([3, ''])
  expectHonest(target, rows, reported(ran))
})

const NOBODY = 65_534
const canBeNobody =
  process.getuid?.() === 0 &&
  spawnSync('cat', [join(import.meta.dirname, '../../package.json')], { uid: NOBODY, gid: NOBODY }).status ===
    0

test.skipIf(!canBeNobody)('reads a directory that its account may only read (needs root)', async () => {
  const { directory, rows, target } = damaged()
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o444)
  chmodSync(directory, 0o555)
  chmodSync(dirname(target), 0o777)
  const before = digests(directory)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '../../scripts/ledger-salvage.ts'), target],
    { uid: NOBODY, gid: NOBODY, env: { ...CLEAN_ENVIRONMENT, DATA_DIR: directory }, encoding: 'utf8' },
  )
  expect([status, stderr]).toEqual([3, ''])
  expect(digests(directory)).toEqual(before)
  expectHonest(target, rows, reported({ code: status, out: stdout, err: stderr }))
})

test('copies settings, key and adaptations, and leaves out damaged settings', {
  tags: ['long'],
}, async () => {
  const [sound, broken] = [testDirectory(), testDirectory()]
  for (const directory of [sound, broken]) cpSync(RECORDED, directory, { recursive: true })
  writeFileSync(join(broken, 'settings.sqlite'), 'no database at all')
  const rows = rowsIn(sound)
  const copied = await runScript('ledger-salvage', sound, [join(sound, '../', `${Date.now()}-a`)])
  expect(copied.err).toBe('')
  const target = /into (\S+)\./.exec(copied.out)?.[1] ?? ''
  expectHonest(target, rows, reported(copied))
  for (const name of ['settings.sqlite', 'secret.key', 'adaptations'])
    expect(existsSync(join(target, name))).toBe(true)
  const left = await runScript('ledger-salvage', broken, [`${target}-b`])
  expect(left.out).toMatch(/^settings\.sqlite is left out: .*\. Put back settings/m)
  expect(existsSync(join(`${target}-b`, 'settings.sqlite'))).toBe(false)
  for (const path of [target, `${target}-b`]) rmSync(path, { recursive: true })
})

test('builds the views of every kind of fact around gaps', { tags: ['long'] }, async () => {
  for (let seed = 1; seed <= 4; seed += 1) {
    const directory = testDirectory()
    cpSync(RECORDED, directory, { recursive: true })
    damagePages(
      ledgerFile(directory),
      Array.from({ length: 12 }, (_, index) => ({ kind: 'zeros', page: seed + index * 11, other: 0 })),
    )
    const target = join(testDirectory(), 'salvaged')
    const ran = await runScript('ledger-salvage', directory, [target])
    expect([ran.code, ran.err]).toEqual([3, ''])
    const storage = await openTestStorage(target)
    await storage.catchUpLagging()
    const stalled = (await storage.status()).projections.filter(({ error }) => error !== null)
    expect(stalled).toEqual([])
  }
})

test('the whole service starts with a salvaged directory, and its views match', {
  tags: ['long'],
}, async () => {
  const directory = testDirectory()
  const target = join(testDirectory(), 'salvaged')
  cpSync(RECORDED, directory, { recursive: true })
  damagePages(ledgerFile(directory), [
    { kind: 'zeros', page: 30, other: 0 },
    { kind: 'noise', page: 60, other: 1 },
  ])
  expect((await runScript('ledger-salvage', directory, [target])).code).toBe(3)
  const { client, stop } = await startWholeService({ directory: target })
  expect((await client.get('/ready')).status).toBe(200)
  const { events } = (await client.get('/api/timeline?limit=100')).json
  const salvagedFacts = events.filter(({ type }: { type: string }) => type === 'ledger.salvaged')
  expect(salvagedFacts).toMatchObject([{ payload: { filled: 0, sources: [] } }])
  expect((await client.get('/api/outbound')).json).toMatchObject({ heldSince: expect.any(String) })
  await stop()
  expect(await runScript('ledger-replay', target)).toMatchObject({ code: 0, err: '' })
})

test('exports and imports a salvaged ledger, gaps included', { tags: ['long'] }, async () => {
  const { directory, target } = damaged()
  const copy = join(testDirectory(), 'copy')
  const file = join(testDirectory(), 'export')
  const ran = await runScript('ledger-salvage', directory, [target])
  expect((await runScript('ledger-export', target, [file])).code).toBe(0)
  const imported = await runScript('ledger-import', copy, [file])
  expect([imported.code, imported.err]).toEqual([0, ''])
  expect(headOf(imported.out)).toBe(headOf(ran.out))
  expect((await runScript('ledger-verify', copy)).out).toMatch(/INCOMPLETE/)
})

test('erases again what a lost fact had erased, and brings no words back', async () => {
  const directory = testDirectory()
  const [backup, target] = [`${testDirectory()}/backup`, `${testDirectory()}/salvaged`]
  const writer = openTestWriter(directory)
  const messages = Array.from({ length: 100 }, (_, index) => said(`needle-${index} ${'straw '.repeat(20)}`))
  writer.append(...messages)
  await makeBackup(directory, backup, Date.now)
  writer.forget(3, 50)
  writer.append(...messages.map((_, index) => said(`later-${index} ${'straw '.repeat(20)}`)))
  writer.close()
  const rows = rowsIn(directory)
  const bytes = readFileSync(ledgerFile(directory))
  const pageOf = (seq: number) => Math.floor(bytes.indexOf(rows[seq - 1]?.id ?? '') / 4096)
  damagePages(
    ledgerFile(directory),
    [50, 101].map((seq) => ({ kind: 'zeros', page: pageOf(seq), other: 0 })),
  )
  const ran = await runScript('ledger-salvage', directory, [target, '--from', backup])
  expect([ran.code, ran.err]).toEqual([3, ''])
  expect(expectHonest(target, rows, reported(ran))).toContain(101)
  const saved = rowsIn(target)
  expect([3, 50].map((seq) => saved[seq - 1]?.body)).toEqual([null, null])
  expect(saved.at(-1)).toMatchObject({ type: 'erased', facts: '{"seqs":[3,50],"reason":"owner"}' })
  expect(filesHolding(target, 'needle-48 ')).toHaveLength(1)
  expect(filesHolding(target, 'needle-49 ')).toEqual([])
})

test('saves nothing where nothing is proven, and leaves nothing behind', async () => {
  const directory = testDirectory()
  const target = join(testDirectory(), 'salvaged')
  mkdirSync(target)
  writeFileSync(ledgerFile(directory), Buffer.alloc(40_960))
  const ran = await runScript('ledger-salvage', directory, [target])
  expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^Nothing could be saved/) })
  expect(existsSync(ledgerFile(target))).toBe(false)
  const empty = await runScript('ledger-salvage', testDirectory(), [target])
  expect(empty).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^There is no ledger in /) })
})
