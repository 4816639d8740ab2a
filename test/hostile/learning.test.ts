// @module-tag long

import { expect, test } from 'vitest'
import { openMind } from '../memory/mind.ts'
import { scriptedModel } from '../memory/scripted-model.ts'
import { hostileTexts } from './texts.ts'

/** The maximum length of a message. */
const CHARS = 100_000

test('learns an ordinary statement after hostile texts without a failed extraction', async () => {
  const mind = await openMind()
  for (const [, text] of hostileTexts(CHARS)) await mind.say(text)
  await mind.say('My name is Ada')
  await mind.settle()
  expect(mind.facts('memory.extraction.failed')).toEqual([])
  expect(mind.texts()).toContain('My name is Ada')
})

test('checks hostile quotes from a model without a failed extraction or a backlog', async () => {
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
