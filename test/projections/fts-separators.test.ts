import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSeparatorCleaner } from '../../projections/fts-separators.ts'

/** Pages of few words, so that there are many names. */
const PAGE_BYTES = 64

function openIndex() {
  const db = new Database(':memory:')
  db.exec(`
    CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT) STRICT;
    CREATE VIRTUAL TABLE found USING fts5(text, content='texts', content_rowid='id',
      tokenize="unicode61 remove_diacritics 0", prefix='5');
    INSERT INTO found (found, rank) VALUES ('secure-delete', 1);
    INSERT INTO found (found, rank) VALUES ('pgsz', ${PAGE_BYTES});`)
  const keep = db.prepare('INSERT INTO texts VALUES (?, ?)')
  const index = db.prepare('INSERT INTO found (rowid, text) VALUES (?, ?)')
  const textOf = db.prepare<[number], string>('SELECT text FROM texts WHERE id = ?').pluck()
  const unindex = db.prepare("INSERT INTO found (found, rowid, text) VALUES ('delete', ?, ?)")
  const drop = db.prepare('DELETE FROM texts WHERE id = ?')
  const clean = createSeparatorCleaner(db, 'found')
  const names = db
    .prepare<[], string>('SELECT CAST(substr(term, 2) AS BLOB) FROM found_idx WHERE length(term) > 1')
    .pluck()
  return {
    db,
    add: db.transaction((id: number, text: string) => {
      keep.run(id, text)
      index.run(id, text)
    }),
    remove: db.transaction((ids: readonly number[]) => {
      const texts = ids.map((id) => textOf.get(id) ?? '')
      ids.forEach((id, at) => {
        unindex.run(id, texts[at])
        drop.run(id)
      })
      clean(texts.join(' ').split(' '))
    }),
    names: () => names.all().map((name) => Buffer.from(name).toString('latin1')),
    pages: () => db.prepare('SELECT segid, pgno FROM found_idx ORDER BY segid, pgno').all(),
    check: () => db.exec("INSERT INTO found (found, rank) VALUES ('integrity-check', 1)"),
    count: (word: string) =>
      db.prepare('SELECT count(*) FROM found WHERE found MATCH ?').pluck().get(`"${word}"`),
    beginning: (word: string) =>
      db.prepare('SELECT count(*) FROM found WHERE found MATCH ?').pluck().get(`"${word}" *`),
  }
}

const aWord = fc.oneof(
  fc.stringMatching(/^[abc]{1,9}$/),
  fc.stringMatching(/^canary[a-z]{3,9}$/),
  fc.stringMatching(/^[éäñ東京]{1,7}$/),
  // Of all the last, so that nothing follows what is erased.
  fc.stringMatching(/^𠀀{4,6}[a-z]{1,3}$/u),
)

test('whatever is deleted: pages are named by words that are left, and all that is left is found', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(aWord, { minLength: 1, maxLength: 4 }), {
        minLength: 30,
        maxLength: 90,
        size: 'max',
      }),
      fc.infiniteStream(fc.nat()),
      (texts, picks) => {
        const index = openIndex()
        for (const [at, words] of texts.entries()) index.add(at + 1, words.join(' '))
        const left = new Map(texts.map((words, at) => [at + 1, words]))
        const pick = (below: number) => picks.next().value % below
        while (left.size > 0) {
          const ids = Array.from({ length: 1 + pick(8) }, () => [...left.keys()][pick(left.size)] ?? 0)
          const gone = [...new Set(ids)]
          index.remove(gone)
          for (const id of gone) left.delete(id)
          index.check()
          const words = [...left.values()].flat()
          const bytes = words.map((word) => Buffer.from(word).toString('latin1'))
          for (const name of index.names()) expect(bytes.some((word) => word.startsWith(name))).toBe(true)
          for (const word of new Set(words)) {
            const holding = [...left.values()].filter((text) => text.includes(word)).length
            expect(index.count(word)).toBe(holding)
            const beginning = [...word].slice(0, 5).join('')
            const begun = [...left.values()].filter((text) => text.some((each) => each.startsWith(beginning)))
            expect(index.beginning(beginning)).toBe(begun.length)
          }
        }
        index.db.close()
      },
    ),
    { numRuns: 12 },
  )
})

test('a page is named anew where it lies: an erasure costs what it deletes, not what the index holds', () => {
  const index = openIndex()
  const words = Array.from({ length: 500 }, (_, at) => `canary${String(at * 7919).padStart(7, '0')}`)
  for (const [at, word] of words.entries()) index.add(at + 1, word)
  index.db.exec("INSERT INTO found (found) VALUES ('optimize')")
  const pages = index.pages()
  expect(pages.length).toBeGreaterThan(50)
  const firstOnPage = index.names().map((name) => words.findIndex((word) => word.startsWith(name)))
  const gone = [...new Set(firstOnPage)].filter((_, nth) => nth % 5 === 0)
  const before = index.names()
  for (const at of gone) index.remove([at + 1])
  const left = words.filter((_, at) => !gone.includes(at))
  expect(before.filter((name) => !left.some((word) => word.startsWith(name))).length).toBeGreaterThan(5)
  expect(index.names().filter((name) => !left.some((word) => word.startsWith(name)))).toEqual([])
  expect(index.pages()).toEqual(pages)
  index.check()
  index.db.close()
})
