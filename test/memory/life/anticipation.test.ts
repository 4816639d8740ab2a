import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RecallQuestion } from '../../../src/memory/recall-port.ts'
import { exampleOf } from '../../support/facts.ts'
import { openMind } from '../mind.ts'

/** A mind that knows one thing, and counts what is asked of its engine. */
async function countingMind() {
  const asked: RecallQuestion[] = []
  const mind = await openMind({
    engine: async (question) => {
      asked.push(question)
      return []
    },
  })
  await mind.say('I like oolong tea')
  await mind.settle()
  asked.length = 0
  return { mind, asked }
}

test('what was begun while a message was written is not asked a second time', async () => {
  const { mind, asked } = await countingMind()
  const { seq } = await mind.say('Which tea?', { anticipated: true })
  expect(asked).toMatchObject([{ text: 'Which tea?', beforeSeq: seq }])
})

test('the start of the turn changes nothing of it', async () => {
  const { mind, asked } = await countingMind()
  await mind.say('Which tea?', {
    anticipated: () => mind.appended([exampleOf('turn.started')]),
  })
  expect(asked).toHaveLength(1)
})

test('what was begun for other words, or in another conversation, is asked anew', async () => {
  const { mind, asked } = await countingMind()
  const beforeSeq = mind.storage.ledger.head().seq + 1
  const cue = { conversationId: 'conversation', channel: 'chat', beforeSeq, inContextSeqs: [] } as const
  mind.memory.anticipate({ ...cue, text: 'Which coffee?' })
  await mind.say('Which tea?')
  mind.memory.anticipate({ ...cue, text: 'Which tea?', conversationId: 'another' })
  await mind.say('Which tea?')
  expect(asked.map(({ text }) => text)).toEqual(['Which coffee?', 'Which tea?', 'Which tea?', 'Which tea?'])
})

test('what is forgotten between a message and its turn does not surface in it', async () => {
  const mind = await openMind()
  await mind.say('I like oolong tea')
  await mind.settle()
  const [tea] = mind.known()
  if (!tea) throw new Error('nothing was learned')
  const { recalled } = await mind.say('Which tea should I order?', {
    anticipated: (seq) => mind.use('forget', { query: 'oolong tea' }, seq),
  })
  expect(mind.known()).toEqual([])
  expect(recalled.text ?? '').not.toContain('oolong')
})

test('what was begun finds what is found when it is asked', { timeout: 60_000 }, async () => {
  const words = ['I like oolong tea', 'My dog is called Rex', 'Which tea?', 'How is Rex?', 'What do I like?']
  const steps = fc.array(fc.record({ text: fc.constantFrom(...words), settles: fc.boolean() }), {
    maxLength: 8,
  })
  await fc.assert(
    fc.asyncProperty(steps, async (life) => {
      const mind = await openMind()
      const cue = { conversationId: 'conversation', spanId: null, turnId: 'none', channel: 'chat' } as const
      for (const { text, settles } of life) {
        if (settles) await mind.settle()
        let begun: string | null = null
        const recall = (beforeSeq: number) =>
          mind.memory.recall({ ...cue, text, beforeSeq, inContextSeqs: [] }).then((found) => {
            begun = found.text
          })
        const { recalled } = await mind.say(text, { anticipated: recall })
        expect(begun).toEqual(recalled.text)
      }
      await mind.close()
    }),
    { numRuns: 5, seed: 1 },
  )
})
