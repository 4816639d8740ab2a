import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { openVectorStore } from '../../../src/memory/recall/vectors.ts'
import { testDirectory } from '../../support/directory.ts'
import { openIndex } from './indexed.ts'

function open(model = 'model-a', directory = testDirectory()) {
  const index = openIndex(join(directory, 'views.sqlite'))
  const file = join(directory, 'vectors.sqlite')
  const openStore = (name: string, dimensions = 3) => {
    const db = new Database(file)
    onTestFinished(() => void db.close())
    db.pragma('secure_delete = ON')
    db.prepare('ATTACH ? AS views').run(join(directory, 'views.sqlite'))
    return openVectorStore({ db, viewsSchema: 'views', model: name, dimensions })
  }
  return { index, file, openStore, store: openStore(model) }
}

const vector = (...numbers: number[]) => Float32Array.from(numbers)

test('the nearest come first, by angle and not by length', () => {
  const { index, store } = open()
  const [a = 0, b = 0, c = 0] = index.say('a', 'b', 'c')
  store.put([
    { seq: a, vector: vector(1, 0, 0) },
    { seq: b, vector: vector(0, 5, 0) },
    { seq: c, vector: vector(3, 3, 0) },
  ])
  const near = store.nearest(vector(0, 2, 0), 2)
  expect(near.map(({ seq }) => seq)).toEqual([b, c])
  expect(near[0]?.similarity).toBeCloseTo(1, 6)
  expect(near[1]?.similarity).toBeCloseTo(Math.SQRT1_2, 6)
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

test('vectors of another model are dropped: they do not compare', () => {
  const { index, store, openStore } = open('model-a')
  const [a = 0] = index.say('a')
  store.put([{ seq: a, vector: vector(1, 0, 0) }])
  expect(openStore('model-b').missing(9)).toEqual([a])
})

test('a vector of wrong dimensions is refused, and nothing of its batch is kept', () => {
  const { index, store } = open()
  const [a = 0, b = 0] = index.say('a', 'b')
  const batch = [
    { seq: a, vector: vector(1, 0, 0) },
    { seq: b, vector: vector(1, 0) },
  ]
  expect(() => store.put(batch)).toThrow(RangeError)
  expect(store.missing(9)).toEqual([b, a])
})
