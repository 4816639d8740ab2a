import { expect, test } from 'vitest'
import { quotableWords, withoutWords } from '../../src/erasing/quotation.ts'

const without = (text: string, forgotten: string) => withoutWords(text, quotableWords(forgotten))

test.each([
  [
    'Noted: you are allergic to peanuts. Anything else?',
    'I am allergic to peanuts',
    'Noted: you are [erased]. Anything else?',
  ],
  ['A Peanut-free cake, then.', 'peanuts', 'A [erased]-free cake, then.'],
  ['The code is 4711. Ring twice.', 'my code: 4711', 'The [erased]. Ring twice.'],
  ['Ihr trefft euch in Köln um neun.', 'KÖLN', 'Ihr trefft euch in [erased] um neun.'],
  ['東京に住んでいます。猫が好きです。', '東京', '[erased]に住んでいます。猫が好きです。'],
  ['- milk\n- the blue flowerpot\n- bread', 'blue flowerpot', '- milk\n- the [erased]\n- bread'],
])('takes the words out of %j', (text, forgotten, left) => {
  expect(without(text, forgotten)).toBe(left)
})

test('returns null for a text that says nothing else', () => {
  expect(without('You are allergic to peanuts.', 'I am allergic to peanuts')).toBeNull()
  expect(without('Minka.', 'My cat is called Minka')).toBeNull()
})

test('ignores common words and inflections', () => {
  expect([...quotableWords('This is what you have to remember: the walnuts')]).toEqual(['walnut'])
})

test('takes time linear in the text', () => {
  for (const unit of ['a ', '東', 'ä', '  ', '\u0301', 'word.\n']) {
    const text = unit.repeat(200_000 / unit.length)
    withoutWords(text, quotableWords('word 東東'))
  }
})
