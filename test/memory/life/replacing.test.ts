import { expect, test } from 'vitest'
import { newId } from '../../support/writer.ts'
import { type Mind, openMind, type SaidTurn } from '../mind.ts'
import { scriptedModel } from '../scripted-model.ts'

/** A model that reads where the owner lives, and what they drink. */
const reader = () =>
  scriptedModel(({ turns }) =>
    turns
      .filter(({ quotable }) => quotable)
      .flatMap(({ text, agreedTo }) => {
        const said = agreedTo ?? text
        const place = /live in (\w+)/.exec(said)?.[1]
        const drink = /drink (\w+)/.exec(said)?.[1]
        const quote = said.replace(/\?$/, '')
        return [
          ...(place ? [{ text: quote, quote, slot: 'home', value: place, singleValued: true }] : []),
          ...(drink ? [{ text: quote, quote, slot: 'drink', value: drink }] : []),
        ]
      }),
  )

const edit = (mind: Mind, { turnId, seq }: SaidTurn, text: string) =>
  mind.say(text, { replaces: { turnId, seq, sameWords: false } })
const askAgain = (mind: Mind, { turnId, seq }: SaidTurn, text: string) =>
  mind.say(text, { replaces: { turnId, seq, sameWords: true } })

test('retires what it learned from the earlier version alone, and what that had replaced holds again', async () => {
  const mind = await openMind({ utility: reader() })
  await mind.say('I live in Porto')
  await mind.settle()
  const moved = await mind.say('I live in Lisbon')
  await mind.settle()
  expect(mind.texts()).toEqual(['I live in Lisbon'])
  const asked = await edit(mind, moved, 'I drink tea in Lisbon')
  await mind.settle()
  expect(mind.texts()).toEqual(['I live in Porto', 'I drink tea in Lisbon'])
  expect(mind.facts('memory.retired')).toMatchObject([{ facts: { reason: 'replaced' }, causedBy: moved.seq }])
  const recalled = (await mind.say('Where do I live?', { conversationId: newId() })).recalled.text
  expect(recalled).toContain('I live in Porto')
  expect(recalled).not.toContain('I live in Lisbon')
  expect(mind.queries.repeatsBarred({ seq: asked.seq, derivedFrom: [] })).toBe(false)
})

test('keeps a memory that other messages state too', async () => {
  const mind = await openMind({ utility: reader() })
  const first = await mind.say('I drink coffee')
  await mind.settle()
  const second = await mind.say('I drink coffee')
  await mind.settle()
  expect(mind.known()).toMatchObject([{ reinforcements: 1 }])
  const other = await edit(mind, second, 'I drink water')
  await mind.settle()
  expect(mind.texts()).toEqual(['I drink coffee', 'I drink water'])
  expect((await mind.say('What do I drink?', { conversationId: newId() })).recalled.text).toContain('coffee')
  await edit(mind, other, 'Never mind')
  await edit(mind, first, 'Hello')
  expect(mind.texts()).toEqual([])
})

test('reads the same words once, keeps what it learned, and retires it when they change', async () => {
  const utility = reader()
  const mind = await openMind({ utility })
  const first = await mind.say('I live in Porto')
  await mind.settle()
  const again = await askAgain(mind, first, 'I live in Porto')
  await mind.settle()
  expect(utility.asked).toHaveLength(1)
  expect(mind.known()).toMatchObject([{ text: 'I live in Porto', reinforcements: 0 }])
  expect(mind.queries.sources(mind.known()[0]?.memoryId ?? '')).toEqual([first.seq, again.seq])
  await edit(mind, again, 'What is the weather like?')
  expect(mind.texts()).toEqual([])
})

test('does not read an earlier version that it has not read yet', async () => {
  const utility = reader()
  const mind = await openMind({ utility, started: false })
  const first = await mind.say('I live in Porto')
  const second = await edit(mind, first, 'I live in Lisbon')
  await askAgain(mind, second, 'I live in Lisbon')
  mind.memory.start()
  await mind.settle()
  expect(mind.texts()).toEqual(['I live in Lisbon'])
  expect(JSON.stringify(utility.asked)).not.toContain('Porto')
})

test('does not learn from an earlier version that it is just reading', async () => {
  const read = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const model = reader()
  const utility = {
    ...model,
    answer: async (...args: Parameters<typeof model.answer>) => {
      read.resolve()
      await go.promise
      return model.answer(...args)
    },
  } as typeof model
  const mind = await openMind({ utility })
  const first = await mind.say('I live in Porto')
  await read.promise
  await edit(mind, first, 'I live in Lisbon')
  go.resolve()
  await mind.settle()
  expect(mind.texts()).toEqual(['I live in Lisbon'])
})

test('retires what rests on a “yes” that was changed', async () => {
  const mind = await openMind({ utility: reader() })
  await mind.say('Guess where my home is', { reply: 'Do you live in Porto?' })
  await mind.settle()
  const yes = await mind.say('Yes')
  await mind.settle()
  expect(mind.texts()).toHaveLength(1)
  await edit(mind, yes, 'No')
  expect(mind.texts()).toEqual([])
})

test('keeps secret what is asked again, until the owner keeps it', async () => {
  const mind = await openMind({ utility: reader() })
  const words = 'I live in Porto. Don’t keep this.'
  const first = await mind.say(words)
  await mind.settle()
  const again = await askAgain(mind, first, words)
  await mind.settle()
  expect(mind.queries.isSecret(again.seq)).toBe(true)
  expect(mind.texts()).toEqual([])
  expect(await mind.memory.memories.keep(again.seq)).toBe(true)
  expect(mind.queries.isBarred(again.seq)).toBe(false)
  expect(mind.queries.isBarred(first.seq)).toBe(true)
})
