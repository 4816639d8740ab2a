import { expect, test } from 'vitest'
import { openMind } from './mind.ts'
import { scriptedModel } from './scripted-model.ts'

const FACTS = [
  { quote: 'My sister is called Ada', text: 'The owner’s sister is called Ada', keywords: ['sibling'] },
  { quote: 'My boat is called Petrel', text: 'The owner’s boat is called Petrel' },
  { quote: 'The boat lies in Porto', text: 'The owner’s boat lies in Porto' },
  { quote: 'My sister sails the boat', text: 'The owner’s sister sails the boat' },
]

const openSailor = () =>
  openMind({
    utility: scriptedModel(({ turns }) =>
      FACTS.filter(({ quote }) => turns.some(({ text, quotable }) => quotable && text.includes(quote))),
    ),
    config: { contextTurns: 0, maxInjectedMemories: 3 },
  })

test('agrees with recall at every threshold', async () => {
  const mind = await openSailor()
  for (const { quote } of FACTS) await mind.say(`${quote}.`)
  await mind.settle()
  const questions = ['What is my sister called?', 'Where does the boat of my sister lie?', 'Good morning!']
  for (const text of questions) await mind.say(text, { conversationId: text, reply: null })
  const examples = (await mind.memory.api.recallExamples()).slice(0, questions.length)
  expect(examples.map(({ text }) => text)).toEqual(questions.toReversed())
  expect(examples.some(({ steps }) => steps.length > 2)).toBe(true)
  for (const { seq, text, lines, steps } of examples) {
    for (let hundredth = 0; hundredth <= 100; hundredth += 1) {
      const threshold = hundredth / 100
      mind.memory.config.put({ relevanceThreshold: threshold })
      const recalled = await mind.memory.recall({
        text,
        turnId: `${text} ${threshold}`,
        conversationId: text,
        spanId: null,
        channel: 'chat',
        beforeSeq: seq,
        inContextSeqs: [],
      })
      const seqs = steps.findLast(({ from }) => from <= threshold)?.seqs ?? []
      const shown = lines.filter((line) => seqs.includes(line.seq)).map((line) => line.text)
      expect([text, threshold, shown.join('\n')]).toEqual([text, threshold, recalled.text ?? ''])
    }
  }
})

test('has the last ten messages of the owner, and nothing barred, erased or said by guests', async () => {
  const mind = await openSailor()
  for (const { quote } of FACTS) await mind.say(`${quote}.`)
  await mind.settle()
  const [sister] = mind.known()
  await mind.forget(sister?.memoryId ?? '')
  const erased = await mind.say('Does my sister like the boat?')
  await mind.erase(erased.seq)
  await mind.say('What is your sister called?', { party: 'guest', conversationId: 'call' })
  await mind.say('Where is my boat?', { conversationId: 'later' })
  const all = JSON.stringify(await mind.memory.api.recallExamples())
  expect(all).toContain('Where is my boat?')
  expect(all).toContain('Petrel')
  expect(all).not.toMatch(/Ada|Does my sister|What is your sister/)

  for (let day = 1; day <= 12; day += 1) await mind.say(`It is day ${day} at sea.`)
  const examples = await mind.memory.api.recallExamples()
  expect(examples.map(({ text }) => text)).toEqual(
    Array.from({ length: 10 }, (_, index) => `It is day ${12 - index} at sea.`),
  )
})

test('has no examples before the first message', async () => {
  const mind = await openMind()
  expect(await mind.memory.api.recallExamples()).toEqual([])
})
