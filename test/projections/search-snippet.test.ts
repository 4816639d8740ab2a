import { expect, test } from 'vitest'
import { searchProjection, searchTimeline } from '../../projections/search.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

function snippetsOf(text: string, ...queries: readonly string[]): (string | undefined)[] {
  const directory = testDirectory()
  const writer = openTestWriter(directory, { projections: [searchProjection] })
  writer.append(said(text))
  writer.settle()
  const views = openViewsReadOnly(directory)
  const found = queries.map(
    (query) => searchTimeline(views, { query, limit: 1, beforeSeq: null })[0]?.snippet,
  )
  views.close()
  writer.close()
  return found.map((snippet) => snippet?.replaceAll('\u0002', '[').replaceAll('\u0003', ']'))
}

test.each([
  ['words', 'what ', 150_000, 'w', /^(\[what\] ){40}…$/],
  ['characters', '漢', 150_000, '漢', /^(\[漢\]){67}…$/],
  ['words of a shorter text', 'w ', 8000, 'w', /^(\[w\] ){100}…$/],
])('shows the beginning of a text with countless matching %s', (_name, unit, times, query, expected) => {
  expect(snippetsOf(unit.repeat(times), query)).toEqual([expect.stringMatching(expected)])
})

test('cuts a long text between characters', () => {
  expect(snippetsOf(`ab ${'😀'.repeat(2000)} b`, 'ab', 'b ')).toEqual([
    `[ab] ${'😀'.repeat(98)}…`,
    `…${'😀'.repeat(29)} [b]…`,
  ])
})

test('shows a long text around its first match, as the index finds it', () => {
  const before = 'Träume und Äpfel. '.repeat(500)
  const text = `${before}Un Café crème, 漢字 und 한국말. ${'Birnen. '.repeat(500)}`
  expect(snippetsOf(text, 'cafe', '"CAFÉ CREME"', 'creme ca', '漢字', '한국')).toEqual(
    [
      'Un \\[Café\\] c',
      'Un \\[Café crème\\],',
      'Un \\[Café\\] \\[crème\\],',
      ' \\[漢字\\] u',
      ' \\[한국말\\]. B',
    ].map((shown) => expect.stringMatching(new RegExp(`^….{20,60}${shown}.+…$`))),
  )
})

test('finds the singular by the plural and the plural by the singular, but quoted words as they are', () => {
  const text = 'Two appointments with the dentist, and one for Lucas'
  const queries = [
    'appointment dentists',
    'appointments',
    'luca ',
    'dentist',
    '"appointment" dentist',
    'dentistss',
  ]
  expect(snippetsOf(text, ...queries)).toEqual([
    'Two [appointments] with the [dentist], and one for Lucas',
    'Two [appointments] with the dentist, and one for Lucas',
    'Two appointments with the dentist, and one for [Lucas]',
    'Two appointments with the [dentist], and one for Lucas',
    undefined,
    undefined,
  ])
  const long = `${'Nothing yet. '.repeat(300)}${text}. ${'Nothing more. '.repeat(300)}`
  expect(snippetsOf(long, 'dentists ')).toEqual([expect.stringContaining('with the [dentist], and')])
})
