import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RowHeights } from '../../../web/src/timeline/row-heights.ts'

const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ key: `k${index}` }))

test('keeps measured heights when rows are added above', () => {
  const heights = new RowHeights<{ key: string }>()
  heights.setRows([{ key: 'a' }, { key: 'b' }], () => 10)
  heights.measured(1, 35)
  heights.setRows([{ key: 'new' }, { key: 'a' }, { key: 'b' }], () => 10)
  expect(heights.offsetOf(2)).toBe(20)
  expect(heights.total).toBe(55)
})

test('computes offsets as the sum of the heights above, after any measurements', () => {
  const step = fc.record({ index: fc.nat({ max: 29 }), height: fc.integer({ min: 0, max: 90 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat({ max: 30 }), (steps, probe) => {
      const heights = new RowHeights<{ key: string }>()
      heights.setRows(rows(30), () => 20)
      const expected = Array.from({ length: 30 }, () => 20)
      for (const { index, height } of steps) {
        heights.measured(index, height)
        expected[index] = height
        expect(heights.offsetOf(probe)).toBe(expected.slice(0, probe).reduce((a, b) => a + b, 0))
      }
      expect(heights.total).toBe(expected.reduce((a, b) => a + b, 0))
    }),
  )
})

test('finds the row that covers an offset', () => {
  const heights = new RowHeights<{ key: string }>()
  heights.setRows(rows(4), ({ key }) => (Number(key.slice(1)) + 1) * 10)
  expect([0, 9, 10, 29, 30, 59, 60, 99].map((offset) => heights.indexAt(offset))).toEqual([
    0, 0, 1, 1, 2, 2, 3, 3,
  ])
  expect(heights.indexAt(-5)).toBe(0)
  expect(heights.indexAt(1000)).toBe(3)
})
