import { expect, test } from 'vitest'
import type * as z from 'zod'
import type { StructuredModel, StructuredRequest } from '../../../src/model/port.ts'
import { NEW_YEAR, openMind } from '../mind.ts'

/** A model that extracts nothing, and judges recalled lines as relevant if they contain the word. */
function judging(word: string): StructuredModel & { readonly shown: string[] } {
  const shown: string[] = []
  return {
    id: { provider: 'scripted', model: 'utility' },
    shown,
    async answer<S extends z.ZodType>({ name, input, schema }: StructuredRequest<S>) {
      const last = input.at(-1)
      const text = last?.type === 'inner' ? last.text : ''
      if (name === 'relevant_memories') shown.push(text)
      const lines: { number: number; text: string }[] =
        name === 'relevant_memories' ? JSON.parse(text).lines : []
      const relevant = [999, ...lines.filter((line) => line.text.includes(word)).map(({ number }) => number)]
      const value = schema.parse(name === 'relevant_memories' ? { relevant } : { candidates: [] })
      return { value, usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 } }
    },
  }
}

async function mindOfTeas(model: StructuredModel, enabled: boolean) {
  const mind = await openMind({ startMs: NEW_YEAR, config: { arbitrator: { enabled, timeoutMs: 5000 } } })
  await mind.say('I like oolong tea')
  await mind.say('I like sencha tea')
  await mind.settle()
  mind.setUtility(model)
  return mind
}

test('drops and records memories that a model judges irrelevant, if enabled', async () => {
  const model = judging('sencha')
  const mind = await mindOfTeas(model, true)
  const { recalled } = await mind.say('Which tea should I order?')
  expect(recalled.text).toContain('sencha')
  expect(recalled.text).not.toContain('oolong')
  expect(model.shown).toHaveLength(1)
  expect(model.shown[0]).toContain('"date":"2030-01-01"')
  const suppressed = recalled.facts.filter(({ type }) => type === 'memory.recall.suppressed')
  expect(suppressed).toMatchObject([{ facts: { reason: 'irrelevant', late: false } }])
})

test('does not ask a model if disabled or during a call', async () => {
  const model = judging('sencha')
  const mind = await mindOfTeas(model, false)
  expect((await mind.say('Which tea should I order?')).recalled.text).toContain('oolong')
  mind.memory.config.put({ arbitrator: { enabled: true } })
  expect((await mind.say('Which tea should I order?', { at: 'voice' })).recalled.text).toContain('oolong')
  expect(model.shown).toEqual([])
})
