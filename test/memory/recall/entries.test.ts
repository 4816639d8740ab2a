import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeIndex } from '../../../projections/merge-index.ts'
import { testDirectory } from '../../support/directory.ts'
import { ask, openIndex, type TestIndex } from './indexed.ts'

const WORDS = ['tea', 'camping', 'Berlin', '東京', 'кошка', 'allergic', 'x', 'ω', 'teapot', 'team']
const aText = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 })
  .map((words) => words.join(' '))

function rows({ db }: TestIndex): unknown {
  return db.prepare('SELECT * FROM recall_entries ORDER BY id').all()
}

function terms({ db }: TestIndex): unknown {
  db.exec('CREATE VIRTUAL TABLE IF NOT EXISTS temp.all_terms USING fts5vocab(main, recall_index, instance)')
  return db.prepare('SELECT * FROM temp.all_terms').all()
}

function checkIntegrity({ db }: TestIndex): void {
  db.exec("INSERT INTO recall_index(recall_index, rank) VALUES ('integrity-check', 1)")
}

test('leaves the index as if removed entries had never existed', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(aText, fc.boolean()), { minLength: 1, maxLength: 40 }), (said) => {
      const index = openIndex()
      const seqs = index.say(...said.map(([text]) => text))
      index.remove(...seqs.filter((_, at) => said[at]?.[1]))
      const without = openIndex()
      without.say(...said.map(([text, isTaken]) => ({ text: isTaken ? null : text })))
      expect(rows(index)).toEqual(rows(without))
      expect(terms(index)).toEqual(terms(without))
      checkIntegrity(index)
      for (const word of WORDS) {
        expect(index.ranker().recall(ask(word))).toEqual(without.ranker().recall(ask(word)))
      }
    }),
    { numRuns: 50 },
  )
})

test('leaves no byte of removed entries, even in the separators of index pages', () => {
  const file = join(testDirectory(), 'views.sqlite')
  const index = openIndex(file)
  // Random-looking letters, the same in every run.
  const word = (of: string) =>
    createHash('sha256')
      .update(of)
      .digest('base64')
      .toLowerCase()
      .replace(/[^a-y]/g, '')
      .slice(0, 7)
  const isSecret = (at: number) => at % 3 === 0
  const texts = Array.from({ length: 6000 }, (_, at) => {
    const others = [1, 2, 3, 4].map((each) => word(`${at} ${each}`)).join(' ')
    // A word and its prefix: only the whole word distinguishes them.
    const secret = `${word(`secret ${at}`)}zqz`
    // The index also stores prefixes, and any stored prefix of this word reveals it.
    const beginning = `zqz${word(`beginning ${at}`)}`
    return isSecret(at) ? `${others} ${secret} ${secret}ab ${beginning}` : others
  })
  const seqs = texts.flatMap((text) => index.say(text))
  index.db.pragma('wal_checkpoint(TRUNCATE)')
  expect(readFileSync(file).includes('zqz')).toBe(true)
  index.remove(...seqs.filter((_, at) => isSecret(at)))
  expect([...mergeIndex(index.db, 'recall_index')].length).toBeGreaterThan(1)
  checkIntegrity(index)
  index.db.exec('VACUUM')
  index.db.pragma('wal_checkpoint(TRUNCATE)')
  expect(readFileSync(file).includes('zqz')).toBe(false)
})

test('ignores the removal of missing entries', () => {
  const index = openIndex()
  const [seq = 0] = index.say('tea')
  index.remove(99)
  index.remove(seq)
  index.remove(seq)
  expect(rows(index)).toEqual([])
})

test('ends a sitting with its conversation, after a pause, or at its maximum length', () => {
  const index = openIndex()
  const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString()
  index.say(
    { text: 'one', at: at(0) },
    { text: 'same', at: at(59) },
    { text: 'after a pause', at: at(120) },
    { text: 'elsewhere', at: at(121), conversationId: 'other' },
  )
  index.say(...Array.from({ length: 60 }, () => ({ text: 'on', at: at(121), conversationId: 'other' })))
  const spans = index.db.prepare('SELECT firstId, lastId FROM recall_sittings ORDER BY firstId').all()
  expect(spans).toEqual([
    { firstId: 1, lastId: 2 },
    { firstId: 3, lastId: 3 },
    { firstId: 4, lastId: 63 },
    { firstId: 64, lastId: 64 },
  ])
})
