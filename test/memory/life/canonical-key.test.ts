import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalKey, slotKeyOf, statementKeyOf } from '../../../src/memory/learn/canonical-key.ts'

const SAME: readonly (readonly [string, string])[] = [
  ['I like tea.', 'i  LIKE tea!'],
  ['I like tea', 'The owner likes tea.'],
  ["I don't like tea", 'I do not like tea'],
  ['I dont like tea', 'The user does not like tea'],
  ["I'm allergic to nuts", 'I am allergic to nuts'],
  ['I have two cats', 'I have 2 cats'],
  ['Actually, I live in Oslo', 'I live in Oslo'],
  ['ＡＢＣ １２３', 'abc 123'],
  ['قطط ٣', 'قطط 3'],
  ['我 喜欢 茶', '我喜欢茶。'],
  ['Ich trinke Tee', 'ich trinke TEE!!'],
  ['It is “mine”', "It's 'mine'"],
]

const DIFFERENT: readonly (readonly [string, string])[] = [
  ['I like tea', 'I do not like tea'],
  ['I never drink tea', 'I drink tea'],
  ['I live in Berlin', 'I lived in Berlin'],
  ['My number is 555-0134', 'My number is 555-0143'],
  ['It is 1.5 km', 'It is 15 km'],
  ['I owe Tom money', 'Tom owes me money'],
  ['I like C', 'I like C++'],
  ['I like C#', 'I like C'],
  ['I like 🍎', 'I like 🍌'],
  ['It costs 5 €', 'It costs 5 $'],
  ['Tengo 5 años', 'Tengo 5 anos'],
  ['我喜欢茶', '我喜欢咖啡'],
  ['मुझे चाय पसंद है', 'मुझे चाय पसंद नहीं है'],
  ['मेरा नाम राम है', 'मेरा नाम रमा है'],
  ['ฉันชอบชา', 'ฉันชอบกาแฟ'],
  ['אני גר בחיפה', 'אני גר ביפו'],
  ['أحب الشاي', 'أحب القهوة'],
  ['나는 차를 좋아해', '나는 커피를 좋아해'],
  ['I love the universe', 'I love the university'],
  ['I play the organ', 'I play the organisation'],
]

test.each(SAME)('gives “%s” and “%s” one key', (a, b) => {
  expect(canonicalKey(a)).toBe(canonicalKey(b))
})

test.each(DIFFERENT)('gives “%s” and “%s” different keys', (a, b) => {
  expect(canonicalKey(a)).not.toBe(canonicalKey(b))
})

test('gives no meaningful text an empty key, in any script', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      fc.pre(text.trim() !== '')
      expect(canonicalKey(text)).not.toBe('')
    }),
    { numRuns: 2000 },
  )
})

/** Letters of many scripts, each of which is a distinct word. */
const aLetter = fc.constantFrom(...'aäßñçжяηςابגדकखกข京都あアグ한국ქართაბგაሀለᎠᏍⴰⴱ')

test('gives words of different letters different keys, in any script', () => {
  const aWord = fc.array(aLetter, { minLength: 1, maxLength: 6 }).map((letters) => letters.join(''))
  fc.assert(
    fc.property(aWord, aWord, (a, b) => {
      fc.pre(a.normalize('NFKC').toLowerCase() !== b.normalize('NFKC').toLowerCase())
      expect(canonicalKey(`x ${a}`)).not.toBe(canonicalKey(`x ${b}`))
    }),
    { numRuns: 2000 },
  )
})

test('changes the key with any digit', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (a, b) => {
      fc.pre(a !== b)
      expect(canonicalKey(`my code is ${a}`)).not.toBe(canonicalKey(`my code is ${b}`))
    }),
  )
})

test('ignores case, outer space and closing punctuation', () => {
  fc.assert(
    fc.property(fc.array(aLetter, { minLength: 1, maxLength: 20 }), (letters) => {
      const text = letters.join('')
      expect(canonicalKey(`  ${text.toUpperCase().toLowerCase()} … `)).toBe(
        canonicalKey(text.toUpperCase().toLowerCase()),
      )
    }),
  )
})

test('gives the owner’s slot one key under any name, and none without a slot', () => {
  expect(slotKeyOf({ subject: 'User', slot: 'phone_number' })).toBe(
    slotKeyOf({ subject: 'owner', slot: 'Phone number' }),
  )
  expect(slotKeyOf({ subject: 'sister', slot: 'name' })).not.toBe(
    slotKeyOf({ subject: 'owner', slot: 'name' }),
  )
  expect(slotKeyOf({ subject: 'owner', slot: ' ' })).toBe('')
})

test('gives a statement and its negation different keys', () => {
  const statement = { subject: 'owner', slot: 'drink', value: 'tea' }
  expect(statementKeyOf({ ...statement, isNegated: true })).not.toBe(
    statementKeyOf({ ...statement, isNegated: false }),
  )
  expect(statementKeyOf({ ...statement, value: '', isNegated: false })).toBe('')
})
