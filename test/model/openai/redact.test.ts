import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../../src/model/openai/failures.ts'
import { redact } from '../../../src/model/openai/redact.ts'

test('a secret is in no redacted text, wherever and however it was put in', () => {
  const secret = fc.string({
    minLength: 8,
    maxLength: 40,
    unit: fc.constantFrom(...'abcdefghijkXYZ0123456789-_"\\/+='),
  })
  const around = fc.string({ unit: 'grapheme', maxLength: 400 })
  fc.assert(
    fc.property(secret, around, around, (key, before, after) => {
      const forms = [key, encodeURIComponent(key), JSON.stringify(key)]
      for (const form of forms) expect(redact(`${before}${form}${after}`, [key])).not.toContain(form)
    }),
  )
})

test('what looks like a key goes too, whoever owns it', () => {
  expect(redact('Incorrect API key provided: sk-proj-abc***xyz. Bearer abc.def', [])).toBe(
    'Incorrect API key provided: [secret] Bearer [secret]',
  )
})

test('a long text is cut, and lines become one', () => {
  expect(redact(`a\r\n\tb${'x'.repeat(1000)}`, [])).toHaveLength(300)
  expect(redact('a\r\n\u0000 b', [])).toBe('a b')
})

test.for([
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '120', 'retry-after': '9' }, 120],
  [{ 'retry-after': 'Tue, 02 Jun 2026 12:00:05 GMT' }, 5000],
  [{ 'retry-after': 'Tue, 02 Jun 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-1' }, null],
  [{}, null],
] as const)('Retry-After %j is %s ms', ([headers, expected]) => {
  expect(parseRetryAfter(new Headers(Object.entries(headers)), Date.UTC(2026, 5, 2, 12))).toBe(expected)
})
