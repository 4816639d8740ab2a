import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSilenceWatch } from '../../../../web/src/timeline/chat/silence-watch.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function startWatch() {
  const world = { patienceMs: null as number | null, silences: 0 }
  const watch = createSilenceWatch({
    patienceMs: () => world.patienceMs,
    onSilence: () => {
      world.silences += 1
    },
  })
  return { world, watch }
}

test('does not report silence while nothing is expected', () => {
  const { world, watch } = startWatch()
  watch.look()
  watch.heard()
  vi.advanceTimersByTime(1_000_000)
  expect(world.silences).toBe(0)
})

test('reports silence since the last message, and repeats until another arrives', () => {
  const { world, watch } = startWatch()
  world.patienceMs = 1000
  watch.look()
  vi.advanceTimersByTime(900)
  watch.heard()
  vi.advanceTimersByTime(900)
  watch.look()
  expect(world.silences).toBe(0)
  vi.advanceTimersByTime(100)
  expect(world.silences).toBe(1)
  vi.advanceTimersByTime(2000)
  expect(world.silences).toBe(3)
})

test('restarts when the patience changes, and ends when nothing is expected or on stop', () => {
  const { world, watch } = startWatch()
  world.patienceMs = 1000
  watch.look()
  vi.advanceTimersByTime(900)
  world.patienceMs = 5000
  watch.look()
  vi.advanceTimersByTime(4900)
  world.patienceMs = null
  watch.look()
  vi.advanceTimersByTime(100_000)
  world.patienceMs = 1000
  watch.look()
  watch.stop()
  vi.advanceTimersByTime(100_000)
  expect(world.silences).toBe(0)
})
