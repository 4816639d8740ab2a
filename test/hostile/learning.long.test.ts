import { expect, test } from 'vitest'
import { openMind } from '../memory/mind.ts'
import { scriptedModel } from '../memory/scripted-model.ts'
import { hostileTexts } from './texts.ts'

/** As long as a message may be. */
const CHARS = 100_000

test('rules learn what stands beside hostile texts, and no text ends the thread', async () => {
  const mind = await openMind()
  for (const [, text] of hostileTexts(CHARS)) await mind.say(text)
  await mind.say('My name is Ada')
  await mind.settle()
  expect(mind.facts('memory.extraction.failed')).toEqual([])
  expect(mind.texts()).toContain('My name is Ada')
})

test('hostile quotes of a model are judged in time', async () => {
  const model = scriptedModel(({ turns }) =>
    turns.flatMap(({ quotable, text }) =>
      quotable ? [{ text, quote: text, slot: 'hobby', value: text.slice(0, 1000) }] : [],
    ),
  )
  const mind = await openMind({ utility: model })
  for (const [, text] of hostileTexts(CHARS)) await mind.say(text, { reply: text })
  await mind.settle()
  expect(mind.facts('memory.extraction.failed')).toEqual([])
  expect(mind.utterances.unreadCount()).toBe(0)
})
