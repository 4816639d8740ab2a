import { expect, test } from 'vitest'
import { texted, voiced } from '../../src/text/plain.ts'

test.each([
  [
    'On your [shopping list](/notes/01m8): milk',
    'On your shopping list: milk',
    'On your shopping list: milk',
  ],
  ['See [the map](https://example.org/a?b=1).', 'See the map.', 'See the map (https://example.org/a?b=1).'],
  ['[https://example.org](https://example.org)', 'https://example.org', 'https://example.org'],
  ['## Tea\n\n- **hot** and `strong`', 'Tea\n\n- hot and strong', 'Tea\n\n- hot and strong'],
  ['2 * 3, a_b, #4 and [x] (y)', '2  3, ab, #4 and [x] (y)', '2 * 3, a_b, #4 and [x] (y)'],
])('says “%s” in a voice and in a text', (markdown, spoken, inText) => {
  expect(voiced(markdown)).toBe(spoken)
  expect(texted(markdown)).toBe(inText)
})

test('writes a text with plain quotes, dashes and spaces', () => {
  expect(texted('“It’s” 10\u00a0am – no, 11…')).toBe(`"It's" 10 am - no, 11...`)
})
