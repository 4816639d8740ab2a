import { expect, onTestFinished, test } from 'vitest'
import {
  isMemoryRequest,
  type ModelDouble,
  type ModelDoubleOptions,
  startModelDouble,
} from '../doubles/model/model-double.ts'
import type { ScriptedCall } from '../doubles/model/script.ts'
import { startWholeService } from '../support/service.ts'

/** A model that writes capsules and otherwise calls one tool a turn, then answers. */
async function startModel(name: string, call: ScriptedCall, options: ModelDoubleOptions = {}) {
  const double = await startModelDouble({ models: ['m'], ...options })
  onTestFinished(() => double.close())
  double.answerWith(({ text, body }) => {
    if (text.includes('Write the capsule now'))
      return { text: `## Established facts\nThe ${name} capsule: the code word is heliotrope.` }
    const items = [body.input ?? body.messages].flat() as { type?: string; role?: string }[]
    const hasResult = /tool|function_call_output/.test(items.at(-1)?.role ?? items.at(-1)?.type ?? '')
    return hasResult || !/please/.test(text) ? { text: `From ${name}.` } : { toolCalls: [call] }
  })
  return double
}

const lastOf = (double: ModelDouble, path: string) =>
  double.requests(path).findLast((request) => !isMemoryRequest(request))?.text ?? ''

test('keeps memory, tools and the capsule as a conversation moves between APIs and the builtin model', {
  tags: ['long'],
}, async () => {
  const memory = { name: 'remember', arguments: { text: 'My sister is called Ada.' } }
  const note = { name: 'create_note', arguments: { title: 'Tea', content: 'Buy tea for Ada.' } }
  const one = await startModel('one', memory)
  const two = await startModel('two', note, { dialect: 'ollama', lacks: ['/responses'] })
  const { client } = await startWholeService({
    environment: { CHAT_MODEL: 'm' },
  })
  const say = async (content: string): Promise<string> => {
    const { status, text, json } = await client.post('/api/chat', { content })
    expect(status, text).toBe(200)
    return json.reply.text
  }
  const moveTo = (url: string) => client.put('/api/config', { entries: { OPENAI_BASE_URL: url } })
  const compact = async () => (await client.post('/api/session/context/compact')).status

  await moveTo(one.url)
  expect(await say('My sister is called Ada, please remember that.')).toBe('From one.')
  expect(await compact()).toBe(200)

  await moveTo(two.url)
  expect(await say('Now a note for Ada’s tea, please: “Buy tea for Ada.”')).toBe('From two.')
  const toTwo = lastOf(two, '/chat/completions')
  // The opaque form stays with its service, and the text of the capsule moves.
  for (const words of ['The one capsule', 'heliotrope', 'Ada', '"Tea"']) expect(toTwo).toContain(words)
  expect(toTwo).not.toContain('sealed')
  expect((await client.get('/api/notes')).text).toContain('Tea')
  // A turn and learning may find out side by side; nobody asks again.
  const tried = two.requests('/responses').length
  expect([1, 2]).toContain(tried)
  expect(await say('Thanks')).toBe('From two.')
  expect(two.requests('/responses')).toHaveLength(tried)
  expect(await compact()).toBe(200)

  await client.delete('/api/config/OPENAI_BASE_URL')
  expect(await say('What do you remember about my sister?')).toContain('Ada')
  expect(await say('What notes do I have?')).toContain('Tea')

  await moveTo(one.url)
  expect(await say('What is the code word?')).toBe('From one.')
  const toOne = lastOf(one, '/responses')
  for (const words of ['The two capsule', 'heliotrope', 'What notes do I have?'])
    expect(toOne).toContain(words)
})
