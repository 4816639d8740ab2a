import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { viewsFile } from '../../ledger/files.ts'
import { searchProjection, searchTimeline } from '../../projections/search.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { filesHolding, testDirectory } from '../support/directory.ts'
import { createRandom } from '../support/random.ts'
import { openTestWriter, said } from '../support/writer.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyzäé'

/** The separators of the pages of an FTS5 index. */
function separatorsOf(views: Database.Database): string[] {
  return views
    .prepare<[], string>('SELECT CAST(substr(term, 2) AS TEXT) FROM search_index_idx WHERE length(term) > 1')
    .pluck()
    .all()
}

test('leaves no erased word as a separator in the search index', () => {
  const random = createRandom(11).next
  const word = () => Array.from({ length: 9 }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join('')
  const directory = testDirectory()
  const writer = openTestWriter(directory, { projections: [searchProjection] })
  const texts = Array.from({ length: 4000 }, () => `${word()} ${word().toUpperCase()} tea`)
  writer.append(...texts.map((text) => said(text)))
  writer.settle()
  const views = openViewsReadOnly(directory)
  const wordsOf = (text: string) => text.toLowerCase().replaceAll('ä', 'a').replaceAll('é', 'e').split(' ')
  /** The separators that are prefixes of one of these words. */
  const named = (words: readonly string[]) =>
    separatorsOf(views).filter((separator) => words.some((each) => each.startsWith(separator)))
  const seqs = texts.flatMap((text, index) => (named(wordsOf(text)).length > 0 ? [index + 1] : []))
  expect(seqs.length).toBeGreaterThan(20)
  const gone = new Set(seqs.filter((_, index) => index % 2 === 0))
  writer.forget(...gone)
  writer.settle()
  const left = texts.flatMap((text, index) => (gone.has(index + 1) ? [] : wordsOf(text)))
  const erased = texts.flatMap((text, index) => (gone.has(index + 1) ? wordsOf(text) : []))
  const ofThoseLeft = new Set(named(left))
  expect(named(erased).filter((separator) => !ofThoseLeft.has(separator))).toEqual([])
  const found = (query: string) => searchTimeline(views, { query, limit: 5000, beforeSeq: null }).length
  expect(found('tea')).toBe(texts.length - gone.size)
  for (const seq of gone) expect(found(texts[seq - 1] ?? '')).toBe(0)
  views.close()
  writer.close()
})

test('removes at start-up the separators that an earlier build left', () => {
  const random = createRandom(5).next
  const word = () => Array.from({ length: 16 }, () => LETTERS[Math.floor(random() * 26)]).join('')
  const directory = testDirectory()
  const before = openTestWriter(directory, { projections: [searchProjection] })
  const words = Array.from({ length: 600 }, word)
  before.append(...words.map((each) => said(`${each}m ${each}q`)))
  before.settle()
  const seqs = words.flatMap((_, index) => (index % 2 === 1 ? [index + 1] : []))
  before.erase({ seqs, reason: 'owner', at: '2030-01-01T00:00:00.000Z' })
  before.close()
  eraseAsVersion3(viewsFile(directory))
  const left = () =>
    words.filter((each, index) => index % 2 === 1 && filesHolding(directory, each).length > 0)
  expect(left()).not.toEqual([])
  const now = openTestWriter(directory, { projections: [searchProjection] })
  now.settle()
  expect(left()).toEqual([])
  now.close()
})

/** Deletes every second text like version 3 of the search, which kept the separators. */
function eraseAsVersion3(file: string): void {
  const views = new Database(file)
  views.pragma('secure_delete = ON')
  views.exec(`
    INSERT INTO search_index (search_index, rowid, text, channel)
      SELECT 'delete', seq, text, channel FROM search_documents WHERE seq % 2 = 0;
    DELETE FROM search_documents WHERE seq % 2 = 0;
    UPDATE views_folds SET version = 3 WHERE name = 'search';`)
  views.close()
}
