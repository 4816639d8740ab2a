import { expect, test } from 'vitest'
import { newId } from '../../support/writer.ts'
import { openMind } from '../mind.ts'
import { scriptedModel } from '../scripted-model.ts'

test('learns and recalls a message that the owner keeps after all', async () => {
  // An obedient model: it marks whatever it reads.
  const utility = scriptedModel(({ turns }) =>
    turns
      .filter(({ quotable, text }) => quotable && text.includes('Porto'))
      .map(({ text }) => ({
        text,
        quote: text,
        slot: 'home',
        value: 'Porto',
        secrecy: 'do_not_keep' as const,
      })),
  )
  const mind = await openMind({ utility })
  const { seq } = await mind.say('I live in Porto')
  await mind.settle()
  const recalled = async () => (await mind.say('Where do I live?', { conversationId: newId() })).recalled.text
  expect(mind.facts('memory.sources.barred')).toHaveLength(1)
  expect(await recalled()).toBeNull()

  expect(await Promise.all([mind.memory.memories.keep(seq), mind.memory.memories.keep(seq)])).toEqual([
    true,
    true,
  ])
  expect(mind.queries.repeatsBarred({ seq, derivedFrom: [] })).toBe(false)
  await mind.storage.catchUpLagging()
  expect(await recalled()).toContain('I live in Porto')
  await mind.settle()
  expect(mind.texts()).toEqual(['I live in Porto'])
  expect(mind.facts('memory.sources.kept')).toHaveLength(1)
  expect(mind.facts('memory.sources.barred')).toHaveLength(1)
})

test('learns from a message that the owner keeps while the model reads on', async () => {
  let keep = async () => false
  const utility = scriptedModel(async ({ turns }) => {
    await keep()
    return turns
      .filter(({ quotable, text }) => quotable && text.includes('Porto'))
      .map(({ text }) => ({ text, quote: text, slot: 'home', value: 'Porto' }))
  })
  const mind = await openMind({ utility, started: false })
  const { seq } = await mind.say('I live in Porto, off the record')
  keep = () => mind.memory.memories.keep(seq)
  await mind.say('The weather is nice today')
  mind.memory.start()
  await mind.settle()
  expect(mind.facts('memory.sources.kept')).toHaveLength(1)
  expect(mind.texts()).toEqual(['I live in Porto, off the record'])
  expect(mind.written).toEqual([])
})

test('keeps no message that is barred because it was forgotten', async () => {
  const mind = await openMind()
  const { seq } = await mind.say('The spare key lies under the blue flowerpot.')
  const request = await mind.say('Forget the spare key', { open: true })
  await mind.use('forget', { query: 'the spare key' }, request.seq)
  // As earlier builds recorded it.
  await mind.appended([
    { type: 'memory.sources.barred', actor: 'service', facts: { sourceSeqs: [seq], by: 'tool' } },
  ])
  expect(await mind.memory.memories.keep(seq)).toBe(false)
  expect(mind.queries.repeatsBarred({ seq, derivedFrom: [] })).toBe(true)
})
