import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { afterAwake, createAwakeClock } from '../../src/clock/awake.ts'
import { holdUp } from '../support/hold-up.ts'

test('however long the process was held up, what has arrived meanwhile is seen before the time is up', async () => {
  let isUp = false
  const up = Promise.withResolvers<void>()
  afterAwake(200, () => {
    isUp = true
    up.resolve()
  })
  await holdUp(300)
  // A turn of the loop: overdue timers, then the sockets.
  await setImmediate()
  expect(isUp).toBe(false)
  await up.promise
})

test('cancelled at any time, it never calls back', async () => {
  const calls: string[] = []
  const cancelAtOnce = afterAwake(16, () => calls.push('at once'))
  cancelAtOnce()
  const cancelLater = afterAwake(160, () => calls.push('later'))
  await new Promise<void>((resolve) => afterAwake(40, resolve))
  cancelLater()
  await new Promise<void>((resolve) => afterAwake(240, resolve))
  expect(calls).toEqual([])
})

test('a clock of the time awake goes as any other, and by no more than a step while nobody could read it', () => {
  let nowMs = 1_000
  const clock = createAwakeClock(() => nowMs, 500)
  const readings = [0, 20, 250, 500, 90_000, 10, -40, 30].map((passed) => {
    nowMs += passed
    return clock()
  })
  expect(readings).toEqual([1_000, 1_020, 1_270, 1_770, 2_270, 2_280, 2_280, 2_310])
})
