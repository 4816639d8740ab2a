import { expect, test } from 'vitest'
import { noteSummary, plainWords } from '../../../web/src/view/plain-text.ts'

const [on, off] = ['\u0002', '\u0003']

test.each([
  [
    '# Packing\n- [x] Passport\n- [ ] Jacket, the *blue* one',
    'Packing · ☑ Passport · ☐ Jacket, the blue one',
  ],
  [
    '> The train leaves at **6:12**.\n\n1. First\n2. [Map](https://example.com)',
    'The train leaves at 6:12. · First · Map',
  ],
  ['`npm run a_task` of snake_case, _soon_', 'npm run a_task of snake_case, soon'],
  ['```ts\nconst a = 1\n```', 'const a = 1'],
  // What a search marks stays marked; a title that the text repeats is said once.
  [
    `Off to ${on}Lisbon${off}\n# Off to ${on}Lisbon${off}\n**${on}Lisbon${off}**!`,
    `Off to ${on}Lisbon${off} · ${on}Lisbon${off}!`,
  ],
  ['2 * 3 is 6, and so is 2*3', '2 * 3 is 6, and so is 2*3'],
  ['', ''],
])('%j is said as %j', (markdown, words) => {
  expect(plainWords(markdown)).toBe(words)
})

test('the summary of a note has neither its title nor its code', () => {
  expect(noteSummary('# Garden\nRoses\n```ts\nconst a = 1\n', 'Garden')).toBe('Roses')
})

test('of a link that is cut off at the end of an excerpt its words are left', () => {
  expect(plainWords('See [the plan](https://example.com/a/ve')).toBe('See the plan…')
  expect(plainWords('See [the plan](https://example.com/a) (as it was')).toBe('See the plan (as it was')
})
