import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { follow, type SubscribeHead } from '../../ledger/follow.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

/** A writer whose head can be subscribed to, as in the service. */
function openFollowed() {
  const writer = openTestWriter(testDirectory(), { projections: [] })
  const listeners = new Set<() => void>()
  const subscribe: SubscribeHead = (listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    ...writer,
    listeners,
    appendAndNotify(count: number) {
      writer.append(...Array.from({ length: count }, () => said('tea')))
      for (const listener of [...listeners]) listener()
    },
    follow: (fromSeq: number, signal: AbortSignal) => follow(writer.ledger, subscribe, fromSeq, signal),
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('delivers each event once and in order to slow consumers during appends', {
  tags: ['long'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 }),
      fc.array(fc.record({ fromSeq: fc.integer({ min: 0, max: 800 }), joinsAfter: fc.nat(8) }), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.integer({ min: 0, max: 300 }),
      async (scheduler, appends, consumers, before) => {
        const followed = openFollowed()
        if (before > 0) followed.appendAndNotify(before)
        const total = before + appends.reduce((sum, count) => sum + count, 0)
        const abort = new AbortController()

        async function consume({
          fromSeq,
          joinsAfter,
        }: {
          fromSeq: number
          joinsAfter: number
        }): Promise<number[]> {
          for (let wait = 0; wait < joinsAfter; wait += 1) await scheduler.schedule(Promise.resolve(), 'join')
          const seen: number[] = []
          if (fromSeq >= total) return seen
          for await (const event of followed.follow(fromSeq, abort.signal)) {
            seen.push(event.seq)
            if (event.seq % 97 === 0) await scheduler.schedule(Promise.resolve(), 'slow')
            if (event.seq === total) break
          }
          return seen
        }
        async function produce(): Promise<void> {
          for (const count of appends) {
            await scheduler.schedule(Promise.resolve(), 'append')
            followed.appendAndNotify(count)
          }
        }
        const all = Promise.all([produce(), ...consumers.map(consume)])
        const [, ...seen] = await scheduler.waitFor(all)
        expect(seen).toEqual(
          consumers.map(({ fromSeq }) => (fromSeq >= total ? [] : range(fromSeq + 1, total))),
        )
        expect(followed.listeners.size).toBe(0)
        followed.close()
      },
    ),
    { numRuns: 60 },
  )
})

test('ends an aborted follower at any point and leaves no subscription behind', async () => {
  const followed = openFollowed()
  followed.appendAndNotify(3)
  const waiting = new AbortController()
  const seen: number[] = []
  const end = (async () => {
    for await (const event of followed.follow(0, waiting.signal)) seen.push(event.seq)
  })()
  while (seen.length < 3) await setImmediate()
  expect(followed.listeners.size).toBe(1)
  waiting.abort()
  await end
  const inTheMiddle = new AbortController()
  for await (const event of followed.follow(0, inTheMiddle.signal)) {
    seen.push(event.seq)
    inTheMiddle.abort()
  }
  expect(seen).toEqual([1, 2, 3, 1])
  expect(followed.listeners.size).toBe(0)
  followed.close()
})
