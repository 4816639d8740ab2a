import { expect, onTestFinished, test } from 'vitest'
import { createModelHolder } from '../../src/model/service.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { never, request } from './openai/fixture.ts'

test.for([
  [{}, 'builtin', 'builtin-1'],
  [{ OPENAI_API_KEY: '  ', OPENAI_BASE_URL: '' }, 'builtin', 'builtin-1'],
  [{ OPENAI_API_KEY: 'sk-x' }, 'openai', 'gpt-5.5'],
  [{ OPENAI_API_KEY: 'sk-x', CHAT_MODEL: 'gpt-x' }, 'openai', 'gpt-x'],
  [{ OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1', CHAT_MODEL: 'llama' }, '127.0.0.1:11434', 'llama'],
  [{ OPENAI_BASE_URL: 'https://api.openai.com/v1' }, 'openai', 'gpt-5.5'],
] as const)('with %j, answers from %s with %s', ([settings, provider, model]) => {
  expect(createModelHolder(settings).current().text.id).toEqual({ provider, model })
})

test('uses OpenAI’s models as defaults only on its own API', () => {
  const own = createModelHolder({ OPENAI_API_KEY: 'sk-x' }).current()
  expect([own.embedding?.id.model, own.realtime?.model]).toEqual([
    'text-embedding-3-small',
    'gpt-realtime-2.1',
  ])
  const other = createModelHolder({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', CHAT_MODEL: 'llama' }).current()
  expect([other.embedding, other.realtime, other.speech]).toEqual([null, null, null])
})

test('uses the realtime voice for walkie replies too', async () => {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  const settings = { OPENAI_BASE_URL: double.url, SPEECH_MODEL: 's', REALTIME_VOICE: 'marin' }
  await createModelHolder(settings).current().speech?.speak('Hello.', never())
  expect(double.requests('/audio/speech')[0]?.body).toMatchObject({ voice: 'marin', model: 's' })
})

test('rebuilds the service only for model settings, and reports which model answers', () => {
  const holder = createModelHolder({})
  expect(holder.answering()).toEqual({ provider: 'builtin', model: 'builtin-1', builtin: true })
  const before = holder.current()
  expect(holder.configure({ CHAT_MODEL: 'unused without a service' })).toBe(false)
  expect(holder.current()).toBe(before)
  expect(holder.configure({ OPENAI_API_KEY: 'sk-x' })).toBe(true)
  expect(holder.answering()).toEqual({ provider: 'openai', model: 'gpt-5.5', builtin: false })
})

test('finishes a running turn on its service when the settings change', async () => {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  const { promise: until, resolve } = Promise.withResolvers<void>()
  double.reply({ text: ['one ', 'two'], pause: { at: 5, until } })
  const holder = createModelHolder({ OPENAI_BASE_URL: double.url, CHAT_MODEL: 'm' })
  let text = ''
  for await (const event of holder.current().text.respond(request(), never())) {
    if (event.type === 'completed') break
    text += event.text
    holder.configure({})
    resolve()
  }
  expect(text).toBe('one two')
  expect(holder.answering().builtin).toBe(true)
})
