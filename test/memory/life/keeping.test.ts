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

test.each([
  'The doctor said: my HIV test is positive. Don’t keep this.',
  'Meine PIN ist 4821, bitte merk dir das nicht.',
])('keeps nothing of “%s”, without a model and through one that obeys it', async (said) => {
  for (const utility of [null, scriptedModel(({ turns: [turn] }) => (turn ? [turn] : []).map(stated))]) {
    const mind = await openMind({ utility })
    const { seq } = await mind.say(said)
    await mind.settle()
    expect(mind.queries.isSecret(seq)).toBe(true)
    expect(mind.texts()).toEqual([])
  }
})

test('keeps nothing of the message before, if “don’t keep that” is all that the owner says', async () => {
  const mind = await openMind()
  for (const said of ['My name is Ida', 'I live in Porto', 'Don’t keep that.']) {
    await mind.say(said)
    await mind.settle()
  }
  expect(mind.texts()).toEqual(['My name is Ida'])
  expect((await mind.say('Where do I live?', { conversationId: newId() })).recalled.text).toBeNull()
})

test('remembers nothing that the same message asks not to keep', async () => {
  const mind = await openMind()
  const said = 'Remember that my shed code is 4410. Actually, don’t keep this.'
  const turn = await mind.say(said, { open: true })
  expect(await mind.use('remember', { text: 'my shed code is 4410' }, turn.seq)).toMatchObject({
    ok: false,
    reason: 'not_to_keep',
  })
  expect(mind.known()).toEqual([])
})

test('retires a memory once its message is marked as not to be kept, and nothing else', async () => {
  const utility = scriptedModel(({ turns }) =>
    turns
      .filter(({ quotable, text }) => quotable && text.includes('4410'))
      .flatMap(({ text }) => [
        { ...stated({ text }), secrecy: 'do_not_keep' as const },
        stated({ text: 'Ida est malade' }),
      ]),
  )
  const mind = await openMind({ utility })
  for (const said of ['Mon code est 1234', 'Mon code est 4410. Ida est malade. Ne garde pas ça.']) {
    const turn = await mind.say(said, { open: true })
    await mind.use('remember', { text: said.slice(0, 17) }, turn.seq)
    await mind.finish(turn)
    await mind.settle()
  }
  expect(mind.facts('memory.stored')).toHaveLength(2)
  expect(mind.texts()).toEqual(['Mon code est 1234'])
})

test('retires a memory that rests on two messages, neither of which is to be kept', async () => {
  const utility = scriptedModel(({ turns }) =>
    turns
      .filter(({ quotable }) => quotable)
      .map(({ text }) => ({ ...stated({ text }), secrecy: 'do_not_keep' as const })),
  )
  const mind = await openMind({ utility })
  for (const said of ['Mon code est 4410. Ne garde pas ça.', 'Mon code est 4410. Oublie ensuite.']) {
    const turn = await mind.say(said, { open: true })
    await mind.use('remember', { text: 'Mon code est 4410' }, turn.seq)
    await mind.finish(turn)
  }
  await mind.settle()
  expect(mind.facts('memory.retired')).toMatchObject([{ facts: { reason: 'retracted' } }])
  expect(mind.texts()).toEqual([])
})

/** A candidate that says what the owner said. */
const stated = ({ text }: { readonly text: string }) => ({ text, quote: text })
