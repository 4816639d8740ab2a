import { expect, test, vi } from 'vitest'
import { createSentences } from '../../../src/phone/spoken/sentences.ts'

/** The sentences of a text that arrives in pieces of `size` characters. */
function cut(text: string, size = 3): string[] {
  const sentences = createSentences()
  const found: string[] = []
  for (let at = 0; at < text.length; at += size) found.push(...sentences.add(text.slice(at, at + size)))
  return [...found, ...sentences.end()]
}

test.each([
  [['It is 9.15. ', 'The train leaves!\n', 'Really? ', 'Yes.']],
  [['Dr. Smith is here, e.g. at 3 p.m. today. ', 'Mr. J. Doe is not.']],
  [['You need: \n', '1. Milk.\n', '2. Eggs.']],
  [['今日は。', 'お元気ですか？', 'はい。']],
  [['She said "Go." ', 'Then she left…']],
])('cuts %j as it arrives', (sentences) => {
  for (const size of [1, 3, 50]) expect(cut(sentences.join(''), size)).toEqual(sentences)
})

test('returns a sentence as soon as the next one begins, whatever follows', () => {
  const sentences = createSentences()
  expect(sentences.add('Hello there.')).toEqual([])
  expect(sentences.add(' ')).toEqual([])
  expect(sentences.add('H')).toEqual(['Hello there. '])
})

test('cuts a sentence that never ends between its clauses, words or characters, and loses nothing', () => {
  const clauses = 'and this goes on, '.repeat(60)
  const words = 'and this goes on '.repeat(60)
  const characters = '👍a'.repeat(400)
  for (const text of [clauses, words, characters]) {
    const pieces = cut(text)
    expect(pieces.join('').trim()).toBe(text.trim())
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(200)
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
  }
  expect(cut(clauses).every((piece) => piece.trim().endsWith(','))).toBe(true)
})

/** How many characters are read while a text is cut that arrives at once. */
function charactersRead(text: string): number {
  const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment')
  const trim = vi.spyOn(String.prototype, 'trim')
  cut(text, text.length)
  const read = [...segment.mock.calls.map(([part]) => part), ...(trim.mock.contexts as string[])]
  segment.mockRestore()
  trim.mockRestore()
  return read.reduce((sum, part) => sum + part.length, 0)
}

test.each(['\n', 'A. ', 'a, '])('reads a long text in linear time, here of %j', (pump) => {
  const text = pump.repeat(1_000)
  expect(charactersRead(text.repeat(4))).toBeLessThan(6 * charactersRead(text))
})

test('cuts a long text in the same places whether or not it arrives at once', () => {
  const text = 'It is 9.15. The train leaves from platform four, Dr. Smith says. Hurry! '.repeat(40)
  expect(cut(text, text.length)).toEqual(cut(text, 3))
})
