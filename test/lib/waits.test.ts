import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { afterAwake, createAwakeClock, parseRetryAfter } from '../../src/lib/waits.ts'
import { holdUp } from '../support/hold-up.ts'

test('reads pending input before a timeout fires, however long the process was suspended', async () => {
  let isUp = false
  const up = Promise.withResolvers<void>()
  afterAwake(200, () => {
    isUp = true
    up.resolve()
  })
  await holdUp(300)
  // One turn of the loop: overdue timers, then sockets.
  await setImmediate()
  expect(isUp).toBe(false)
  await up.promise
})

test('never calls back once cancelled', async () => {
  const calls: string[] = []
  const cancelAtOnce = afterAwake(16, () => calls.push('at once'))
  cancelAtOnce()
  const cancelLater = afterAwake(160, () => calls.push('later'))
  await new Promise<void>((resolve) => afterAwake(40, resolve))
  cancelLater()
  await new Promise<void>((resolve) => afterAwake(240, resolve))
  expect(calls).toEqual([])
})

test('advances with the clock, but by at most one step across a suspension', () => {
  let nowMs = 1_000
  const clock = createAwakeClock(() => nowMs, 500)
  const readings = [0, 20, 250, 500, 90_000, 10, -40, 30].map((passed) => {
    nowMs += passed
    return clock()
  })
  expect(readings).toEqual([1_000, 1_020, 1_270, 1_770, 2_270, 2_280, 2_280, 2_310])
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
] as const)('reads Retry-After %j as %s ms', ([headers, expected]) => {
  expect(parseRetryAfter(new Headers(Object.entries(headers)), Date.UTC(2026, 5, 2, 12))).toBe(expected)
})
