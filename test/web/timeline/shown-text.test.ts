import { expect, test } from 'vitest'
import { shownText } from '../../../web/src/timeline/shown-text.ts'

test.each([
  ['Back up.\u202eThen delete.\u2066', 'Back up.[U+202E]Then delete.[U+2066]'],
  [`Back up.${'\n'.repeat(200)}Delete.`, 'Back up.\n\nDelete.'],
  [`Back up.${'\r\n \t\u00a0'.repeat(200)}\r\n  Delete.`, 'Back up.\n\n  Delete.'],
  ['One\u2028two\u0000\u001b[1m\u{e0041}', 'One[U+2028]two[U+0000][U+001B][1m[U+E0041]'],
  ['Zeile 1\n\n\tZeile 2: שלום, 👩‍👧', 'Zeile 1\n\n\tZeile 2: שלום, 👩‍👧'],
])('makes invisible characters visible in text to be confirmed: %j', (text, shown) => {
  expect(shownText(text)).toBe(shown)
})
