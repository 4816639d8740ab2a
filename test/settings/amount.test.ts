import { expect, test } from 'vitest'
import { amountSchema } from '../../src/settings/setting-schemas.ts'

test.each([
  ['5', 5],
  ['12.50', 12.5],
  ['12,50', 12.5],
  [' 0 ', 0],
])('reads %j as an amount', (written, amount) => {
  expect(amountSchema.parse(written)).toBe(amount)
})

test.each(['', '1,000', '1.234', '-1', '1000000', 'ten'])('refuses %j as an amount', (written) => {
  expect(amountSchema.safeParse(written).success).toBe(false)
})
