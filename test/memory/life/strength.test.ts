import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryKinds } from '../../../ledger/events/memory.ts'
import { strengthOf } from '../../../src/memory/learn/strength.ts'

const DAY_MS = 86_400_000
const options = { kind: 'preference', nowMs: 1000 * DAY_MS, halfLifeDays: 30 } as const
const usesAt = (...daysAgo: readonly number[]) => daysAgo.map((days) => options.nowMs - days * DAY_MS)

test('is one half at the half-life after a single use', () => {
  expect(strengthOf(usesAt(30), options)).toBeCloseTo(0.5, 10)
  expect(strengthOf(usesAt(30), { ...options, kind: 'identity' })).toBeCloseTo(0.5, 10)
  expect(strengthOf([], options)).toBe(0)
})

test('is one third at four times the half-life, as computed by hand from ACT-R', () => {
  expect(strengthOf(usesAt(120), options)).toBeCloseTo(1 / 3, 10)
})

test('fades more slowly for an identity than for a preference', () => {
  expect(strengthOf(usesAt(300), { ...options, kind: 'identity' })).toBeGreaterThan(
    strengthOf(usesAt(300), options),
  )
})

test('lasts longer after spaced repetitions than after massed ones', () => {
  const later = { ...options, nowMs: options.nowMs + 365 * DAY_MS }
  expect(strengthOf(usesAt(90, 60, 30, 1), later)).toBeGreaterThan(
    strengthOf(usesAt(90, 89.99, 89.98, 89.97), later),
  )
})

const aUse = fc.integer({ min: 0, max: 2000 * DAY_MS })
const aKind = fc.constantFrom(...memoryKinds)

test('stays between 0 and 1, fades only with time and never falls by a use', () => {
  fc.assert(
    fc.property(
      fc.array(aUse, { minLength: 1, maxLength: 20 }),
      aKind,
      fc.double({ min: 1, max: 400, noNaN: true }),
      (uses, kind, halfLifeDays) => {
        const nowMs = 2000 * DAY_MS
        const now = strengthOf(uses, { kind, nowMs, halfLifeDays })
        expect(now).toBeGreaterThan(0)
        expect(now).toBeLessThanOrEqual(1)
        expect(strengthOf(uses, { kind, nowMs: nowMs + DAY_MS, halfLifeDays })).toBeLessThan(now)
        expect(strengthOf([...uses, nowMs], { kind, nowMs, halfLifeDays })).toBeGreaterThan(now)
        expect(strengthOf([...uses].reverse(), { kind, nowMs, halfLifeDays })).toBe(now)
      },
    ),
  )
})
