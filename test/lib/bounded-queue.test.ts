import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBoundedQueue, QueueFull } from '../../src/lib/bounded-queue.ts'

test('runs jobs in order, never more than the limit at once, failures included', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.boolean()),
      async (s, limit, jobs) => {
        const queue = createBoundedQueue(limit, 1_000)
        const started: number[] = []
        let running = 0
        const results = jobs.map((succeeds, index) =>
          queue(async () => {
            started.push(index)
            running += 1
            expect(running).toBeLessThanOrEqual(limit)
            await s.schedule(Promise.resolve())
            running -= 1
            if (!succeeds) throw new Error(`job ${index}`)
            return index
          }),
        )
        const settled = Promise.allSettled(results)
        await s.waitFor(settled)
        expect((await settled).map(({ status }) => status === 'fulfilled')).toEqual(jobs)
        expect(started).toEqual(jobs.map((_, index) => index))
      },
    ),
  )
})

test('refuses at once when it is full, and accepts jobs again when it has room', async () => {
  const queue = createBoundedQueue(2, 3)
  const held = Promise.withResolvers<string>()
  const jobs = Array.from({ length: 5 }, () => queue(() => held.promise))
  await expect(queue(async () => 'too many')).rejects.toBeInstanceOf(QueueFull)
  held.resolve('done')
  expect(await Promise.all(jobs)).toEqual(Array(5).fill('done'))
  expect(await queue(async () => 'room again')).toBe('room again')
})
