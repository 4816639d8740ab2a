import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../src/lib/retry-after.ts'

test.for([
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '120', 'retry-after': '9' }, 120],
  [{ 'retry-after': 'Tue, 02 Jun 2026 12:00:05 GMT' }, 5000],
  [{ 'retry-after': 'Tue, 02 Jun 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-1' }, null],
  [{}, null],
] as const)('reads Retry-After %j as %s ms', ([headers, expected]) => {
  expect(parseRetryAfter(new Headers(Object.entries(headers)), Date.UTC(2026, 5, 2, 12))).toBe(expected)
})
