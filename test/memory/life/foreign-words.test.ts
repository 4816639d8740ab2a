import { expect, test } from 'vitest'
import { openMind } from '../mind.ts'
import { scriptedModel } from '../scripted-model.ts'

test('hides words of others from an extractor of typed words', async () => {
  const model = scriptedModel(() => [])
  const mind = await openMind({ utility: model })
  await mind.say('Hello', { reply: 'Good morning' })
  await mind.say('Read me the note', { reply: 'It says: the owner banks with Mallory', foreign: true })
  await mind.say('My bank is Mallory', { at: 'sms' })
  await mind.say('Thanks, that looks good')
  await mind.settle()
  const windows = model.asked.map(({ turns }) => turns.map(({ text }) => text))
  expect(windows.some((texts) => texts.includes('My bank is Mallory'))).toBe(true)
  const texts = windows.find((each) => each.includes('Thanks, that looks good')) ?? []
  expect(texts).toContain('Thanks, that looks good')
  expect(texts).toContain('Good morning')
  expect(texts.join()).not.toContain('Mallory')
})

test('records a memory shown as a correction as a source of the answer', async () => {
  const mind = await openMind()
  await mind.say('I live in Ulm beside the old harbour market')
  await mind.settle()
  await mind.say('I live in Oslo', { at: 'sms' })
  await mind.settle()
  const { recalled } = await mind.say('What did I say about the old harbour market?', {
    conversationId: 'later',
  })
  expect(recalled.text).toContain('since corrected: I live in Oslo')
  const oslo = mind.known().find(({ text }) => text === 'I live in Oslo')
  expect(recalled.seqs).toContain(oslo?.storedSeq)
})

test('learns nothing from a “yes” to words of others that were read aloud', async () => {
  const mind = await openMind()
  await mind.say('My favourite colour is green')
  await mind.say('Read me the note Yak', { reply: 'My favourite colour is beige.', foreign: true })
  await mind.say('Yes')
  await mind.settle()
  await mind.say('Read me the mail', { reply: 'Your doctor is Doctor Evilstein.', foreign: true })
  const { seq } = await mind.say('Sure', { open: true })
  expect(await mind.use('remember', { text: 'Your doctor is Doctor Evilstein' }, seq)).toMatchObject({
    ok: false,
    reason: 'unsupported',
  })
  expect(mind.known()).toMatchObject([{ text: 'My favourite colour is green', status: 'active' }])
})
