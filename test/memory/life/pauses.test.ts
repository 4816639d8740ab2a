import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { SubscribeHead } from '../../../ledger/follow.ts'
import type { MemoryQueries } from '../../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../../projections/utterances.ts'
import { type ConversationPause, createMemoryReactor } from '../../../src/memory/learn/reactor.ts'
import type { WindowReader } from '../../../src/memory/learn/window.ts'
import { openMind } from '../mind.ts'

const WINDOW = 8
const A_MOMENT_MS = 20

/** A reactor over a conversation of one-word turns. Each read waits for `reading`. */
function openReactor(pause: ConversationPause, reading: Promise<unknown> = Promise.resolve()) {
  const listeners = new Set<() => void>()
  const onHeadMoved: SubscribeHead = (onMoved, areas) => {
    if (areas?.includes('turn')) listeners.add(onMoved)
    return () => listeners.delete(onMoved)
  }
  let unread = 0
  let isAnswering = false
  let checks = 0
  const windows: number[] = []
  const reactor = createMemoryReactor({
    isHalted: () => false,
    append: async () => ({ status: 'appended', events: [] }),
    queries: {
      nextEnd: () => null,
      endedBy: () => [],
      outcomes: () => [],
    } as Partial<MemoryQueries> as MemoryQueries,
    utterances: {
      hasUnanswered() {
        checks += 1
        return isAnswering
      },
      isBehindBy: (count) => unread > count,
      readable: () => [],
    } as Partial<UtteranceQueries> as UtteranceQueries,
    extraction: {
      nextRetryAtMs: () => null,
      due: () => (unread === 0 ? null : { firstSeq: windows.length, attempt: 0, isAgain: false }),
      async readNext() {
        await reading
        const read = Math.min(unread, WINDOW)
        unread -= read
        windows.push(read)
        // The conversation goes on while a window is read.
        await delay(1)
      },
    },
    windows: {} as WindowReader,
    onHeadMoved,
    pause,
    timezone: () => 'UTC',
    newId: () => 'id',
    nowMs: Date.now,
    onFault: (error) => {
      throw error
    },
  })
  reactor.start()
  onTestFinished(() => reactor.close())
  return {
    reactor,
    windows,
    checks: () => checks,
    unread: () => unread,
    /** Adds a finished turn, or an unfinished one if `goesOn`. */
    say({ goesOn = false } = {}) {
      unread += 1
      isAnswering = goesOn
      for (const onMoved of listeners) onMoved()
    },
  }
}

test('reads successive turns in one go during the pause after them', async () => {
  const { windows, checks, say } = openReactor({ quietMs: 1000, longestMs: 60_000 })
  await expect.poll(checks).toBeGreaterThan(0)
  const checksBefore = checks()
  for (let turn = 0; turn < 5; turn += 1) {
    say()
    await delay(A_MOMENT_MS)
  }
  expect(windows).toEqual([])
  // Before the pause, it does not even query the views.
  expect(checks()).toBe(checksBefore)
  await expect.poll(() => windows).toEqual([5])
})

test('reads a conversation without pauses at least as fast as it grows', async () => {
  const { windows, unread, say } = openReactor({ quietMs: 60_000, longestMs: 50 })
  const talk = setInterval(() => {
    for (let turn = 0; turn < 20; turn += 1) say({ goesOn: true })
  }, 5)
  onTestFinished(() => clearInterval(talk))
  await expect.poll(() => windows.length).toBeGreaterThan(20)
  // The last turn is unfinished, so up to two windows may stay unread, while others arrive.
  await expect.poll(unread).toBeLessThanOrEqual(16)
})

test('reads at once, without a pause, for a caller that waits', async () => {
  const { reactor, windows, say } = openReactor({ quietMs: 60_000, longestMs: 60_000 })
  say()
  await reactor.settled(10_000)
  expect(windows).toEqual([1])
})

test('closes without waiting for a pause, and reads the backlog at the next start', async () => {
  const pause = { quietMs: 60_000, longestMs: 60_000 }
  const first = openReactor(pause)
  // Let the read at the start finish.
  await first.reactor.settled(10_000)
  first.say()
  await delay(A_MOMENT_MS)
  await first.reactor.close()
  expect(first.windows).toEqual([])

  const { directory, say, close } = await openMind({ started: false })
  await say('I live in Oslo')
  await close()
  const second = await openMind({ directory })
  await expect.poll(() => second.texts()).toEqual(['I live in Oslo'])
})

test('reads new words for a waiting caller even while it reads', async () => {
  const reading = Promise.withResolvers<void>()
  const { reactor, say, unread, windows } = openReactor({ quietMs: 0, longestMs: 0 }, reading.promise)
  say()
  await expect.poll(() => reactor.isRunning()).toBe(true)
  say({ goesOn: true })
  const settled = reactor.settled(60_000)
  reading.resolve()
  await settled
  expect(unread()).toBe(0)
  expect(windows.length).toBeGreaterThan(0)
})
