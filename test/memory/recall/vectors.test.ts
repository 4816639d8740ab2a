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
    const store = openVectorStore(db)
    store.use(name)
    return store
  }
  return { index, file, openStore, store: openStore(model) }
}

const vector = (...numbers: number[]) => Float32Array.from(numbers)

test('ranks by angle, not by length, and cuts off what does not stand out', () => {
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

test('lists entries without a vector, newest first', () => {
  const { index, store } = open()
  const [a = 0, b = 0, c = 0] = index.say('a', 'b', 'c')
  expect(store.missing(2)).toEqual([c, b])
  store.put([{ seq: c, vector: vector(1, 0, 0) }])
  expect(store.missing(9)).toEqual([b, a])
})

test('lists an entry that is back, although all others have a vector', () => {
  const { index, store } = open()
  const [a = 0, b = 0] = index.say('a', 'b')
  index.entries.bar([a])
  store.put([{ seq: b, vector: vector(1, 0, 0) }])
  expect(store.missing(9)).toEqual([])
  index.entries.unbar([a])
  expect(store.missing(9)).toEqual([a])
})

test('removes every byte of a vector with its entry', () => {
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

test('leaves no byte in the slack of a page, in any order of removal', () => {
  const { index, store, file } = open()
  const seqs = index.say(...Array.from({ length: 300 }, (_, at) => `entry ${at}`))
  const secret = (seq: number) => Float32Array.from({ length: 40 }, (_, at) => Math.sin(seq * 100 + at))
  // As in a backlog: newest first, in batches.
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

test('checks only new entries once all have a vector, and finds restored ones', () => {
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

test('adds no vector for a removed entry', () => {
  const { index, store } = open()
  const [a = 0] = index.say('a')
  index.remove(a)
  store.put([{ seq: a, vector: vector(1, 0, 0) }])
  expect(store.coverage().embedded).toBe(0)
})

test('drops vectors of another model or length', () => {
  const { index, store, openStore } = open('model-a')
  const [a = 0, b = 0] = index.say('a', 'b')
  store.put([{ seq: a, vector: vector(1, 0, 0) }])
  store.put([{ seq: b, vector: vector(1, 0, 0, 0) }])
  expect(store.missing(9)).toEqual([a])
  expect(openStore('model-b').missing(9)).toEqual([b, a])
})

test('rejects a batch with vectors of different lengths as a whole', () => {
  const { index, store } = open()
  const [a = 0, b = 0] = index.say('a', 'b')
  const batch = [
    { seq: a, vector: vector(1, 0, 0) },
    { seq: b, vector: vector(1, 0) },
  ]
  expect(() => store.put(batch)).toThrow(RangeError)
  expect(store.missing(9)).toEqual([b, a])
})
