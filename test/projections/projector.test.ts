import { copyFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { chainHash, type EventRow } from '../../ledger/codec.ts'
import { viewsFile } from '../../ledger/files.ts'
import type { Projection } from '../../projections/projection.ts'
import { traceLine } from '../../src/storage/trace.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said, type TestWriter } from '../support/writer.ts'

/** A projection that records the seqs of its events in a table of its name. */
function recorder(
  name: string,
  options: Partial<Projection> & { fail?: (seq: number) => boolean } = {},
): Projection {
  return {
    version: 1,
    tables: [name],
    schema: `CREATE TABLE ${name} (seq INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT;`,
    fold: (db) => ({
      every: ({ seq }) => {
        if (options.fail?.(seq)) throw new Error(`${name} cannot fold ${seq}`)
        db.prepare(`INSERT INTO ${name} VALUES (?, ?)`).run(seq, options.version ?? 1)
      },
      handlers: {},
    }),
    ...options,
    name,
  }
}

const open = (directory: string, ...projections: Projection[]) => openTestWriter(directory, { projections })

function seqsIn(directory: string, table: string): number[] {
  const db = new Database(viewsFile(directory), { readonly: true })
  const rows = db.prepare<[], { seq: number }>(`SELECT seq FROM ${table} ORDER BY seq`).all()
  db.close()
  return rows.map(({ seq }) => seq)
}

/** Appends an event of a type or version that only a later build can write. */
function appendAsLaterBuild(writer: TestWriter, row: EventRow): void {
  const { seq, hash } = writer.ledger.head()
  const { seq: _seq, hash: _hash, ...draft } = row
  writer.ledger.importRows([{ ...draft, seq: seq + 1, hash: chainHash(hash, seq + 1, draft) }])
}

test('continues a projection where it stopped', () => {
  const directory = testDirectory()
  const first = open(directory, recorder('a'))
  first.append(said('1'), said('2'))
  first.close()
  const second = open(directory, recorder('a'))
  second.append(said('3'))
  expect(second.status().projections).toEqual([{ name: 'a', seq: 3, lagging: false, error: null }])
  second.close()
  expect(seqsIn(directory, 'a')).toEqual([1, 2, 3])
})

test('catches up a new projection without folding the others again', () => {
  const directory = testDirectory()
  const first = open(directory, recorder('a'))
  first.append(said('1'), said('2'))
  first.close()
  const folded: string[] = []
  const second = openTestWriter(directory, {
    projections: [recorder('a'), recorder('b')],
    trace: ({ seq }, micros) => folded.push(`${[...micros.keys()].join()} ${seq}`),
  })
  expect(folded).toEqual(['b 1', 'b 2'])
  second.close()
})

test('rebuilds a projection with a changed version, and no other', () => {
  const directory = testDirectory()
  const first = open(directory, recorder('a'), recorder('b'))
  first.append(said('1'), said('2'))
  first.close()
  const folded: string[] = []
  const second = openTestWriter(directory, {
    projections: [recorder('a', { version: 2 }), recorder('b')],
    trace: ({ seq }, micros) => folded.push(`${[...micros.keys()].join()} ${seq}`),
  })
  expect(folded).toEqual(['a 1', 'a 2'])
  second.close()
})

test('stalls only the projection that throws, keeps its rows and folds the others', () => {
  const directory = testDirectory()
  const writer = open(directory, recorder('bad', { fail: (seq) => seq === 2 }), recorder('good'))
  writer.append(said('1'))
  expect(writer.append(said('2'))).toMatchObject({ status: 'appended' })
  writer.append(said('3'))
  expect(writer.status()).toEqual({
    projections: [
      { name: 'bad', seq: 1, lagging: false, error: 'bad cannot fold 2' },
      { name: 'good', seq: 3, lagging: false, error: null },
    ],
    ledgerError: null,
    viewsError: null,
    viewsCause: null,
  })
  expect(writer.warnings).toMatchObject([
    { message: 'a projection stalled', fields: { projection: 'bad', seq: 1 } },
  ])
  writer.close()
})

test('recovers a stalled projection with a fixed build, without missing an event', () => {
  const directory = testDirectory()
  const first = open(directory, recorder('bad', { fail: (seq) => seq === 2 }), recorder('good'))
  for (const text of ['1', '2', '3']) first.append(said(text))
  first.close()
  const fixed = open(directory, recorder('bad'), recorder('good'))
  expect(fixed.status().projections).toMatchObject([
    { seq: 3, error: null },
    { seq: 3, error: null },
  ])
  fixed.append(said('4'))
  fixed.close()
  expect(seqsIn(directory, 'bad')).toEqual([1, 2, 3, 4])
  expect(seqsIn(directory, 'good')).toEqual([1, 2, 3, 4])
})

test('folds a whole batch in the other projections when one stalls', () => {
  const directory = testDirectory()
  const writer = open(directory, recorder('bad', { fail: (seq) => seq === 2 }), recorder('good'))
  writer.append(said('1'), said('2'), said('3'))
  expect(writer.status().projections).toMatchObject([{ seq: 0 }, { seq: 3 }])
  writer.close()
})

test('rebuilds views that belong to another ledger', () => {
  const one = testDirectory()
  const other = testDirectory()
  for (const [directory, count] of [
    [one, 1],
    [other, 3],
  ] as const) {
    const writer = open(directory, recorder('a'))
    for (let index = 0; index < count; index += 1) writer.append(said('tea'))
    writer.close()
  }
  copyFileSync(viewsFile(other), viewsFile(one))
  const writer = open(one, recorder('a'))
  expect(writer.warnings).toMatchObject([{ fields: { reason: 'they belong to another ledger' } }])
  expect(writer.status().projections).toMatchObject([{ seq: 1 }])
  writer.close()
})

test('skips an unknown event type with a warning, and folds it once it is known', () => {
  const directory = testDirectory()
  const first = open(directory, recorder('a'))
  first.append(said('1'))
  const [row] = first.ledger.rowsAfter(0, 1)
  if (!row) throw new Error('no event')
  appendAsLaterBuild(first, { ...row, type: 'dream.dreamt', id: 'later', key: null })
  first.settle()
  expect(first.warnings).toMatchObject([{ fields: { type: 'dream.dreamt', events: 1 } }])
  expect(first.status().projections).toMatchObject([{ seq: 2, error: null }])
  first.append(said('3'))
  first.close()

  const same = open(directory, recorder('a'))
  expect(same.warnings).toEqual([])
  same.close()

  // Imitates a build that knows the type: marks a known type as skipped.
  const views = new Database(viewsFile(directory))
  views.exec("UPDATE views_unknown_types SET type = 'chat.message.received', version = 1")
  views.close()
  const later = open(directory, recorder('a'))
  expect(later.warnings[0]).toMatchObject({
    fields: { reason: 'this build knows an event type that they skipped' },
  })
  expect(later.status().projections).toMatchObject([{ seq: 3 }])
  later.close()
})

test('skips a later version of a known type, without a rebuild at every start', () => {
  const directory = testDirectory()
  const first = open(directory, recorder('a'))
  first.append(said('1'))
  const [row] = first.ledger.rowsAfter(0, 1)
  if (!row) throw new Error('no event')
  appendAsLaterBuild(first, { ...row, version: 99, id: 'later', key: null })
  first.settle()
  expect(first.warnings).toMatchObject([{ fields: { type: 'chat.message.received' } }])
  first.close()
  const again = open(directory, recorder('a'))
  expect(again.warnings).toEqual([])
  again.close()
})

test('traces an event once, although lagging projections fold it later', () => {
  const traced: string[] = []
  const writer = openTestWriter(testDirectory(), {
    projections: [recorder('a'), recorder('slow', { lagging: true }), recorder('late', { lagging: true })],
    trace: ({ seq }, micros) => traced.push(`${[...micros.keys()].join()} ${seq}`),
  })
  writer.append(said('1'), said('2'))
  writer.settle()
  expect(writer.status().projections).toMatchObject([{ seq: 2 }, { seq: 2 }, { seq: 2 }])
  expect(traced).toEqual(['a 1', 'a 2'])
  writer.close()
})

test('folds a lagging projection in steps of limited size', () => {
  const writer = open(testDirectory(), recorder('a'), recorder('slow', { lagging: true }))
  writer.append(...Array.from({ length: 25 }, () => said('tea')))
  const lag = () => writer.status().projections[1]?.seq
  expect(lag()).toBe(0)
  expect(writer.step(10)).toBe(true)
  expect(lag()).toBe(10)
  writer.settle()
  expect(lag()).toBe(25)
  writer.close()
})

test('shares a checkpoint among projections in step; a lagging or stalled one has its own', () => {
  const directory = testDirectory()
  const standing = () => {
    const db = new Database(viewsFile(directory), { readonly: true })
    const rows = db
      .prepare<[], { names: string; seq: number }>(
        `SELECT group_concat(name ORDER BY name) AS names, seq FROM views_checkpoints
         LEFT JOIN views_folds ON checkpoint = id GROUP BY id ORDER BY names`,
      )
      .all()
    db.close()
    return rows
  }
  const slow = recorder('slow', { lagging: true })
  const first = open(
    directory,
    recorder('a'),
    recorder('b', { fail: (seq) => seq === 3 }),
    recorder('c'),
    slow,
  )
  first.append(said('1'), said('2'))
  expect(standing()).toEqual([
    { names: 'a,b,c', seq: 2 },
    { names: 'slow', seq: 0 },
  ])
  first.settle()
  first.append(said('3'))
  first.append(said('4'))
  expect(standing()).toEqual([
    { names: 'a,c', seq: 4 },
    { names: 'b', seq: 2 },
    { names: 'slow', seq: 2 },
  ])
  first.close()
  const second = open(directory, recorder('a'), recorder('b'), recorder('c'), slow)
  second.append(said('5'))
  expect(standing()).toEqual([
    { names: 'a,b,c', seq: 5 },
    { names: 'slow', seq: 2 },
  ])
  second.close()
  for (const name of ['a', 'b', 'c']) expect(seqsIn(directory, name)).toEqual([1, 2, 3, 4, 5])
})

test('traces each event with its size and fold times, but without its words', () => {
  const lines: string[] = []
  const writer = openTestWriter(testDirectory(), {
    projections: [recorder('a'), recorder('b')],
    trace: (event, micros) => lines.push(traceLine(event, micros)),
  })
  writer.append(said('canarybird'))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^seq=1 type=chat\.message\.received bytes=23 a=\d+µs b=\d+µs$/)
  writer.close()
})
