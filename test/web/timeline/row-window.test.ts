import fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, nextWindow } from '../../../web/src/timeline/row-window.ts'

const aWindow = fc.tuple(fc.nat(200), fc.nat(60)).map(([start, length]) => ({ start, end: start + length }))
const wanted = fc
  .tuple(fc.nat(200), fc.integer({ min: 1, max: 20 }), fc.nat(15), fc.nat(15))
  .map(([start, length, above, below]) => ({
    inView: { start, end: start + length },
    near: { start: Math.max(0, start - above), end: start + length + below },
  }))

test('covers the rows in view, stays within the near rows, and adds few rows at once', () => {
  fc.assert(
    fc.property(aWindow, wanted, fc.integer({ min: 1, max: 8 }), (present, { inView, near }, atOnce) => {
      const next = nextWindow(present, { inView, near }, atOnce)
      expect(covers(next, inView)).toBe(true)
      expect(covers(near, next)).toBe(true)
      if (present.start === present.end) return
      const isNew = (row: number) => row < present.start || row >= present.end
      const fresh = Array.from({ length: next.end - next.start }, (_, at) => next.start + at).filter(isNew)
      const outOfView = fresh.filter((row) => row < inView.start || row >= inView.end)
      // New rows between the kept ones and the view are in view themselves or near it.
      expect(outOfView.length).toBeLessThanOrEqual(2 * atOnce)
    }),
  )
})

test('reaches all near rows step by step, and then no longer changes', () => {
  fc.assert(
    fc.property(aWindow, wanted, fc.integer({ min: 1, max: 8 }), (present, windows, atOnce) => {
      let window = present
      for (let step = 0; step < 40; step += 1) window = nextWindow(window, windows, atOnce)
      expect(window).toEqual(windows.near)
    }),
  )
})
