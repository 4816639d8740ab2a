import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { openVectorStore } from '../../../src/memory/recall/vectors.ts'
import { testDirectory } from '../../support/directory.ts'
import { openIndex } from './indexed.ts'

function open(model = 'model-a', directory = testDirectory()) {
  const index = openIndex(join(directory, 'views.sqlite'))
  index.db.exec('CREATE TABLE erasure_hidden (seq INTEGER NOT NULL, erasureId TEXT NOT NULL)')
  const file = join(directory, 'vectors.sqlite')
  const openStore = (name: string) => {
    const db = new Database(file)
    onTestFinished(() => void db.close())
    db.prepare('ATTACH ? AS views').run(join(directory, 'views.sqlite'))
    return openVectorStore({ db, viewsSchema: 'views', model: name })
  }
  return { index, file, openStore, store: openStore(model) }
}

const vector = (...numbers: number[]) => Float32Array.from(numbers)

test('the nearest come first, by angle and not by length, as far as they stand out from the others', () => {
  const { index, store } = open()
  const seqs = index.say(...Array.from({ length: 30 }, (_, at) => `entry ${at}`))
  const [near = 0, same = 0, ...others] = seqs
  store.put([
    { seq: near, vector: vector(1, 4, 0) },
    { seq: same, vector: vector(0, 5, 0) },
    ...others.map((seq, at) => ({ seq, vector: vector(1, at / 1000, 0) })),
  ])
  const found = store.nearest(vector(0, 2, 0), 9)
  expect(found.map(({ seq }) => seq)).toEqual([same, near])
  expect(found[0]?.similarity).toBeCloseTo(1, 6)
  expect(found[1]?.similarity).toBeGreaterThan(0.9)
})

test('what has no vector yet is told, the newest first, until it has one', () => {
  const { index, store } = open()
  const [a = 0, b = 0, c = 0] = index.say('a', 'b', 'c')
  expect(store.missing(2)).toEqual([c, b])
  store.put([{ seq: c, vector: vector(1, 0, 0) }])
  expect(store.missing(9)).toEqual([b, a])
})

test('a vector goes with its entry, and no byte of it is left', () => {
  const { index, store, file } = open()
  const [a = 0, b = 0] = index.say('a', 'b')
  const secret = vector(0.123456, 0.654321, 0.111213)
  store.put([
    { seq: a, vector: secret },
    { seq: b, vector: vector(0, 1, 0) },
  ])
  expect(readFileSync(file).includes(Buffer.from(secret.buffer))).toBe(true)
  index.remove(a)
  expect(store.prune()).toBe(1)
  expect(store.nearest(secret, 9).map(({ seq }) => seq)).toEqual([b])
  expect(readFileSync(file).includes(Buffer.from(secret.buffer))).toBe(false)
})

test('no byte is left in the slack of a page either, whatever is forgotten in whatever order', () => {
  const { index, store, file } = open()
  const seqs = index.say(...Array.from({ length: 300 }, (_, at) => `entry ${at}`))
  const secret = (seq: number) => Float32Array.from({ length: 40 }, (_, at) => Math.sin(seq * 100 + at))
  // As the backlog comes: the newest first, some at a time.
  for (let from = seqs.length; from > 0; from -= 30)
    store.put(seqs.slice(from - 30, from).map((seq) => ({ seq, vector: secret(seq) })))
  const gone = seqs.filter((seq) => (seq * 7919) % 3 !== 0)
  for (const seq of gone) store.forget([seq])
  const bytes = readFileSync(file)
  const holds = (seq: number) => {
    const all = Buffer.from(secret(seq).buffer)
    return [0, 40, 80, 120].some((at) => bytes.includes(all.subarray(at, at + 40)))
  }
  expect(gone.filter(holds)).toEqual([])
  expect(seqs.filter((seq) => !gone.includes(seq)).every(holds)).toBe(true)
  expect(store.coverage()).toEqual({ embedded: seqs.length - gone.length, total: seqs.length })
})

test('once all have a vector only news are looked through; what was hidden meanwhile is found when it is shown', () => {
  const { index, store } = open()
  const [a = 0, b = 0] = index.say('a', 'b')
  index.db.prepare('INSERT INTO erasure_hidden VALUES (?, ?)').run(a, 'x')
  expect(store.missing(9)).toEqual([b])
  store.put([{ seq: b, vector: vector(1, 0, 0) }])
  expect(store.missing(9)).toEqual([])
  const c = index.remember('c')
  expect(store.missing(9)).toEqual([c])
  index.db.exec('DELETE FROM erasure_hidden')
  expect(store.missing(9)).toEqual([c, a])
})

test('what is no entry any more gets no vector', () => {
  const { index, store } = open()
  const [a = 0] = index.say('a')
  index.remove(a)
  store.put([{ seq: a, vector: vector(1, 0, 0) }])
  expect(store.coverage().embedded).toBe(0)
})

test('vectors of another model are dropped: they do not compare; so are those of another length', () => {
  const { index, store, openStore } = open('model-a')
  const [a = 0, b = 0] = index.say('a', 'b')
  store.put([{ seq: a, vector: vector(1, 0, 0) }])
  store.put([{ seq: b, vector: vector(1, 0, 0, 0) }])
  expect(store.missing(9)).toEqual([a])
  expect(openStore('model-b').missing(9)).toEqual([b, a])
})

test('vectors of different lengths in one batch are refused, and none of them is kept', () => {
  const { index, store } = open()
  const [a = 0, b = 0] = index.say('a', 'b')
  const batch = [
    { seq: a, vector: vector(1, 0, 0) },
    { seq: b, vector: vector(1, 0) },
  ]
  expect(() => store.put(batch)).toThrow(RangeError)
  expect(store.missing(9)).toEqual([b, a])
})
