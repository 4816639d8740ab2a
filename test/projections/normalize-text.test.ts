import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalizeText } from '../../projections/normalize-text.ts'

const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const
/** Marks of several combining classes and of none, and letters that decompose to marks. */
const MARKS = [...'\u0301\u0316\u0315\u0334\u0344\u0345\u3099\uff9e\uff9f\u0903\u0bbe\u034f\u05b0\u{1d165}']
const LETTERS = [...'aá가が\u1100\u1161\u11a8ﷺ \n']

test('normalises a text exactly like the runtime', () => {
  const run = fc.array(fc.constantFrom(...MARKS), { maxLength: 120 }).map((marks) => marks.join(''))
  const letters = fc.array(fc.constantFrom(...LETTERS), { maxLength: 3 }).map((each) => each.join(''))
  const text = fc.array(fc.oneof(run, letters), { maxLength: 6 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.constantFrom(...FORMS), (each, form) => {
      expect(normalizeText(each, form)).toBe(each.normalize(form))
    }),
    { numRuns: 500 },
  )
})

// The runtime's own normalisation takes minutes for this text.
test.each(FORMS)('orders half a million marks on one letter in %s', (form) => {
  const text = normalizeText(`a${'\u0301\u0316'.repeat(250_000)}b`, form)
  expect(text.endsWith('\u0301\u0301b')).toBe(true)
})
