import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockDirectory } from '../../ledger/lock.ts'
import { createTimelineQueries } from '../../projections/timeline-page.ts'
import { makeBackup } from '../../scripts/lib/backup.ts'
import { openSettingsStore } from '../../src/settings/store.ts'
import { digests, filesHolding, testDirectory } from '../support/directory.ts'
import { PASSWORD, startWholeService, type WholeService } from '../support/service.ts'
import { openTestStorage } from '../support/storage.ts'
import { pageOf } from '../support/timeline-page.ts'
import { said } from '../support/writer.ts'
import { fillDirectory, headOf, runScript, startScript, tamper } from './run-script.ts'

test('restores a backup made under load to the printed head, page by page', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  for (let index = 0; index < 400; index += 1)
    await storage.append([
      said(`one ${index} ${'straw '.repeat(50)}`, { spanId: `s${index % 7}`, conversationId: 'c' }),
    ])
  const backup = join(testDirectory(), 'deep', 'backup')
  let isOver = false
  const running = runScript('backup', directory, [backup]).finally(() => {
    isOver = true
  })
  for (let round = 0; !isOver; round += 1)
    await storage.append([said('meanwhile '.repeat(100)), said('and again', { spanId: `m${round}` })])
  const made = await running
  expect([made.code, made.err]).toEqual([0, ''])
  const [, seq = 0, hash] = /^head {3}(\d+) ([0-9a-f]{64})$/m.exec(made.out) ?? []
  expect(Number(seq)).toBeGreaterThanOrEqual(400)
  expect(storage.ledger.hashAt(Number(seq))).toBe(hash)
  expect(readdirSync(backup).sort()).toEqual(['backup.json', 'ledger.sqlite'])

  const target = join(testDirectory(), 'data')
  const restored = await runScript('restore', target, [backup])
  expect([restored.code, restored.err, headOf(restored.out)]).toEqual([0, '', headOf(made.out)])
  expect(headOf((await runScript('ledger-verify', target)).out)).toBe(headOf(made.out))
  const copy = await openTestStorage(target)
  expect(copy.ledger.id()).toBe(storage.ledger.id())
  const page = ({ views, ledger }: typeof copy) =>
    pageOf(createTimelineQueries(views, ledger), {
      limit: 100,
      cursor: { beforeSeq: Number(seq) + 1, asOfSeq: Number(seq) },
    })
  expect(page(copy).events.at(-1)?.seq).toBe(Number(seq))
  expect(page(copy)).toEqual(page(storage))
})

test('restores a whole service with its settings and password, without sessions, and sends nothing', async () => {
  const service = await startWholeService()
  const put = await service.client.put('/api/config', {
    entries: { OPENAI_API_KEY: 'sk-canary-key', SESSION_IDLE_MINUTES: 77 },
  })
  expect(put.status).toBe(200)
  const backup = join(testDirectory(), 'backup')
  const made = await runScript('backup', service.directory, [backup])
  expect([made.code, made.err]).toEqual([0, ''])
  expect(readdirSync(backup).sort()).toEqual(['backup.json', 'ledger.sqlite', 'settings.sqlite'])
  for (const file of readdirSync(backup)) expect(statSync(join(backup, file)).mode & 0o777).toBe(0o600)
  expect(filesHolding(backup, 'sk-canary-key')).toEqual([])
  const before = digests(backup)

  const directory = join(testDirectory(), 'data')
  expect((await runScript('restore', directory, [backup])).code).toBe(0)
  expect(digests(backup)).toEqual(before)
  const restored = await startWholeService({ directory, installed: false })
  restored.client.useCookie(service.client.cookie())
  expect((await restored.client.get('/api/config')).status).toBe(401)
  expect((await restored.client.post('/login', { password: PASSWORD })).status).toBe(200)
  const { entries } = (await restored.client.get('/api/config')).json
  const entry = (key: string) => entries.find((each: { key: string }) => each.key === key)
  expect(entry('SESSION_IDLE_MINUTES')).toMatchObject({ value: 77, source: 'stored' })
  expect(entry('OPENAI_API_KEY')).toMatchObject({ source: 'stored', set: false })
  expect((await restored.client.get('/api/outbound')).json.heldSince).toMatch(/Z$/)
})

test('restores the secrets of a service if its key is there', async () => {
  const service = await startWholeService()
  await service.client.put('/api/config', { entries: { OPENAI_API_KEY: 'sk-canary-key' } })
  const backup = join(testDirectory(), 'backup')
  expect((await runScript('backup', service.directory, [backup])).code).toBe(0)
  const directory = testDirectory()
  copyFileSync(join(service.directory, 'secret.key'), join(directory, 'secret.key'))
  const { code, out } = await runScript('restore', directory, [backup])
  expect([code, out]).toEqual([0, expect.not.stringContaining('secret.key')])
  const restored = await startWholeService({ directory })
  const { entries } = (await restored.client.get('/api/config')).json
  expect(entries.find(({ key }: { key: string }) => key === 'OPENAI_API_KEY').source).toBe('stored')
})

test('does not back up into a directory with files, into the data directory, or a damaged ledger', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  const inside = await runScript('backup', directory, [join(directory, 'inside')])
  expect([inside.code, inside.err]).toEqual([1, 'The backup must be outside the data directory.\n'])
  expect(existsSync(join(directory, 'inside'))).toBe(false)
  const parent = testDirectory()
  writeFileSync(join(parent, 'mine'), 'mine')
  const refused = await runScript('backup', directory, [parent])
  expect([refused.code, refused.err]).toEqual([
    1,
    `${parent} is not empty. A backup needs an empty directory.\n`,
  ])
  tamper(directory, `UPDATE events SET facts = '{"a":1}' WHERE seq = 7`)
  const { code, out, err } = await runScript('backup', directory, [join(parent, 'backup')])
  expect([code, out, err]).toEqual([1, '', expect.stringMatching(/^DAMAGED at event 7: /)])
  expect(readdirSync(parent)).toEqual(['mine'])
})

test.each<[string, (backup: string) => void, string]>([
  ['holds no backup', (backup) => rmSync(join(backup, 'backup.json')), 'There is no backup in '],
  [
    'has another description',
    (backup) => writeFileSync(join(backup, 'backup.json'), '{}'),
    'does not describe a backup that this build can read',
  ],
  [
    'was changed',
    (backup) => tamper(backup, `UPDATE events SET facts = '{"a":1}' WHERE seq = 7`),
    'DAMAGED at event 7: ',
  ],
  [
    'was cut short',
    (backup) => tamper(backup, 'DELETE FROM events WHERE seq > 11'),
    'is not the one that was backed up',
  ],
  ['lacks its ledger', (backup) => rmSync(join(backup, 'ledger.sqlite')), 'lacks ledger.sqlite'],
  [
    'is another file',
    (backup) => writeFileSync(join(backup, 'ledger.sqlite'), 'x'.repeat(9000)),
    'it has no SQLite header',
  ],
])('refuses to restore a directory that %s, and leaves nothing behind', async (_what, change, reason) => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  const backup = join(testDirectory(), 'backup')
  await makeBackup(directory, backup, Date.now)
  change(backup)
  const parent = testDirectory()
  const { code, out, err } = await runScript('restore', join(parent, 'new', 'data'), [backup])
  expect([code, out, err]).toEqual([1, '', expect.stringContaining(reason)])
  expect(readdirSync(parent)).toEqual([])
})

test('refuses to restore into a directory in use', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 2)
  const backup = join(testDirectory(), 'backup')
  await makeBackup(directory, backup, Date.now)
  const before = digests(directory)
  const full = await runScript('restore', directory, [backup])
  expect([full.code, full.err]).toEqual([1, expect.stringContaining('is not empty')])
  expect(digests(directory)).toMatchObject(before)

  const target = testDirectory()
  const lock = lockDirectory(target)
  const held = await runScript('restore', target, [backup])
  expect([held.code, held.err]).toEqual([1, 'The service is running. Stop it first.\n'])
  lock.release()
  expect(readdirSync(target)).toEqual(['lock.sqlite'])
})

/**
 * Everything that an owner sees of a service: the content of every page, apart from what a restart changes.
 */
async function pagesOf({ client }: WholeService, throughSeq: number) {
  const get = async (path: string) => (await client.get(path)).json
  const { events } = await get('/api/timeline?limit=5000')
  const { notes } = await get('/api/notes')
  return {
    timeline: events.filter(({ seq }: { seq: number }) => seq <= throughSeq),
    notes: await Promise.all(notes.map(({ id }: { id: string }) => get(`/api/notes/${id}`))),
    memories: (await get('/api/memories')).memories,
    adaptations: await get('/api/adaptations'),
    instructions: (await get('/api/adaptations.preview?channel=sms')).instructions,
    timers: await get('/api/timers'),
  }
}

test('keeps head, pages and adaptation files through backup and restore', async () => {
  const directory = testDirectory()
  const outside = join(testDirectory(), 'elsewhere.md')
  writeFileSync(outside, 'the words of another')
  mkdirSync(join(directory, 'adaptations', 'old.md'), { recursive: true })
  const files = join(directory, 'adaptations')
  writeFileSync(join(files, 'tone.md'), '---\ntitle: Tone\nchannels: sms\n---\nBe terse.\n')
  writeFileSync(join(files, 'huge.md'), 'x'.repeat(200_000))
  writeFileSync(join(files, 'unfinished.txt'), 'no adaptation')
  symlinkSync(outside, join(files, 'linked.md'))
  // Memories fade with time, so both machines use the same clock time.
  const startedMs = Date.now()
  const nowMs = () => startedMs
  const service = await startWholeService({ directory, nowMs })
  const { client } = service
  await client.post('/api/chat', { content: 'Remember that my sister is called Ada.' })
  await client.post('/api/notes', { title: 'Garden', content: '# Beds\n\n- beans' })
  await client.post('/api/timers', { title: 'Water', at: '2031-04-11T08:00' })
  await client.post('/api/adaptations/mornings', { content: 'Say what the weather is.' })

  const backup = join(testDirectory(), 'backup')
  const made = await runScript('backup', directory, [backup])
  expect([made.code, made.err]).toEqual([0, ''])
  expect(readdirSync(join(backup, 'adaptations'))).toEqual(['huge.md', 'tone.md'])
  expect(statSync(join(backup, 'adaptations')).mode & 0o777).toBe(0o700)
  expect(filesHolding(backup, 'the words of another')).toEqual([])
  const seq = Number(/^head {3}(\d+) /m.exec(made.out)?.[1])
  const before = await pagesOf(service, seq)
  expect(before.instructions).toContain('Be terse.')
  expect(before.notes).toHaveLength(1)
  await service.stop()

  const target = join(testDirectory(), 'machine', 'data')
  const restored = await runScript('restore', target, [backup])
  expect([restored.code, restored.err, headOf(restored.out)]).toEqual([0, '', headOf(made.out)])
  expect(headOf((await runScript('ledger-verify', target)).out)).toBe(headOf(made.out))
  for (const file of readdirSync(join(backup, 'adaptations')))
    expect(readFileSync(join(target, 'adaptations', file))).toEqual(readFileSync(join(files, file)))
  const again = await startWholeService({ directory: target, nowMs })
  expect(await pagesOf(again, seq)).toEqual(before)
  expect((await again.client.post('/api/adaptations.reload', {})).json).toMatchObject({
    loaded: 1,
    skipped: [{ file: 'huge.md' }],
  })
})

test.each<[string, (file: string) => void]>([
  ['changed', (file) => writeFileSync(file, 'Be rude.')],
  ['missing', (file) => rmSync(file)],
  ['added', (file) => writeFileSync(file.replace('tone', 'more'), 'Be rude.')],
])('refuses to restore a backup with an adaptation file that was %s', async (_what, change) => {
  const directory = testDirectory()
  fillDirectory(directory, 3)
  mkdirSync(join(directory, 'adaptations'))
  writeFileSync(join(directory, 'adaptations', 'tone.md'), 'Be terse.')
  const backup = join(testDirectory(), 'backup')
  await makeBackup(directory, backup, Date.now)
  change(join(backup, 'adaptations', 'tone.md'))
  const target = join(testDirectory(), 'data')
  const { code, err } = await runScript('restore', target, [backup])
  expect([code, err]).toEqual([1, expect.stringMatching(/adaptations\/(tone|more)\.md/)])
  expect(existsSync(target)).toBe(false)
})

test('starts no new service after an interrupted restore, which can be run again', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  openSettingsStore(directory).close()
  mkdirSync(join(directory, 'adaptations'))
  writeFileSync(join(directory, 'adaptations', 'tone.md'), 'Be terse.')
  const backup = join(testDirectory(), 'backup')
  const made = await runScript('backup', directory, [backup])
  const target = join(testDirectory(), 'data')
  expect((await runScript('restore', target, [backup])).code).toBe(0)
  const incoming = join(target, '.incoming')
  mkdirSync(incoming)
  renameSync(join(target, 'ledger.sqlite'), join(incoming, 'ledger.sqlite'))
  const before = digests(target)

  await expect(openTestStorage(target)).rejects.toThrow(
    /^a restore or an import into .* was interrupted: run it again/,
  )
  // The storage thread may still be letting go of its lock.
  await expect.poll(() => digests(target)).toMatchObject(before)
  expect(existsSync(join(target, 'ledger.sqlite'))).toBe(false)
  const again = await runScript('restore', target, [backup])
  expect([again.code, again.err, headOf(again.out)]).toEqual([0, '', headOf(made.out)])
  expect(existsSync(incoming)).toBe(false)

  // Interrupted before anything was in place, so these files belong to someone else.
  const other = join(testDirectory(), 'data')
  cpSync(target, other, { recursive: true })
  mkdirSync(join(other, '.incoming'))
  renameSync(join(other, 'ledger.sqlite'), join(other, '.incoming', 'ledger.sqlite'))
  mkdirSync(join(other, '.incoming', 'adaptations'))
  const refused = await runScript('restore', other, [backup])
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('is not empty (adaptations)')])
  expect(existsSync(join(other, 'adaptations', 'tone.md'))).toBe(true)
})

test('removes the leftovers of a restore once a service runs on the ledger beside them', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 3)
  mkdirSync(join(directory, '.incoming'))
  writeFileSync(join(directory, '.incoming', 'ledger.sqlite'), 'words')
  await openTestStorage(directory)
  expect(existsSync(join(directory, '.incoming'))).toBe(false)
})

test('completes a restore even if nobody reads its output', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  const backup = join(testDirectory(), 'backup')
  expect((await runScript('backup', directory, [backup])).code).toBe(0)
  const target = join(testDirectory(), 'data')
  const child = startScript('restore', target, [backup])
  child.stdout.destroy()
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect([code, err]).toEqual([0, ''])
  expect((await runScript('ledger-verify', target)).code).toBe(0)
})
