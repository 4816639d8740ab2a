import type { IncomingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import { kindOfAddress } from '../../../src/model/kinds.ts'
import { connect } from '../../../src/model/openai/openai.ts'
import { type ServiceKind, serviceKinds } from '../../../src/model/words.ts'
import { never } from './fixture.ts'
import { startRawServer } from './raw-server.ts'

/** A server that answers these paths and no other, and a connection to it. */
async function startKind(kind: ServiceKind, answers: Readonly<Record<string, unknown>>) {
  const asked: { path: string; headers: IncomingHttpHeaders }[] = []
  const baseUrl = await startRawServer((request, response) => {
    const { url: path = '', headers } = request
    asked.push({ path, headers })
    const answer = answers[path]
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { error: { message: 'Not Found' } }))
  })
  const connection = connect({ kind, baseUrl, apiKey: 'a-key', api: 'auto' })
  return { asked, connection, models: () => connection.models(never()) }
}

const listOf = (...data: object[]) => ({ object: 'list', data })

test.for<[string, object, number | null]>([
  ['OpenRouter', { context_length: 200_000 }, 200_000],
  ['vLLM', { max_model_len: 32_768 }, 32_768],
  ['Mistral', { max_context_length: 131_072 }, 131_072],
  // What a model was trained with, or could be loaded with, is not what is loaded.
  ['llama.cpp', { meta: { n_ctx_train: 8_192, n_ctx: 4_096 } }, 4_096],
  ['an older llama.cpp', { meta: { n_ctx_train: 8_192 } }, null],
  ['OpenAI', {}, null],
  ['a server with nonsense', { context_length: 'much', meta: 'none' }, null],
])('reads the context length where the list of %s tells it', async ([, fields, contextTokens]) => {
  const { models } = await startKind('other', { '/v1/models': listOf({ id: 'm', ...fields }) })
  expect(await models()).toEqual([{ id: 'm', contextTokens }])
})

test('lists Anthropic’s models with its own headers', async () => {
  const { models, asked } = await startKind('anthropic', {
    '/v1/models?limit=1000': listOf({ id: 'claude', max_input_tokens: 200_000 }),
  })
  expect(await models()).toEqual([{ id: 'claude', contextTokens: 200_000 }])
  expect(asked[0]?.headers).toMatchObject({ 'x-api-key': 'a-key', 'anthropic-version': '2023-06-01' })
  expect(asked[0]?.headers).not.toHaveProperty('authorization')
})

test('lists LM Studio’s models with their context length, or without it on an older server', async () => {
  const newer = await startKind('lmstudio', {
    '/api/v0/models': listOf({
      id: 'qwen',
      state: 'loaded',
      max_context_length: 32_768,
      loaded_context_length: 4_096,
    }),
  })
  expect(await newer.models()).toEqual([{ id: 'qwen', contextTokens: 4_096 }])
  const atRest = { id: 'qwen', state: 'not-loaded', max_context_length: 32_768 }
  const resting = await startKind('lmstudio', { '/api/v0/models': listOf(atRest) })
  expect(await resting.models()).toEqual([{ id: 'qwen', contextTokens: null }])
  const older = await startKind('lmstudio', { '/v1/models': listOf({ id: 'qwen' }) })
  expect(await older.models()).toEqual([{ id: 'qwen', contextTokens: null }])
})

test('says what to do where a server has no models yet', async () => {
  const { models, connection } = await startKind('ollama', {
    '/v1/models': { object: 'list', data: null },
  })
  expect(await models()).toEqual([])
  const { steps } = await connection.check(null, never())
  expect(steps.at(-1)).toEqual({
    name: 'model',
    ok: false,
    detail: 'The server has no models yet. Start it with “ollama serve”, and get a model with “ollama pull”.',
  })
})

test('does not take a public list of models for an accepted key', async () => {
  const baseUrl = await startRawServer((request, response) => {
    const isList = request.url === '/v1/models'
    response.writeHead(isList ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isList ? listOf({ id: 'm' }) : { error: { message: 'No a-wrong-key.' } }))
  })
  const connection = connect({ kind: 'openrouter', baseUrl, apiKey: 'a-wrong-key', api: 'auto' })
  const { ok, steps, can } = await connection.inspect('m', never())
  expect([ok, steps.at(-1)?.name, can]).toEqual([false, 'authorised', []])
  expect(JSON.stringify(steps)).not.toContain('a-wrong-key')
})

test('follows no redirect, which could carry the key elsewhere', async () => {
  const elsewhere: string[] = []
  const other = await startRawServer((request, response) => {
    elsewhere.push(request.url ?? '')
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(listOf({ id: 'm' })))
  })
  for (const kind of serviceKinds) {
    const baseUrl = await startRawServer((_request, response) =>
      response.writeHead(307, { location: `${other}/models` }).end(),
    )
    const connection = connect({ kind, baseUrl, apiKey: 'a-key', api: 'auto' })
    expect((await connection.inspect('m', never())).ok).toBe(false)
    await expect(connection.models(never())).rejects.toThrow()
  }
  expect(elsewhere).toEqual([])
})

test.for<[string, ServiceKind]>([
  ['https://api.openai.com/v1', 'openai'],
  ['https://openrouter.ai/api/v1', 'openrouter'],
  ['http://localhost:11434/v1', 'ollama'],
  ['http://host.docker.internal:11434/v1', 'ollama'],
  ['http://localhost:8000/v1', 'other'],
])('tells the kind of %s: %s', ([address, kind]) => {
  expect(kindOfAddress(address)).toBe(kind)
})
