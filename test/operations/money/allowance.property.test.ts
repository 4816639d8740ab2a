import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AllowanceSpent } from '../../../src/model/port.ts'
import { testDirectory } from '../../support/directory.ts'
import { openTestStorage } from '../../support/storage.ts'
import { MODEL, moneyOn, testSettings } from './money-harness.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.parse('2026-03-01T10:20:00.000Z')
const purposes = ['reply', 'guest', 'activation', 'learning', 'recall', 'text', 'call'] as const

const request = fc.record({
  purpose: fc.constantFrom(...purposes),
  micros: fc.integer({ min: 1, max: 400_000 }),
  /** What part of the reservation is spent; null if a crash comes before the settlement. */
  share: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null, freq: 4 }),
})
const step = fc.oneof(
  { weight: 6, arbitrary: fc.array(request, { minLength: 1, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constant('crash' as const) },
  { weight: 1, arbitrary: fc.constant('raise' as const) },
  { weight: 2, arbitrary: fc.record({ hours: fc.integer({ min: 1, max: 30 }) }) },
)

test('never reserves and spends more than the allowance, with concurrent requests and crashes', {
  tags: ['long'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      const directory = testDirectory()
      let nowMs = START_MS
      const open = async () => {
        const storage = await openTestStorage(directory, { nowMs: () => nowMs }, () => undefined)
        const { settings } = testSettings({ ALLOWANCE_DAY: '1', ALLOWANCE_MONTH: '3' })
        return { storage, money: moneyOn(storage, { settings, nowMs: () => nowMs }) }
      }
      let running = await open()
      /** What a model of the test expects: every amount that still counts, and each raise. */
      let spent: { atMs: number; micros: number; background: boolean }[] = []
      const raises: number[] = []

      for (const action of steps) {
        if (action === 'crash') {
          await running.storage.close()
          running = await open()
        } else if (action === 'raise') {
          await running.money.raise(500_000)
          raises.push(nowMs)
        } else if ('hours' in action) nowMs += action.hours * HOUR_MS
        else {
          const asked = action.map(async ({ purpose, micros, share }) => {
            try {
              const reservation = await running.money.meter.reserve({ purpose }, MODEL, micros)
              const paid = share === null ? micros : Math.round(share * micros)
              if (share !== null) await reservation.settle(paid)
              spent.push({ atMs: nowMs, micros: paid, background: false })
            } catch (error) {
              if (!(error instanceof AllowanceSpent)) throw error
            }
          })
          await Promise.all(asked)
        }
        for (const [days, micros] of [
          [1, 1_000_000],
          [30, 3_000_000],
        ] as const) {
          const fromMs = nowMs - days * 24 * HOUR_MS
          const sum = spent
            .filter(({ atMs }) => atMs > fromMs)
            .reduce((total, each) => total + each.micros, 0)
          // A raise that has just ended may have allowed what is still counted.
          const allowed =
            micros + raises.filter((atMs) => atMs > fromMs - HOUR_MS * 24 * days).length * 500_000
          expect(sum).toBeLessThanOrEqual(allowed)
        }
        const [day] = running.money.report(1).windows
        const sinceMs = Math.floor((nowMs - 24 * HOUR_MS) / HOUR_MS) * HOUR_MS
        spent = spent.filter(({ atMs }) => atMs > nowMs - 31 * 24 * HOUR_MS)
        const counted = spent.filter(({ atMs }) => atMs >= sinceMs)
        expect(day?.spentMicros).toBe(counted.reduce((total, each) => total + each.micros, 0))
      }
      await running.storage.close()
    }),
    { numRuns: 25 },
  )
})
