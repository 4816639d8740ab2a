import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tokensOf, wordsOf } from '../../../projections/recall-text.ts'
import { traitsOf as readTraits, TRAIT } from '../../../projections/recall-traits.ts'

const traitsOf = (text: string) => readTraits(text, wordsOf(text), tokensOf(text))
const namesOf = (text: string) =>
  Object.entries(TRAIT).flatMap(([name, bit]) => ((traitsOf(text) & bit) === 0 ? [] : [name]))

test.each([
  ['Do you like tea?', ['asks', 'endsAsking']],
  ['Really? I had no idea.', ['asks']],
  ['Look at this, what is it? [a photo of a boat]', ['asks', 'endsAsking']],
  ['お茶は好きですか？', ['asks', 'endsAsking']],
  ['هل تحب الشاي؟', ['asks', 'endsAsking']],
  ['we went there yesterday', ['tellsTime']],
  ['gestern waren wir dort', ['tellsTime']],
  ['昨日行きました', ['tellsTime']],
  ['you may go', []],
  ['it cost 20 dollars', ['tellsNumber']],
  ['we have three cats', ['tellsNumber']],
  ['our dog is called Rex', ['names']],
  ['i read "Dune" twice', ['names', 'quotesTitle', 'tellsNumber']],
  ['Thanks a lot', ['acknowledges']],
  ['plain words', []],
])('finds the traits of "%s"', (text, names) => {
  expect(namesOf(text).sort()).toEqual([...names].sort())
})

test('finds a question before a remark in brackets exactly like the equivalent pattern', () => {
  const pattern = /[?？؟⸮]["'”’»」)\s]*(?:\[[^\]]*\]\s*)?$/u
  const text = fc.array(fc.constantFrom(...'?[] )a？"\n'), { maxLength: 10 }).map((each) => each.join(''))
  fc.assert(
    fc.property(text, (each) => {
      expect((traitsOf(each) & TRAIT.endsAsking) !== 0).toBe(pattern.test(each))
    }),
    { numRuns: 2_000 },
  )
  // The pattern would take hours.
  expect(traitsOf('?['.repeat(500_000)) & TRAIT.endsAsking).toBe(0)
})
