import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EventArea } from '../../ledger/events/catalogue.ts'
import { createReactor, NoProgress, type ReactorOptions } from '../../src/lib/reactor.ts'

type Job = { readonly id: string; readonly lane?: string; readonly dueAtMs?: number }

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A reactor over a list, which stands in for a projection. */
function setUp(jobs: Job[], options: Partial<ReactorOptions<Job>> = {}) {
  const faults: unknown[] = []
  const begun: string[] = []
  let moved: () => void = () => undefined
  const done = (job: Job) => jobs.splice(jobs.indexOf(job), 1)
  const laneOf = ({ lane = '' }: Job) => lane
  const run = options.run ?? (async (job) => done(job))
  const reactor = createReactor<Job>({
    onHeadMoved(onMoved) {
      moved = onMoved
      return () => {
        moved = () => undefined
      }
    },
    areas: ['chat'] satisfies EventArea[],
    next: (isTaken) => jobs.find((job) => (job.dueAtMs ?? 0) <= Date.now() && !isTaken(laneOf(job))),
    laneOf,
    dueInMs: () =>
      jobs.reduce<number | null>((soonest, { dueAtMs }) => (dueAtMs ? dueAtMs - Date.now() : soonest), null),
    onFault: (error) => faults.push(error),
    ...options,
    run(job, signal) {
      begun.push(job.id)
      return run(job, signal)
    },
  })
  return { reactor, jobs, done, begun, faults, move: () => moved() }
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: String(index) }))

test('does what is due in order, and what a fact brings later', async () => {
  const { reactor, jobs, begun, move } = setUp(ids(3))
  reactor.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(begun).toEqual(['0', '1', '2'])
  jobs.push({ id: 'later' })
  move()
  await vi.advanceTimersByTimeAsync(0)
  expect(begun.at(-1)).toBe('later')
  await reactor.close()
})

test('waits until work is due', async () => {
  const { reactor, begun } = setUp([{ id: 'timer', dueAtMs: Date.now() + 30_000 }])
  reactor.start()
  await vi.advanceTimersByTimeAsync(29_999)
  expect(begun).toEqual([])
  await vi.advanceTimersByTimeAsync(2)
  expect(begun).toEqual(['timer'])
  await reactor.close()
})

test('a lane that hangs or fails does not block the others', async () => {
  const world = setUp(
    [
      { id: 'hangs', lane: 'a' },
      { id: 'behind', lane: 'a' },
      { id: 'fails', lane: 'b' },
      { id: 'works', lane: 'c' },
    ],
    {
      async run(job) {
        if (job.id === 'hangs') return new Promise(() => undefined)
        if (job.id === 'fails') throw new Error('refused')
        return world.done(job)
      },
    },
  )
  world.reactor.start()
  await vi.advanceTimersByTimeAsync(500)
  expect(world.begun).toEqual(['hangs', 'fails', 'works'])
  expect(world.faults).toHaveLength(1)
})

test('doubles its pause with each failure of a step', async () => {
  const { reactor, begun } = setUp(ids(1), {
    run: () => Promise.reject(new Error('down')),
    retryMs: { first: 1_000, longest: 4_000 },
  })
  const runsWithin = async (ms: number) => {
    const before = begun.length
    await vi.advanceTimersByTimeAsync(ms)
    return begun.length - before
  }
  reactor.start()
  expect(begun).toHaveLength(1)
  expect([await runsWithin(1_001), await runsWithin(2_001), await runsWithin(4_001)]).toEqual([1, 1, 1])
  expect(await runsWithin(4_001)).toBe(1)
  await reactor.close()
})

test('reports a run that changes nothing, and does not spin', async () => {
  const { reactor, begun, faults } = setUp(ids(1), { run: async () => undefined })
  reactor.start()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(faults[0]).toBeInstanceOf(NoProgress)
  expect(begun.length).toBeLessThan(6)
  await reactor.close()
})

test('takes up work again that was held while it ran, without a pause', async () => {
  let runs = 0
  const { reactor, jobs, faults } = setUp(ids(1), {
    async run() {
      runs += 1
      if (runs < 3) return 'held'
      jobs.length = 0
      return undefined
    },
  })
  reactor.start()
  await vi.advanceTimersByTimeAsync(1)
  expect(runs).toBe(3)
  expect(faults).toEqual([])
  await reactor.close()
})

test('survives a search that fails, and looks at passed-over work again', async () => {
  let isReadable = false
  const { reactor, jobs, begun, faults } = setUp(ids(1), {
    next: () => {
      if (!isReadable) throw new Error('no such table')
      return jobs[0]
    },
  })
  reactor.start()
  expect(faults).toHaveLength(1)
  isReadable = true
  await vi.advanceTimersByTimeAsync(1_001)
  expect(begun).toEqual(['0'])
  await reactor.close()
})

test('aborts a run when the grace of closing ends', async () => {
  const reasons: string[] = []
  const run: ReactorOptions<Job>['run'] = (_job, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reasons.push(String(signal.reason))
        reject(signal.reason)
      })
    })
  const { reactor, begun } = setUp(ids(1), { run })
  reactor.start()
  const closed = reactor.close(2_000)
  await vi.advanceTimersByTimeAsync(1_999)
  expect(reasons).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  await closed
  expect(reasons).toEqual(['Error: the service is stopping'])
  expect(begun).toHaveLength(1)
})
