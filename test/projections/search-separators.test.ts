import type Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { searchProjection, searchTimeline } from '../../projections/search.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
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
