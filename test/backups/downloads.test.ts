import { createWriteStream, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPromise } from 'yauzl'
import { createDownloads } from '../../src/backups/downloads.ts'
import { type Answer, createClient } from '../http/client.ts'
import { claudeConversation, jsonList, over, upload, writeZip } from '../imports/exports.ts'
import { runScript } from '../scripts/run-script.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD, startWholeService, type WholeService } from '../support/service.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'
import { PASSPHRASE, untilFacts } from './harness.ts'

/** Asks for a download and waits until it can be fetched. */
async function ready(service: WholeService, request: object) {
  return untilReady(service, await service.client.post('/api/downloads', request))
}

async function untilReady({ client }: WholeService, asked: Answer) {
  expect([asked.status, asked.text]).toEqual([201, expect.any(String)])
  const find = async () => {
    const { downloads } = (await client.get('/api/downloads')).json
    return downloads.find(({ id }: { id: string }) => id === asked.json.id)
  }
  await expect.poll(async () => (await find()).state).toBe('ready')
  return find()
}

/** Fetches a file as a browser does. Resolves to its path. */
async function fetched({ client, origin }: WholeService, { id, name }: { id: string; name: string }) {
  const answer = await fetch(`${origin}/api/downloads/${id}/file`, {
    headers: { cookie: client.cookie() ?? '' },
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`)
  const path = join(testDirectory(), name)
  await pipeline(Readable.fromWeb(answer.body as never), createWriteStream(path))
  return path
}

/** The entries of a zip, by name. */
async function entriesOf(path: string): Promise<Record<string, string>> {
  const zip = await openPromise(path)
  const entries: Record<string, string> = {}
  for await (const entry of zip.eachEntry())
    entries[entry.fileName] = await text(await zip.openReadStreamPromise(entry))
  return entries
}

/** What the owner's pages show. */
async function pagesOf({ client }: WholeService, throughSeq: number) {
  const events = (await client.get('/api/timeline?limit=5000')).json.events
  return {
    timeline: events.filter(({ seq }: { seq: number }) => seq <= throughSeq),
    notes: (await client.get('/api/notes')).json.notes,
    // The strength of a memory fades by the second.
    memories: (await client.get('/api/memories')).json.memories.map((memory: object) => ({
      ...memory,
      strength: null,
    })),
    timers: (await client.get('/api/timers')).json.timers,
    adaptations: (await client.get('/api/adaptations')).json.adaptations,
    imported: (await client.get('/api/imported')).json.conversations,
    fern: (await client.get('/api/imported/claude-fern')).json,
  }
}

test('downloads a backup that restores on an empty machine', async () => {
  const service = await startWholeService()
  await service.client.post('/api/notes', { title: 'Harbour', content: 'The boat leaves at nine.' })
  expect((await service.client.post('/api/downloads', { kind: 'backup' })).json.errors).toEqual([
    { path: 'passphrase', message: expect.any(String) },
  ])
  const made = await ready(service, { kind: 'backup', passphrase: PASSPHRASE })
  const file = await fetched(service, made)

  const restored = join(testDirectory(), 'data')
  const environment = { BACKUP_PASSPHRASE: PASSPHRASE }
  const { code, err } = await runScript('restore', restored, [file], { environment })
  expect([code, err]).toEqual([0, ''])
  const verified = await runScript('ledger-verify', restored)
  expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('head')])
  const other = await startWholeService({ directory: restored, installed: false })
  await other.client.post('/login', { password: PASSWORD })
  expect((await other.client.get('/api/notes')).json.notes).toMatchObject([{ title: 'Harbour' }])
})

test('exports everything in open formats, from which an empty directory gets the same pages', async () => {
  const service = await startWholeService()
  const { client } = service
  await client.post('/api/chat', { content: 'Remember that my cat is called Minka.' })
  await client.post('/api/notes', { title: 'Über das Boot', content: 'It leaves at nine.' })
  await client.post('/api/timers', { title: 'Water the ferns', at: '2090-01-01T09:00:00Z' })
  await client.post('/api/adaptations/brief', { title: 'Brief', content: 'Be brief.' })
  await untilFacts(service, 'memory.extraction.completed')
  const talk = claudeConversation({ id: 'fern', title: 'Ferns', texts: ['How much water?', 'Little.'] })
  const exported = { 'conversations.json': () => jsonList([talk]) }
  await over(service, await upload(service, await writeZip('claude.zip', exported)))
  const file = await fetched(service, await ready(service, { kind: 'export' }))
  const entries = await entriesOf(file)
  const found = (pattern: RegExp) =>
    Object.entries(entries).flatMap(([name, content]) => (pattern.test(name) ? [content] : []))
  expect(found(/^conversations\/\d{4}-\d{2}\.md$/)).toEqual([
    expect.stringMatching(/\*\*You\*\*, .*\n\nRemember that my cat is called Minka\.\n\n\*\*Delegate\*\*/),
  ])
  expect(found(/^notes\/Über-das-Boot-[\w-]+\.md$/)).toEqual(['# Über das Boot\n\nIt leaves at nine.\n'])
  expect(found(/^instructions\/Brief-brief\.md$/)).toEqual(['# Brief\n\nBe brief.\n'])
  expect(found(/^imported\/2024-03-01-claude-fern\.md$/)).toEqual([
    expect.stringMatching(/^# Ferns\n\n\*\*You\*\*, .*\n\nHow much water\?\n\n\*\*Assistant\*\*/),
  ])
  expect(entries['memories.md']).toContain('Minka')
  expect(entries['reminders.ics']).toContain('SUMMARY:Water the ferns')
  expect(entries['README.md']).toMatch(/reminders\.ics: .* next 90 days, at most 100 times/)
  const [header = '', ...rows] = (entries['ledger.jsonl'] ?? '').trim().split('\n')
  expect(JSON.parse(header)).toMatchObject({ format: 'delegate-ledger', version: 1, events: rows.length })

  const imported = join(testDirectory(), 'data')
  const ran = await runScript('ledger-import', imported, [file])
  expect([ran.code, ran.err]).toEqual([0, ''])
  const password = 'another walk by the river'
  const reset = await runScript('owner-reset-password', imported, [], { input: `${password}\n` })
  expect([reset.code, reset.err]).toEqual([0, expect.any(String)])
  const other = await startWholeService({ directory: imported, installed: false })
  expect((await other.client.post('/login', { password })).status).toBe(200)
  expect(await pagesOf(other, rows.length)).toEqual(await pagesOf(service, rows.length))
})

test('writes the words of an export in the language of the page that asks for it', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const german = { headers: { 'accept-language': 'de' } }
  await service.client.post('/api/chat', { content: 'My cat is called Minka.' })
  const asked = await service.client.post('/api/downloads', { kind: 'export' }, german)
  const entries = await entriesOf(await fetched(service, await untilReady(service, asked)))
  expect(entries['README.md']).toMatch(/^# Alles, was Delegate für dich aufbewahrt\n\n- ledger\.jsonl: /)
  const [, said] = Object.entries(entries).find(([name]) => name.startsWith('conversations/')) ?? []
  expect(said).toMatch(/\*\*Du\*\*, .*\n\nMy cat is called Minka\./)
  expect(entries['memories.md']).toMatch(/^# Gedächtnis\n/)
})

test('leaves no words in an export that are erased while it is made or fetched', async () => {
  const service = await startWholeService()
  const { client } = service
  const note = (await client.post('/api/notes', { title: 'Quartz', content: 'A quartz vault.' })).json
  const made = await ready(service, { kind: 'export' })
  const erasure = (await client.post('/api/erasures', { kind: 'note', id: note.id })).json
  const now = async () => (await client.get('/api/downloads')).json.downloads[0]
  expect(await now()).toMatchObject({ id: made.id, state: 'waiting', bytes: null })
  expect((await client.get(`/api/downloads/${made.id}/file`)).status).toBe(404)
  // Undone, so it is made again; then erased for good.
  expect((await client.post(`/api/erasures/${erasure.id}/undo`)).status).toBe(200)
  await expect.poll(async () => (await now()).state).not.toBe('waiting')
  const { events } = (await client.get('/api/timeline?limit=100')).json
  const created = events.find(({ type }: { type: string }) => type === 'note.created')
  expect((await client.delete(`/api/timeline/events/${created.seq}`)).json).toEqual({ erased: 1 })
  await expect.poll(async () => (await now()).state).toBe('ready')
  const entries = await entriesOf(await fetched(service, await now()))
  expect(JSON.stringify(entries).toLowerCase()).not.toContain('quartz')
  expect((await client.delete(`/api/downloads/${made.id}`)).status).toBe(204)
  expect(readdirSync(join(service.directory, '.backup', 'downloads'))).toEqual([])
})

test('needs a recent proof, and gives the file to the session that asked for it only', async () => {
  const clock = { aheadMs: 0 }
  const service = await startWholeService({ nowMs: () => Date.now() + clock.aheadMs })
  const { client } = service
  const made = await ready(service, { kind: 'export' })
  clock.aheadMs += 6 * 60_000
  expect((await client.post('/api/downloads', { kind: 'export' })).json.code).toBe('step_up_required')
  const other = createClient(service.port)
  await other.post('/login', { password: PASSWORD })
  expect((await other.get(`/api/downloads/${made.id}/file`)).status).toBe(404)
  // A link to a file that it cannot have would only fail.
  expect((await other.get('/api/downloads')).json.downloads).toEqual([])
  expect((await client.get(`/api/downloads/${made.id}/file`)).status).toBe(200)
  await service.stop()
  expect(existsSync(join(service.directory, '.backup', 'downloads', made.id))).toBe(false)
})

const REQUESTS = [{ kind: 'export' }, { kind: 'backup', passphrase: PASSPHRASE }]

/** Asks for a download that cannot be made. Resolves to the reason. */
async function failureOf({ client }: WholeService, request: object): Promise<string> {
  const asked = await client.post('/api/downloads', request)
  expect([asked.status, asked.text]).toEqual([201, expect.any(String)])
  const find = async () =>
    (await client.get('/api/downloads')).json.downloads.find(({ id }: { id: string }) => id === asked.json.id)
  await expect.poll(async () => (await find()).state).toBe('failed')
  return (await find()).reason
}

test('begins no download that the disk has no room for', { tags: ['long'] }, async (context) => {
  // Less than what stays free for the ledger.
  const disk = mountSmallDisk(40)
  if (!disk) return context.skip('this process may not mount a file system')
  const service = await startWholeService({ directory: disk.directory })
  for (const request of REQUESTS)
    expect(await failureOf(service, request)).toMatch(
      /^The disk is full\. Free \d+ MB, but do not delete any file in DATA_DIR\.$/,
    )
  expect(existsSync(join(disk.directory, '.backup', 'downloads'))).toBe(false)
})

test('leaves nothing on a full disk, and says why there is no download', {
  tags: ['long'],
}, async (context) => {
  const disk = mountSmallDisk(60)
  if (!disk) return context.skip('this process may not mount a file system')
  const service = await startWholeService({ directory: disk.directory })
  disk.fill()
  for (const request of REQUESTS) expect(await failureOf(service, request)).toMatch(/^The disk is full\./)
  expect(existsSync(join(disk.directory, '.backup', 'downloads'))).toBe(false)
  const failures = service.written.filter((line) => line.includes('a download could not be made'))
  expect(failures).toHaveLength(2)
})

test('keeps a file for an hour, and while somebody still fetches it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const dataDir = testDirectory()
  const downloads = createDownloads({
    storage: await openTestStorage(dataDir),
    runJob: async ({ directory, name }) => {
      mkdirSync(directory, { recursive: true })
      writeFileSync(join(directory, name), 'words')
      return { status: 'done', ledgerId: '', bytes: 5, digest: '', events: 0, headHash: '' }
    },
    dataDir,
    timezone: () => 'UTC',
    newId,
    nowMs: Date.now,
    log: { error: () => undefined, warn: () => undefined },
  })
  const { id } = downloads.request({ kind: 'export' }, 'mine')
  await expect.poll(() => downloads.list('mine')[0]?.state).toBe('ready')
  const stream = downloads.open(id, 'mine')?.stream
  vi.advanceTimersByTime(61 * 60_000)
  expect(downloads.list('mine')).toHaveLength(1)
  stream?.destroy()
  await expect.poll(() => stream?.closed).toBe(true)
  vi.advanceTimersByTime(61 * 60_000)
  expect(downloads.list('mine')).toEqual([])
})
