import { expect, test } from 'vitest'
import { openMind } from '../mind.ts'
import { scriptedModel } from '../scripted-model.ts'

const TURNS = 200
const FACT = 'I keep my tea in the blue tin'
const QUESTIONS = [
  'Where do I keep my tea?',
  'Is the tea in the blue tin?',
  'Remind me of the tea.',
  'What do you know about my tea?',
  'Which tin was it again?',
] as const

test('stores a fact once after 200 turns of recall, repetition and extraction', async () => {
  // Finds the fact in everything it is shown: questions, recalled memories and the delegate's words.
  const model = scriptedModel(({ turns, memories }) =>
    turns.flatMap(({ text }) => {
      const [known] = memories
      const claim = { text: FACT, slot: 'tea', value: 'blue tin', quote: text }
      return [
        claim,
        { ...claim, text: 'Keeps the tea in the blue tin' },
        { ...claim, quote: FACT },
        ...(known
          ? [{ ...claim, relations: [{ memoryId: known.id, relation: 'independent' as const }] }]
          : []),
      ]
    }),
  )
  const mind = await openMind({ utility: model })
  await mind.say(FACT)
  await mind.settle()
  expect(mind.texts()).toHaveLength(1)
  let surfaced = 0
  for (let turn = 0; turn < TURNS; turn += 1) {
    const question = QUESTIONS[turn % QUESTIONS.length] ?? ''
    const { recalled } = await mind.say(question, {
      reply: turn % 2 === 0 ? 'You keep your tea in the blue tin.' : `As I remember it: “${FACT}”.`,
    })
    if (recalled.text?.includes('blue tin')) surfaced += 1
    if (turn % 10 === 9) await mind.settle()
  }
  await mind.settle()
  // The fact was recalled and extracted throughout.
  expect(surfaced).toBeGreaterThan(TURNS / 2)
  expect(model.asked.length).toBeGreaterThan(TURNS / 20)
  expect(mind.texts()).toHaveLength(1)
  expect(mind.facts('memory.stored')).toHaveLength(1)
  // A citation counts as a use, but not as a restatement.
  const uses = mind
    .facts('memory.reinforced')
    .flatMap((event) => (event.type === 'memory.reinforced' ? [event.facts.use] : []))
  expect(uses.every((use) => use === 'citation')).toBe(true)
})
