import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redact } from '../../../src/model/openai/redact.ts'

test('removes a secret from any text, raw or encoded', () => {
  const secret = fc.string({
    minLength: 4,
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

test('also removes whatever looks like a key', () => {
  expect(redact('Incorrect API key provided: sk-proj-abc***xyz. Bearer abc.def', [])).toBe(
    'Incorrect API key provided: [redacted] [redacted]',
  )
})

test('cuts a long text and joins its lines', () => {
  expect(redact(`a\r\n\tb${'x'.repeat(1000)}`, [])).toHaveLength(300)
  expect(redact('a\r\n\u0000 b', [])).toBe('a b')
})
