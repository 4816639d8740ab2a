import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { hideParameters, openDatabase } from '../../ledger/database.ts'

const passedOver = [
  "'?'",
  "'it''s @here'",
  '"a ""?"" name"',
  '-- why? @this\n',
  '/* ? :and\n$that */',
  'x',
  ', ',
  ' = ',
]
const parameters = ['?', '?7', '@name', ':name', '$name']

test('a plus stands before each parameter and before nothing else', () => {
  const piece = fc.oneof(
    fc.constantFrom(...passedOver).map((text) => ({ text, hidden: text })),
    fc.constantFrom(...parameters).map((text) => ({ text, hidden: `+${text}` })),
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const join = (side: 'text' | 'hidden') => pieces.map((each) => each[side]).join(' ')
      expect(hideParameters(join('text'))).toBe(join('hidden'))
    }),
  )
})

const aValue = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(1.5, -0.5),
  fc.constantFrom('', '0', '1', '-1', '1.5', 'tea', '?'),
  fc.constantFrom('', 'tea').map((text) => Buffer.from(text)),
)

test('a value is stored, compared and limited as without it', () => {
  const hiding = openDatabase(':memory:')
  const plain = openDatabase(':memory:')
  onTestFinished(() => {
    hiding.close()
    plain.close()
  })
  // What every object of the class has, under what `openDatabase` lays over it.
  Reflect.deleteProperty(plain, 'prepare')
  const both = [hiding, plain]
  for (const db of both)
    db.exec(`CREATE TABLE loose (n INTEGER, t TEXT, r REAL, b BLOB, a);
      CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT) STRICT; CREATE INDEX by_word ON words (word, id);
      INSERT INTO words (word) VALUES ('tea'), ('1'), ('tea'), ('')`)
  const columns = ['n', 't', 'r', 'b', 'a']
  fc.assert(
    fc.property(
      aValue,
      fc.integer({ min: -1, max: 3 }),
      fc.constantFrom(...columns),
      (value, limit, column) => {
        const [one, other] = both.map((db) => {
          db.prepare('INSERT INTO loose VALUES (?, ?, ?, ?, ?)').run(value, value, value, value, value)
          return [
            db.prepare('SELECT *, typeof(n), typeof(t), typeof(a) FROM loose ORDER BY rowid').all(),
            db.prepare(`SELECT rowid FROM loose WHERE ${column} = ? ORDER BY rowid`).all(value),
            db
              .prepare(`SELECT rowid FROM loose WHERE ${column} > @value OR ${column} IS @value`)
              .all({ value }),
            db.prepare('SELECT id FROM words WHERE word = ? ORDER BY id DESC LIMIT ?').all(value, limit),
            db
              .prepare('SELECT word FROM words WHERE word IN (SELECT value FROM json_each(?))')
              .all('["tea", "?"]'),
            db.prepare('SELECT ? AS value, typeof(?) AS type').all(value, value),
            db.prepare("UPDATE words SET word = coalesce(?, word) WHERE word LIKE ? || '%'").run('tea', 'te')
              .changes,
          ]
        })
        expect(one).toEqual(other)
      },
    ),
  )
})
