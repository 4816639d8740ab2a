import { expect, test } from 'vitest'
import { openMind } from '../mind.ts'
import { scriptedModel } from '../scripted-model.ts'

test('records ten discarded candidates of one reading, and counts all', async () => {
  const invented = Array.from({ length: 30 }, (_, index) => ({
    text: `Has ${index} cats`,
    quote: `I have ${index} cats`,
  }))
  const mind = await openMind({ utility: scriptedModel(() => invented) })
  await mind.say('The sun is out')
  await mind.settle()
  expect(mind.facts('memory.discarded')).toHaveLength(10)
  expect(mind.memory.counters.read()).toMatchObject({ candidates: 30, discarded: 30, inserted: 0 })
})
