import { expect, test } from 'vitest'
import { startWithModel } from '../browser/model.ts'
import { startWholeService, type WholeService } from '../support/service.ts'

const change = async (service: WholeService, entries: Record<string, string | number>) => {
  const answer = await service.client.put('/api/config', { entries })
  if (answer.status !== 200) throw new Error(answer.text)
}

test('no setting claims to need a restart: each acts at once', async () => {
  const service = await startWholeService()
  const { entries } = (await service.client.get('/api/config')).json
  expect(entries.filter(({ restart }: { restart: boolean }) => restart)).toEqual([])
})

test('the public URL, pages, the threshold and the time zone act on the next request', async () => {
  const service = await startWholeService()
  const { client } = service
  for (let turn = 0; turn < 3; turn += 1) await client.post('/api/chat', { content: 'What time is it?' })
  await change(service, {
    PUBLIC_URL: 'https://delegate.example.com',
    TIMELINE_PAGE_EVENTS: 2,
    COMPACT_THRESHOLD_TOKENS: 54_321,
    TIMEZONE: 'Asia/Tokyo',
  })
  expect((await client.get('/public-url')).json).toEqual({ publicUrl: 'https://delegate.example.com' })
  const page = (await client.get('/api/timeline')).json
  expect(page.events.length - page.expandedEvents).toBe(2)
  const context = (await client.get('/api/session/context')).json
  expect(context.compactThresholdTokens).toBe(54_321)
  const timer = (await client.post('/api/timers', { title: 'Breakfast', at: '2031-04-11T08:00' })).json
  expect(timer).toMatchObject({ dueAt: '2031-04-10T23:00:00.000Z', timezone: 'Asia/Tokyo' })
})

test('a model service takes over from the builtin model, and gives back to it, between two messages', async () => {
  const { service, model } = await startWithModel({
    environment: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
  })
  const { client } = service
  model.answerWith(() => ({ text: 'From the service.' }))
  const say = async () => (await client.post('/api/chat', { content: 'Hello' })).json.reply.text
  expect(await say()).not.toBe('From the service.')
  await change(service, { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-of-the-double', CHAT_MODEL: 'm' })
  expect(await say()).toBe('From the service.')
  await client.delete('/api/config/OPENAI_BASE_URL')
  await client.delete('/api/config/OPENAI_API_KEY')
  expect(await say()).not.toBe('From the service.')
})

test('the length above which an answer becomes a note acts on the next answer', async () => {
  const { service, model } = await startWithModel()
  const long = `Begin. ${'A sentence of the long answer. '.repeat(20)}`
  model.answerWith(() => ({ text: long }))
  const { client } = service
  expect((await client.post('/api/chat', { content: 'Tell me' })).json.reply.text).toBe(long)
  expect((await client.get('/api/notes')).json.notes).toEqual([])
  await change(service, { LONG_ANSWER_CHARS: 200 })
  const { text } = (await client.post('/api/chat', { content: 'Tell me again' })).json.reply
  expect(text.length).toBeLessThan(long.length)
  expect((await client.get('/api/notes')).json.notes).toHaveLength(1)
})
