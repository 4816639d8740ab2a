import { expect, test } from 'vitest'
import { noteSummary, plainWords } from '../../../web/src/design/plain-text.ts'

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
  // Search marks are kept, and a title that the text repeats appears once.
  [
    `Off to ${on}Lisbon${off}\n# Off to ${on}Lisbon${off}\n**${on}Lisbon${off}**!`,
    `Off to ${on}Lisbon${off} · ${on}Lisbon${off}!`,
  ],
  ['2 * 3 is 6, and so is 2*3', '2 * 3 is 6, and so is 2*3'],
  ['', ''],
])('reduces %j to %j', (markdown, words) => {
  expect(plainWords(markdown)).toBe(words)
})

test('omits the title and code blocks from the summary of a note', () => {
  expect(noteSummary('# Garden\nRoses\n```ts\nconst a = 1\n', 'Garden')).toBe('Roses')
})

test('keeps the text of a link that is cut off at the end of an excerpt', () => {
  expect(plainWords('See [the plan](https://example.com/a/ve')).toBe('See the plan…')
  expect(plainWords('See [the plan](https://example.com/a) (as it was')).toBe('See the plan (as it was')
})
