import { expect, onTestFinished, test } from 'vitest'
import { type ModelDoubleOptions, startModelDouble } from '../doubles/model/model-double.ts'
import { startWholeService } from '../support/service.ts'

const KEY = 'key-of-the-owner-5d1c'

async function startDouble(options: ModelDoubleOptions = {}) {
  const double = await startModelDouble({ validate: false, ...options })
  onTestFinished(() => double.close())
  return double
}

const other = (baseUrl: string, more: object = {}) => ({ kind: 'other', title: 'Mine', baseUrl, ...more })

test('shows main, adds, changes and deletes a service, and never shows a key', async () => {
  const { client, written } = await startWholeService()
  const list = async () => (await client.get('/api/services')).json
  const main = {
    id: 'main',
    kind: 'openai',
    title: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    api: 'auto',
    hasKey: false,
  }
  const first = await list()
  expect(first.services).toEqual([main])
  expect(first.kinds.find(({ kind }: { kind: string }) => kind === 'anthropic')).toMatchObject({
    title: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    needsKey: true,
  })
  expect(
    first.uses.map(({ use, available }: { use: string; available: boolean }) => [use, available]),
  ).toEqual([
    ['chat', true],
    ['utility', false],
    ['embedding', false],
    ['transcription', false],
    ['speech', false],
    ['realtime', false],
  ])
  expect([first.uses[0], first.fallback]).toEqual([
    { use: 'chat', service: 'main', model: 'builtin-1', available: true },
    [],
  ])

  const made = await client.put('/api/services/mine', other('http://127.0.0.1:9/v1/', { apiKey: KEY }))
  expect([made.status, made.json]).toEqual([
    200,
    { id: 'mine', kind: 'other', title: 'Mine', baseUrl: 'http://127.0.0.1:9/v1', api: 'auto', hasKey: true },
  ])
  const changed = await client.put('/api/services/mine', {
    ...other('http://127.0.0.1:9/api'),
    title: 'Other',
    api: 'completions',
  })
  expect(changed.json).toMatchObject({ title: 'Other', api: 'completions', hasKey: true })
  const config = await client.get('/api/config')
  expect((await list()).services).toEqual([main, changed.json])
  for (const text of [config.text, made.text, changed.text, written.join()]) expect(text).not.toContain(KEY)

  const entries = {
    CHAT_SERVICE: 'mine',
    CHAT_MODEL: 'm',
    SPEECH_SERVICE: 'gone',
    CHAT_FALLBACK: '[{"service":"mine","model":"small"},{"service":"builtin","model":"builtin-1"}]',
  }
  expect((await client.put('/api/config', { entries })).status).toBe(200)
  const { uses, fallback } = await list()
  expect([uses[0], uses[4]]).toEqual([
    { use: 'chat', service: 'mine', model: 'm', available: true },
    { use: 'speech', service: 'gone', model: null, available: false },
  ])
  expect(fallback).toHaveLength(2)
  const refused = async () => (await client.delete('/api/services/mine')).json
  expect(await refused()).toMatchObject({
    status: 409,
    detail: 'It is used for the chat. Choose another service there first.',
  })
  await client.delete('/api/config/CHAT_SERVICE')
  expect(await refused()).toMatchObject({
    status: 409,
    detail: 'It is in the list for when the chat model fails. Remove it there first.',
  })
  await client.delete('/api/config/CHAT_FALLBACK')
  expect((await client.delete('/api/services/mine')).status).toBe(204)
  expect((await client.delete('/api/services/mine')).status).toBe(404)
  expect((await client.delete('/api/services/main')).json.code).toBe('main_service')
})

test('refuses what no service can be, in the usual form', async () => {
  const { client } = await startWholeService()
  const refusal = async (id: string, content: object) => {
    const { status, json } = await client.put(`/api/services/${id}`, content)
    return [status, json.code, json.errors?.[0]?.path]
  }
  const good = other('http://127.0.0.1:9/v1')
  expect(await refusal('Mine', good)).toEqual([400, 'invalid_request', 'id'])
  expect(await refusal('builtin', good)).toEqual([400, 'invalid_request', 'id'])
  expect(await refusal('mine', { ...good, kind: 'nothing' })).toEqual([400, 'invalid_request', 'kind'])
  expect(await refusal('mine', other('file:///etc/passwd'))).toEqual([400, 'invalid_request', 'baseUrl'])
  expect(await refusal('mine', { ...good, kind: 'gemini' })).toEqual([400, 'invalid_request', 'apiKey'])
  for (let number = 1; number <= 8; number += 1)
    expect((await client.put(`/api/services/s${number}`, good)).status).toBe(200)
  expect(await refusal('s9', good)).toEqual([409, 'too_many', undefined])
})

test('never sends a key to an address that it was not entered for', async () => {
  const mine = await startDouble({ apiKey: KEY })
  const evil = await startDouble()
  const { client } = await startWholeService()
  const put = (id: string, baseUrl: string, more: object = {}) =>
    client.put(`/api/services/${id}`, other(baseUrl, more))
  for (const id of ['main', 'mine']) {
    expect((await put(id, mine.url, { apiKey: KEY })).json).toMatchObject({ id, hasKey: true })
    expect((await put(id, evil.url)).json).toMatchObject({ status: 400, errors: [{ path: 'apiKey' }] })
    expect((await client.get(`/api/services/${id}/models`)).json.models).toEqual([
      { id: 'test-model', contextTokens: null },
    ])
  }
  // Nor where the address is changed as a setting, even if two services swap theirs.
  await put('evil', evil.url, { apiKey: 'other-key' })
  const { entries } = (await client.get('/api/config')).json
  const { value } = entries.find(({ key }: { key: string }) => key === 'SERVICES')
  const swapped = value.replaceAll(mine.url, 'X').replaceAll(evil.url, mine.url).replaceAll('X', evil.url)
  await client.put('/api/config', { entries: { SERVICES: swapped } })
  for (const id of ['mine', 'evil']) await client.get(`/api/services/${id}/models`)
  const reached = evil.requests('/models')
  expect(reached.length).toBeGreaterThan(0)
  expect(reached.map(({ headers }) => headers.authorization)).not.toContain(`Bearer ${KEY}`)
  await client.put('/api/config', { entries: { SERVICES: value } })
  expect((await client.get('/api/services/mine/models')).status).toBe(200)

  expect((await put('mine', evil.url, { apiKey: '' })).json).toMatchObject({ hasKey: false })
  expect((await client.get('/api/services/mine/models')).status).toBe(200)
  expect((await put('main', evil.url, { apiKey: 'a-new-key' })).json).toMatchObject({ hasKey: true })
  expect((await client.get('/api/services/main/models')).status).toBe(200)
  expect(evil.requests('/models').at(-1)?.headers.authorization).toBe('Bearer a-new-key')
})

test('tests a service before and after it is saved, and says what it offers, at no cost', async () => {
  const double = await startDouble({
    apiKey: KEY,
    models: ['llama', 'qwen'],
    lacks: ['/responses', '/responses/compact', '/audio/speech'],
  })
  const { client } = await startWholeService()
  const tested = async (wanted: object) => (await client.post('/api/services/test', wanted)).json
  const address = { kind: 'other', baseUrl: double.url }
  const wrong = await tested({ ...address, apiKey: 'a-wrong-key-8841' })
  expect([wrong.ok, wrong.models, wrong.can]).toEqual([false, [], []])
  expect(JSON.stringify(wrong)).not.toContain('a-wrong-key-8841')

  const found = await tested({ ...address, apiKey: KEY, model: 'llama' })
  expect([found.ok, found.models.map(({ id }: { id: string }) => id)]).toEqual([true, ['llama', 'qwen']])
  expect(found.can.map(({ feature, ok }: { feature: string; ok: boolean }) => [feature, ok])).toEqual([
    ['chat', true],
    ['embeddings', true],
    ['transcription', true],
    ['speech', false],
    ['compaction', false],
    ['realtime', null],
  ])
  expect((await tested({ ...address, apiKey: KEY, model: 'gpt' })).ok).toBe(false)
  await client.put('/api/services/mine', other(double.url, { apiKey: KEY }))
  expect(await tested({ id: 'mine' })).toMatchObject({ ok: true, can: found.can })
  expect(await tested({ id: 'main' })).toMatchObject({ ok: true, models: [] })
  expect((await client.post('/api/services/test', { id: 'gone' })).status).toBe(404)
  const empty = double.requests().filter(({ path }) => path !== '/models')
  expect(empty.every(({ body }) => Object.keys(body).length === 0)).toBe(true)

  await double.close()
  const silent = await client.get('/api/services/mine/models')
  expect([silent.status, silent.json.code]).toEqual([502, 'model_unavailable'])
})
