import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { chainHash, GENESIS_HASH } from '../../ledger/codec.ts'
import { exportLines } from '../../ledger/export.ts'
import { ledgerFile, openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { createTimelineQueries } from '../../projections/timeline-page.ts'
import { linesOf } from '../../scripts/lib/lines.ts'
import { digests, filesIn, testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { openTestStorage } from '../support/storage.ts'
import { pageOf } from '../support/timeline-page.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { CLEAN_ENVIRONMENT, fillDirectory, headOf, runScript, startScript, tamper } from './run-script.ts'

/** Parses a line of an export. */
// biome-ignore lint/suspicious/noExplicitAny: tests read lines of any shape.
type Line = any

const parse = (text: string): Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
const write = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Recomputes the hashes of all lines, as someone who forges a whole ledger could. */
function chained([header, ...rows]: readonly Line[]): Line[] {
  let headHash = GENESIS_HASH
  const linked = rows.map((row) => {
    const draft = { key: null, causedBy: null, derivedFrom: null, channel: null, bodyDigest: null }
    const places = { conversationId: null, spanId: null, turnId: null }
    headHash = chainHash(headHash, row.seq, { ...draft, ...places, ...row })
    return { ...row, hash: headHash }
  })
  return [{ ...header, headHash }, ...linked]
}

/** A stopped directory and its export. */
function exported(count: number) {
  const directory = testDirectory()
  fillDirectory(directory, count)
  const db = openLedgerReadOnly(directory)
  const text = [...exportLines(db)].join('')
  db.close()
  return { directory, text }
}

test('exports a ledger as JSON Lines and imports it as the same ledger', async () => {
  const source = testDirectory()
  const storage = await openTestStorage(source)
  await storage.append([said('a line\nbreak, a \u2028 separator, a lone \ud800 half, 東京, "quotes"')])
  for (let index = 0; index < 30; index += 1)
    await storage.append([said(`word ${index}`, { conversationId: 'c', spanId: `s${index % 3}` })])
  await storage.erase([4], 'owner')
  const { seq, hash } = storage.ledger.head()

  const file = join(testDirectory(), 'ledger.jsonl')
  const written = await runScript('ledger-export', source, [file])
  expect([written.code, written.out]).toEqual([0, ''])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const [header, ...rows] = parse(readFileSync(file, 'utf8'))
  expect(header).toEqual({
    format: 'delegate-ledger',
    version: 1,
    events: seq,
    headHash: hash,
    ledgerId: storage.ledger.id(),
  })
  expect(rows).toHaveLength(seq)
  expect(rows[3]).not.toHaveProperty('body')
  expect(rows[3]).not.toHaveProperty('salt')
  expect(rows[3].bodyDigest).toMatch(/^[0-9a-f]{64}$/)
  expect((await runScript('ledger-export', source, ['-'])).out).toBe(readFileSync(file, 'utf8'))

  const target = join(testDirectory(), 'new', 'data')
  const read = await runScript('ledger-import', target, [file])
  expect([read.code, read.err]).toEqual([0, ''])
  expect(headOf(read.out)).toBe(headOf(written.err))
  expect(headOf((await runScript('ledger-verify', target)).out)).toBe(headOf(written.err))
  expect(statSync(target).mode & 0o777).toBe(0o700)
  expect(statSync(join(target, 'ledger.sqlite')).mode & 0o777).toBe(0o600)
  expect(readdirSync(target).sort()).toEqual(expect.arrayContaining(['ledger.sqlite', 'lock.sqlite']))

  const copy = await openTestStorage(target)
  expect(copy.ledger.readRange(1, seq)).toEqual(storage.ledger.readRange(1, seq))
  const page = ({ views, ledger }: typeof copy) => pageOf(createTimelineQueries(views, ledger))
  expect(page(copy)).toEqual(page(storage))
})

test.each<[string, string, (lines: Line[]) => Line[]]>([
  ['is empty', 'the input is empty', () => []],
  ['is not an export', 'line 1 has an invalid format', ([, ...rows]) => rows],
  ['ends early', 'the input ends after event 11 of 12', (lines) => lines.slice(0, -1)],
  [
    'goes on after its end',
    'more events than the header',
    (lines) => [...lines, { ...lines.at(-1), seq: 13 }],
  ],
  ['lacks a line', 'line 8: event 7 is missing', (lines) => lines.filter((_, index) => index !== 7)],
  ['has a line twice', 'line 9: event 8 is missing', (lines) => lines.toSpliced(8, 0, lines[7])],
  [
    'was changed in its words',
    'line 8: event 7',
    (lines) => lines.with(7, { ...lines[7], body: '{"text":"no"}' }),
  ],
  [
    'was changed in its facts',
    'line 8: event 7',
    (lines) => lines.with(7, { ...lines[7], facts: '{"a":1}' }),
  ],
  [
    'names another head',
    'does not match the header',
    (lines) => lines.with(0, { ...lines[0], headHash: 'a'.repeat(64) }),
  ],
  [
    'holds together, and names a moment that is none',
    'line 8 has an invalid format: at',
    (lines) => chained(lines.with(7, { ...lines[7], at: 'yesterday' })),
  ],
  [
    'holds together, and derives what nobody knows from nothing that there is',
    'line 8: event 7: derivedFrom is not a list of seqs',
    (lines) => chained(lines.with(7, { ...lines[7], type: 'future.thing', derivedFrom: 'no' })),
  ],
  [
    'holds together, and derives from what comes after it',
    'line 8: event 7 derives from a later event or itself',
    (lines) => chained(lines.with(7, { ...lines[7], derivedFrom: '[2,7]' })),
  ],
  ['has what no row has', 'line 8 has an invalid format', (lines) => lines.with(7, { ...lines[7], more: 1 })],
  [
    'lost a body that nothing erased',
    'event 7 has lost its body',
    (lines) => {
      const { body: _body, salt: _salt, ...rest } = lines[7]
      return lines.with(7, rest)
    },
  ],
])('refuses an export that %s, and leaves nothing behind', async (_what, reason, change) => {
  const { text, directory } = exported(10)
  const file = join(directory, 'changed.jsonl')
  writeFileSync(file, write(change(parse(text))))
  const parent = testDirectory()
  const target = join(parent, 'new', 'data')
  const { code, out, err } = await runScript('ledger-import', target, [file])
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain(reason)
  expect(err).not.toContain('needle')
  expect(readdirSync(parent)).toEqual([])
})

test('joins a line that comes in thousands of pieces only once', async () => {
  const piece = 'straw '.repeat(2_500)
  const pieces = 5_000
  async function* chunks() {
    yield 'first\nsec'
    yield 'ond\n'
    for (let index = 0; index < pieces; index += 1) yield piece
    yield '\n\nlast'
  }
  const lines: string[] = []
  for await (const line of linesOf(chunks())) lines.push(line)
  expect(lines.toSpliced(2, 1)).toEqual(['first', 'second', '', 'last'])
  expect(lines[2]).toHaveLength(piece.length * pieces)
})

test('names a line that is not JSON without showing it', async () => {
  const { text } = exported(3)
  const target = join(testDirectory(), 'data')
  const input = text.replace('needle 2', 'needle" 2')
  const { code, err } = await runScript('ledger-import', target, ['-'], { input })
  expect([code, err]).toEqual([1, 'Nothing was imported: line 3 is not JSON.\n'])
  expect(existsSync(target)).toBe(false)
})

test('explains which command reads a file that is not an export', async () => {
  const target = join(testDirectory(), 'data')
  const directory = testDirectory()
  const file = join(directory, 'export.jsonl')
  const importing = async (source: string) => (await runScript('ledger-import', target, [source])).err
  expect(await importing(file)).toBe(`${file} does not exist.\n`)
  expect(await importing(directory)).toContain('is a directory, not an export.')
  writeFileSync(file, exported(3).text)
  expect(await runScript('restore', target, [file])).toMatchObject({
    code: 1,
    err: `${file} is an export, not a backup. To read it, run npm run ledger:import.\n`,
  })
  expect(existsSync(target)).toBe(false)
})

test('refuses a directory that is not empty, apart from a key', async () => {
  const { text } = exported(3)
  const other = testDirectory()
  fillDirectory(other, 2)
  const before = digests(other)
  const refused = await runScript('ledger-import', other, ['-'], { input: text })
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('is not empty (ledger.head')])
  expect(digests(other)).toEqual(before)

  const target = testDirectory()
  writeFileSync(join(target, 'secret.key'), 'a key')
  expect((await runScript('ledger-import', target, ['-'], { input: 'no' })).code).toBe(1)
  expect(readdirSync(target)).toEqual(['secret.key'])
  expect((await runScript('ledger-import', target, ['-'], { input: text })).code).toBe(0)
  expect(readFileSync(join(target, 'secret.key'), 'utf8')).toBe('a key')
})

test('restricts an existing directory to its owner', async () => {
  const { text } = exported(3)
  const target = testDirectory()
  chmodSync(target, 0o755)
  writeFileSync(join(target, 'secret.key'), 'a key', { mode: 0o644 })
  expect((await runScript('ledger-import', target, ['-'], { input: text })).code).toBe(0)
  const modes = [target, ...filesIn(target)].map((path) => [path, (statSync(path).mode & 0o777).toString(8)])
  expect(modes).toEqual([[target, '700'], ...filesIn(target).map((path) => [path, '600'])])
})

test.each<[NodeJS.Signals, string[]]>([
  ['SIGTERM', []],
  ['SIGKILL', ['.incoming', 'lock.sqlite']],
])('creates no ledger from an import ended by %s, and lets the next one succeed', async (signal, left) => {
  const { text } = exported(10)
  const target = join(testDirectory(), 'data')
  const child = startScript('ledger-import', target, ['-'])
  child.stdin.write(text.slice(0, text.length / 2))
  await expect.poll(() => existsSync(join(target, '.incoming', 'ledger.sqlite'))).toBe(true)
  child.kill(signal)
  await once(child, 'close')
  expect(
    existsSync(target)
      ? readdirSync(target)
          .filter((name) => !name.endsWith('-journal'))
          .sort()
      : [],
  ).toEqual(left)
  expect((await runScript('ledger-import', target, ['-'], { input: text })).code).toBe(0)
})

test('creates no ledger from an import whose last pages do not fit on the disk', {
  tags: ['long'],
}, async () => {
  const source = testDirectory()
  const writer = openTestWriter(source)
  // More than an import writes at once, so that its log is emptied in between and the ledger outgrows it.
  writer.append(...Array.from({ length: 220 }, () => said('straw '.repeat(16_000))))
  writer.close()
  const file = join(testDirectory(), 'ledger.jsonl')
  expect((await runScript('ledger-export', source, [file])).code).toBe(0)
  const bytes = statSync(ledgerFile(source)).size
  const target = join(testDirectory(), 'data')
  const script = fileURLToPath(new URL('../../scripts/ledger-import.ts', import.meta.url))
  // No file may reach the last megabyte of the ledger's size.
  const limited = `ulimit -f ${Math.floor(bytes / 1024) - 1024}; exec "$0" "$@"`
  const ran = spawnSync('bash', ['--norc', '-c', limited, process.execPath, script, file], {
    env: { ...CLEAN_ENVIRONMENT, DATA_DIR: target },
    encoding: 'utf8',
  })
  expect([ran.status, ran.stdout]).toEqual([1, ''])
  expect(ran.stderr).toMatch(/^the ledger could not be written: [^\n]+\n$/)
  expect(existsSync(target)).toBe(false)
})

test('completes the clean-up of the first signal when more follow', async () => {
  const { text } = exported(10)
  const target = join(testDirectory(), 'data')
  const child = startScript('ledger-import', target, ['-'])
  child.stdin.on('error', () => undefined).write(text.slice(0, text.length / 2))
  await expect.poll(() => existsSync(join(target, '.incoming', 'ledger.sqlite'))).toBe(true)
  const again = setInterval(() => child.kill('SIGINT'), 0)
  const [code] = await once(child, 'close')
  clearInterval(again)
  expect([code, existsSync(target)]).toEqual([130, false])
})

test('does not overwrite a file, and does not export a damaged ledger', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  const parent = testDirectory()
  const file = join(parent, 'ledger.jsonl')
  writeFileSync(file, 'mine')
  expect((await runScript('ledger-export', directory, [file])).err).toBe(`${file} already exists.\n`)
  expect(readFileSync(file, 'utf8')).toBe('mine')
  tamper(directory, `UPDATE events SET facts = '{"a":1}' WHERE seq = 7`)
  const { code, err } = await runScript('ledger-export', directory, [join(parent, 'other.jsonl')])
  expect([code, err]).toEqual([1, expect.stringMatching(/^DAMAGED at event 7: /)])
  expect(readdirSync(parent)).toEqual(['ledger.jsonl'])
})

test('holds outbound work after an import until the owner releases it, across restarts', async () => {
  const { text } = exported(5)
  const directory = join(testDirectory(), 'data')
  const before = Date.now()
  expect((await runScript('ledger-import', directory, ['-'], { input: text })).code).toBe(0)
  const { headHash, events } = JSON.parse(text.split('\n')[0] ?? '')

  const first = await startWholeService({ directory })
  const { heldSince } = (await first.client.get('/api/outbound')).json
  expect(Date.parse(heldSince)).toBeGreaterThanOrEqual(before)
  await first.stop()

  const second = await startWholeService({ directory })
  expect((await second.client.get('/api/outbound')).json).toEqual({ heldSince, waitingTexts: null })
  const released = await second.client.post('/api/outbound/release', {})
  expect([released.status, released.json]).toEqual([200, { heldSince: null, waitingTexts: null }])
  const again = await second.client.post('/api/outbound/release', {})
  expect([again.status, again.json.code]).toEqual([409, 'not_held'])
  await second.stop()

  const third = await startWholeService({ directory })
  expect((await third.client.get('/api/outbound')).json).toEqual({ heldSince: null, waitingTexts: null })
  await third.stop()
  const db = openLedgerReadOnly(directory)
  const facts = createReader(db).readAfter(events, 100)
  db.close()
  expect(
    facts.filter(({ type }) => type === 'ledger.imported' || type === 'outbound.released'),
  ).toMatchObject([
    { seq: events + 1, type: 'ledger.imported', facts: { source: 'import', headSeq: events, headHash } },
    { type: 'outbound.released', actor: 'owner', causedBy: events + 1 },
  ])
})
