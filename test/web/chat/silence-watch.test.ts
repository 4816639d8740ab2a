import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSilenceWatch } from '../../../web/src/chat/silence-watch.ts'

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

test('silence is nobody’s business where nothing is awaited', () => {
  const { world, watch } = startWatch()
  watch.look()
  watch.heard()
  vi.advanceTimersByTime(1_000_000)
  expect(world.silences).toBe(0)
})

test('it counts from what was heard last, whatever else changes meanwhile, and goes on for as long as nothing comes', () => {
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

test('another patience counts anew; nothing awaited any more, or the end, ends it', () => {
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
