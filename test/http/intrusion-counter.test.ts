import { expect, onTestFinished, test, vi } from 'vitest'
import type { Append, NewEvent } from '../../ledger/event.ts'
import { createIntrusionCounter } from '../../src/http/server/intrusion-counter.ts'

const START_MS = Date.parse('2030-01-01T00:00:00.000Z')
const after = (ms: number) => new Date(START_MS + ms).toISOString()

function startCounter() {
  vi.useFakeTimers({ now: START_MS })
  onTestFinished(() => void vi.useRealTimers())
  const facts: NewEvent['facts'][] = []
  const warnings: string[] = []
  const disk = { isFull: false }
  const append = async (events: readonly NewEvent[]) => {
    if (disk.isFull) throw new Error('disk full')
    facts.push(...events.map((event) => event.facts))
    return { status: 'appended', events: [] }
  }
  const counter = createIntrusionCounter({
    append: append as unknown as Append,
    nowMs: Date.now,
    log: { warn: (_fields: unknown, message?: string) => void warnings.push(message ?? '') },
  })
  return { counter, facts, warnings, disk }
}

test('appends at most one fact per kind and minute, with the count and the period', async () => {
  const { counter, facts } = startCounter()
  for (let second = 0; second < 180; second += 1) {
    counter.count('no_session')
    if (second >= 120) counter.count('bad_signature')
    await vi.advanceTimersByTimeAsync(1_000)
  }
  const minute = (at: number) => ({ count: 60, from: after(at * 60_000), to: after(at * 60_000 + 59_000) })
  expect(facts).toEqual([
    { kind: 'no_session', ...minute(0) },
    { kind: 'no_session', ...minute(1) },
    { kind: 'no_session', ...minute(2) },
    { kind: 'bad_signature', ...minute(2) },
  ])
  await vi.advanceTimersByTimeAsync(600_000)
  expect(facts).toHaveLength(4)
  await counter.close()
})

test('warns if the ledger refuses the counts, and appends them later', async () => {
  const { counter, facts, warnings, disk } = startCounter()
  disk.isFull = true
  counter.count('no_session')
  await vi.advanceTimersByTimeAsync(60_000)
  expect([facts.length, warnings.length]).toEqual([0, 1])
  disk.isFull = false
  counter.count('no_session')
  await counter.flush()
  expect(facts).toEqual([{ kind: 'no_session', count: 2, from: after(0), to: after(60_000) }])
  await counter.close()
})

test('appends the remaining counts on close, and nothing after it', async () => {
  const { counter, facts } = startCounter()
  counter.count('socket_refused')
  await counter.close()
  expect(facts).toMatchObject([{ kind: 'socket_refused', count: 1 }])
  counter.count('socket_refused')
  await vi.advanceTimersByTimeAsync(600_000)
  expect(facts).toHaveLength(1)
})
