import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeIndex } from '../../projections/merge-index.ts'

/** Small pages, so that there are many separators. */
const PAGE_BYTES = 64

function openIndex() {
  const db = new Database(':memory:')
  db.exec(`
    CREATE VIRTUAL TABLE found USING fts5(text, tokenize="unicode61 remove_diacritics 0", prefix='5');
    INSERT INTO found (found, rank) VALUES ('secure-delete', 1);
    INSERT INTO found (found, rank) VALUES ('pgsz', ${PAGE_BYTES});`)
  const index = db.prepare('INSERT INTO found (rowid, text) VALUES (?, ?)')
  const drop = db.prepare('DELETE FROM found WHERE rowid = ?')
  const names = db
    .prepare<[], string>('SELECT CAST(substr(term, 2) AS BLOB) FROM found_idx WHERE length(term) > 1')
    .pluck()
  return {
    db,
    add: (id: number, text: string) => index.run(id, text),
    remove: db.transaction((ids: readonly number[]) => {
      for (const id of ids) drop.run(id)
    }),
    names: () => names.all().map((name) => Buffer.from(name).toString('latin1')),
    check: () => db.exec("INSERT INTO found (found, rank) VALUES ('integrity-check', 1)"),
    count: (query: string) => db.prepare('SELECT count(*) FROM found WHERE found MATCH ?').pluck().get(query),
  }
}

const aWord = fc.oneof(
  fc.stringMatching(/^[abc]{1,9}$/),
  fc.stringMatching(/^canary[a-z]{3,9}$/),
  fc.stringMatching(/^[éäñ東京]{1,7}$/),
  // Sorts last, so that nothing follows the erased words.
  fc.stringMatching(/^𠀀{4,6}[a-z]{1,3}$/u),
)

test('keeps only remaining words as page separators after a merge, and finds each of them', {
  tags: ['long'],
}, () => {
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
        const left = new Map(texts.map((words, at) => [at + 1, words]))
        for (const [id, words] of left) index.add(id, words.join(' '))
        const pick = (below: number) => picks.next().value % below
        while (left.size > 0) {
          const gone = new Set(
            Array.from({ length: 1 + pick(8) }, () => [...left.keys()][pick(left.size)] ?? 0),
          )
          // Delete some before a merge that is interrupted.
          index.remove([...gone].slice(0, 4))
          for (const _ of mergeIndex(index.db, 'found')) if (pick(3) === 0) break
          index.remove([...gone].slice(4))
          for (const id of gone) left.delete(id)
          for (const step of mergeIndex(index.db, 'found')) expect(step).toBe('merging')
          index.check()
          const words = [...left.values()].flat()
          const bytes = words.map((word) => Buffer.from(word).toString('latin1'))
          for (const name of index.names()) expect(bytes.some((word) => word.startsWith(name))).toBe(true)
          for (const word of new Set(words)) {
            const holding = [...left.values()].filter((text) => text.includes(word)).length
            expect(index.count(`"${word}"`)).toBe(holding)
            const beginning = [...word].slice(0, 5).join('')
            const begun = [...left.values()].filter((text) => text.some((each) => each.startsWith(beginning)))
            expect(index.count(`"${beginning}" *`)).toBe(begun.length)
          }
        }
        index.db.close()
      },
    ),
    { numRuns: 12, endOnFailure: true },
  )
})
