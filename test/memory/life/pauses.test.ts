import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { SubscribeHead } from '../../../ledger/follow.ts'
import type { MemoryQueries } from '../../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../../projections/utterances.ts'
import { type ConversationPause, createMemoryReactor } from '../../../src/memory/reactor.ts'
import { openMind } from '../mind.ts'

const WINDOW = 8
const A_MOMENT_MS = 20

/**
 * A reactor over a conversation that says a word at a time; what it reads is counted, a window at a time. That there is
 * nothing to read it has found before `looking` ends.
 */
function openReactor(pause: ConversationPause, looking: Promise<void> = Promise.resolve()) {
  const listeners = new Set<() => void>()
  const onHeadMoved: SubscribeHead = (onMoved, areas) => {
    if (areas?.includes('turn')) listeners.add(onMoved)
    return () => listeners.delete(onMoved)
  }
  let unread = 0
  let isAnswering = false
  let asks = 0
  const windows: number[] = []
  const reactor = createMemoryReactor({
    append: async () => ({ status: 'appended', events: [] }),
    queries: {
      nextEnd: () => null,
      endedBy: () => [],
      outcomes: () => [],
    } as Partial<MemoryQueries> as MemoryQueries,
    utterances: {
      hasUnanswered() {
        asks += 1
        return isAnswering
      },
      isBehindBy: (count) => unread > count,
    } as Partial<UtteranceQueries> as UtteranceQueries,
    extraction: {
      nextRetryAtMs: () => null,
      async readNext() {
        if (unread === 0) {
          await looking
          return false
        }
        const read = Math.min(unread, WINDOW)
        unread -= read
        windows.push(read)
        // Talk goes on while a window is read.
        await delay(1)
        return true
      },
    },
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
    asks: () => asks,
    unread: () => unread,
    /** A turn that is over; or one that goes on, where the conversation never rests. */
    say({ goesOn = false } = {}) {
      unread += 1
      isAnswering = goesOn
      for (const onMoved of listeners) onMoved()
    },
  }
}

test('turns that follow each other are read in the pause after them, in one go', async () => {
  const { windows, asks, say } = openReactor({ quietMs: 1000, longestMs: 60_000 })
  await expect.poll(asks).toBeGreaterThan(0)
  const askedBefore = asks()
  for (let turn = 0; turn < 5; turn += 1) {
    say()
    await delay(A_MOMENT_MS)
  }
  expect(windows).toEqual([])
  // Not even the views are asked while it may not begin.
  expect(asks()).toBe(askedBefore)
  await expect.poll(() => windows, { timeout: 10_000 }).toEqual([5])
})

test('a conversation without a pause is read all the same, and nobody talks faster than it is read', async () => {
  const { windows, unread, say } = openReactor({ quietMs: 60_000, longestMs: 50 })
  const talk = setInterval(() => {
    for (let turn = 0; turn < 20; turn += 1) say({ goesOn: true })
  }, 5)
  onTestFinished(() => clearInterval(talk))
  await expect.poll(() => windows.length, { timeout: 20_000 }).toBeGreaterThan(20)
  clearInterval(talk)
  say({ goesOn: true })
  // A turn is under way to the end: so many wait for it at most.
  await expect.poll(unread, { timeout: 20_000 }).toBeLessThanOrEqual(16)
})

test('whoever waits for what was said waits for no pause', async () => {
  const { reactor, windows, say } = openReactor({ quietMs: 60_000, longestMs: 60_000 })
  say()
  await reactor.settled(10_000)
  expect(windows).toEqual([1])
})

test('closing waits for no pause, and what was not read is read at the next start, without one', async () => {
  const pause = { quietMs: 60_000, longestMs: 60_000 }
  const first = openReactor(pause)
  // What it found at the start is done with.
  await first.reactor.settled(10_000)
  first.say()
  await delay(A_MOMENT_MS)
  await first.reactor.close()
  expect(first.windows).toEqual([])

  const { directory, say, close } = await openMind({ started: false })
  await say('I live in Oslo')
  await close()
  const second = await openMind({ directory })
  await expect.poll(() => second.texts(), { timeout: 10_000 }).toEqual(['I live in Oslo'])
})

test('whoever waits for what was said has it read, though the reactor was just looking and had found nothing', async () => {
  const looking = Promise.withResolvers<void>()
  const { reactor, say, unread } = openReactor({ quietMs: 60_000, longestMs: 60_000 }, looking.promise)
  await expect.poll(() => reactor.isRunning()).toBe(true)
  say({ goesOn: true })
  const settled = reactor.settled(60_000)
  looking.resolve()
  await settled
  expect(unread()).toBe(0)
})
