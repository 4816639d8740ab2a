import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  charactersOf,
  fold,
  isUnspaced,
  runsOf,
  tokensOf,
  wordsOf,
} from '../../../projections/recall-text.ts'

test.each([
  ['accents and case', 'Café NAÏVE', 'cafe naive'],
  ['composed and decomposed', 'Zoe\u0308', 'Zoë'],
  ['sharp s', 'Straße', 'STRASSE'],
  ['Greek accents and the final sigma', 'Ὀδυσσεύς', 'οδυσσευσ'],
  ['Cyrillic ё', 'ёлка', 'елка'],
  ['Turkish dotted I', 'İstanbul', 'istanbul'],
  ['Hebrew points', 'שָׁלוֹם', 'שלום'],
  ['Arabic vowels, alef and stretching', 'أَحْمَـــد', 'احمد'],
  ['full width and half width', 'ＡＢＣ ｶﾅ', 'abc カナ'],
  ['digits of other scripts', '٢٠٢٣ २०२३ ๒๐๒๓', '2023 2023 2023'],
])('folds variants alike: %s', (_, one, other) => {
  expect(fold(one)).toBe(fold(other))
})

test('keeps marks that are letters: Devanagari vowels, Japanese voicing', () => {
  expect(fold('किताब')).toBe('किताब')
  expect(fold('が')).not.toBe(fold('か'))
})

test.each([
  ['English', 'cameras', 'camera'],
  ['Russian', 'кошку', 'кошки'],
  ['Greek', 'θάλασσα', 'θάλασσες'],
  ['Arabic', 'والمدرسة', 'مدرسة'],
  ['Hebrew', 'הספרים', 'ספר'],
  ['Hindi', 'किताबें', 'किताब'],
  ['irregular verbs', 'went bought flown', 'goes buying fly'],
  ['irregular plurals', 'children teeth', 'child tooth'],
])('removes inflection in %s', (_, one, other) => {
  expect(tokensOf(one)).toEqual(tokensOf(other))
})

test('takes no word for an inflection of a stop word', () => {
  expect(tokensOf('Ines uses being')).toEqual(['in0', 'us0', 'be0'])
  expect(tokensOf('uses used using')).toEqual(tokensOf('use use use'))
})

test.each([
  ['Chinese', '我住在柏林', ['我', '住', '在', '柏', '林']],
  ['Japanese with a long vowel', 'ラーメン', ['ラ', 'ー', 'メ', 'ン']],
  ['Korean', '서울에서', ['서', '울', '에', '서']],
  ['Thai with its vowels', 'กินข้าว', ['กิ', 'น', 'ข้', 'า', 'ว']],
  ['a script next to another', '8月', ['8', '月']],
])('splits %s into its characters', (_, text, characters) => {
  expect(tokensOf(text)).toEqual(characters)
})

test('yields the same words whether split or whole, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const characters = runsOf(text).flatMap((run) => (isUnspaced(run) ? charactersOf(run) : [run]))
      expect(wordsOf(text)).toEqual(characters)
    }),
  )
})

test('folds idempotently, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(fold(fold(text))).toBe(fold(text))
    }),
  )
})

test('yields no token with a separator of the index', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const token of tokensOf(text)) expect(token).toMatch(/^[a-z0-9\u0080-\u{10FFFF}]+$/u)
    }),
  )
})
