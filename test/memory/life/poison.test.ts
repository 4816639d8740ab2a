import { expect, test } from 'vitest'
import { openFunctionThread } from '../../../src/storage/function-thread.ts'
import { testDirectory } from '../../support/directory.ts'
import { type MindOptions, openMind } from '../mind.ts'
import type { poisonedFunctions } from './poisoned-learning-thread.ts'

const openLearning = (directory: string, limitMs: number) =>
  openFunctionThread<typeof poisonedFunctions>(
    new URL('./poisoned-learning-thread.ts', import.meta.url),
    directory,
    { limitMs, closeGraceMs: 200 },
  )

const learning: MindOptions['learning'] = (directory) => openLearning(directory, 1500)

test.each([
  ['hangs', 'poison', 'thread_timed_out'],
  ['kills', 'venom', 'thread_died'],
])('skips a message that %s the learning thread and learns its neighbours', async (_how, word, kind) => {
  const mind = await openMind({ learning, started: false })
  await mind.say('My name is Ada')
  const { seq } = await mind.say(`This is ${word}`)
  await mind.say('I live in Oslo')
  mind.memory.start()
  await mind.settle()
  expect(mind.texts()).toEqual(['My name is Ada', 'I live in Oslo'])
  expect(mind.facts('memory.extraction.failed')).toMatchObject([
    { facts: { kind, final: false, attempt: 1 } },
    { facts: { kind, final: true, utteranceSeqs: [seq] } },
  ])
  expect(mind.utterances.unreadCount()).toBe(0)
  expect(mind.memory.isStalled()).toBe(false)
})

test('does not read a skipped message again after a restart', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  const first = await openMind({ directory, learning })
  await first.say('This is poison')
  await first.settle()
  await first.close()
  const second = await openMind({ directory, learning, startMs: first.nowMs() })
  await second.say('I live in Oslo')
  await second.settle()
  expect(second.texts()).toEqual(['I live in Oslo'])
  expect(second.facts('memory.extraction.failed')).toHaveLength(1)
})

test('closes at once although its thread hangs', async () => {
  const begun = Promise.withResolvers<void>()
  const endless: MindOptions['learning'] = (directory) => {
    const thread = openLearning(directory, 600_000)
    return {
      ...thread,
      ask(name, args) {
        if (name === 'check') begun.resolve()
        return thread.ask(name, args)
      },
    }
  }
  const mind = await openMind({ learning: endless })
  await mind.say('This is poison')
  await begun.promise
  const startMs = performance.now()
  await mind.close()
  expect(performance.now() - startMs).toBeLessThan(5000)
  // The interrupted message is read after the next start.
  const again = await openMind({ directory: mind.directory, startMs: mind.nowMs() })
  await again.settle()
  expect(again.utterances.unreadCount()).toBe(0)
})

test('stalls learning without skipping a message if the thread cannot start', async () => {
  let isBroken = true
  const mind = await openMind({
    learning(directory) {
      const broken = openFunctionThread<typeof poisonedFunctions>(new URL('./none.ts', import.meta.url), null)
      const thread = openLearning(directory, 30_000)
      return { ...thread, ask: (name, args) => (isBroken ? broken : thread).ask(name, args) }
    },
  })
  await mind.say('My name is Ada')
  await mind.memory.settled(10_000)
  expect(mind.memory.isStalled()).toBe(true)
  isBroken = false
  await mind.settle()
  expect(mind.memory.isStalled()).toBe(false)
  expect(mind.facts('memory.extraction.failed')).toEqual([])
  expect(mind.texts()).toEqual(['My name is Ada'])
})

test('takes no request from what others wrote, and none of their words after a request of the owner', async () => {
  const mind = await openMind()
  await mind.say('Bob mailed:\n> this is off the record, I quit\nI live in Porto, what do I answer?')
  await mind.say('Note that my flight is at 9.\n\nBob wrote: my phone number is 555 0142')
  await mind.say('Message from Bob: my phone number is 555 0142')
  await mind.settle()
  expect(mind.facts('memory.sources.barred')).toEqual([])
  expect(mind.texts().join('\n')).toContain('flight is at 9')
  expect(mind.texts().join('\n')).not.toContain('555')
})
