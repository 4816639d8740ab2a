import { expect, test } from 'vitest'
import * as z from 'zod'
import { limitOf } from '../../../src/model/completions/text.ts'
import { createCapabilities } from '../../../src/model/openai/capabilities.ts'
import { systemTiming } from '../../../src/model/openai/timing.ts'
import { CapabilityMissing } from '../../../src/model/port.ts'
import { createModelHolder } from '../../../src/model/service.ts'
import { httpFaults } from '../../doubles/model/script.ts'
import { never, noteTool, request, run, setUp } from '../openai/fixture.ts'
import { chunk, startScripted } from './fixture.ts'

/** As llama.cpp and LM Studio word it. */
const refusedBy = (message: string) => ({ error: { message: `Error: Jinja Exception: ${message}` } })
const hello = chunk({ content: 'Hello.' }, 'stop')

test('finds out once that a server has no Responses API, for turns and background work', async () => {
  let nowMs = 0
  const timing = { ...systemTiming, nowMs: () => nowMs }
  const { service, double } = await setUp({ double: { lacks: ['/responses'] }, dependencies: { timing } })
  double.answerWith(() => ({ text: '{"ok":true}' }))
  expect(service.compaction).not.toBeNull()
  await run(service)
  await run(service)
  const utility = service.structured?.('another-model')
  const asked = { instructions: '', input: [], name: 'n', schema: z.object({ ok: z.boolean() }) }
  expect((await utility?.answer(asked, never()))?.value).toEqual({ ok: true })
  expect(double.requests().map(({ path }) => path)).toEqual([
    '/responses',
    '/chat/completions',
    '/chat/completions',
    '/chat/completions',
  ])
  expect(service.compaction).toBeNull()
  nowMs = 6 * 60 * 60 * 1000
  await run(service)
  expect(double.requests().at(-2)?.path).toBe('/responses')
})

test.for<[string, number, unknown]>([
  ['Ollama', 404, '404 page not found'],
  ['llama.cpp', 404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }],
  ['vLLM', 404, { detail: 'Not Found' }],
  ['a gateway', 405, { detail: 'Method Not Allowed' }],
  ['LM Studio', 200, { error: 'Unexpected endpoint or method. (POST /v1/responses)' }],
  ['a template that allows one system message', 500, refusedBy('System message must be at the beginning.')],
  ['a template that wants turns', 400, refusedBy('Conversation roles must alternate user/assistant.')],
])('goes on to chat completions after the answer of %s', async ([, status, json]) => {
  const { service, sent } = await startScripted({ status, json }, [hello], [hello])
  expect((await run(service)).completed?.text).toBe('Hello.')
  expect((await run(service)).completed?.text).toBe('Hello.')
  expect(sent.map(({ path }) => path?.slice(3))).toEqual([
    '/responses',
    '/chat/completions',
    '/chat/completions',
  ])
})

test.for<[string, number, unknown]>([
  ['an unknown model', 404, { error: { message: "model 'm' not found", type: 'not_found_error' } }],
  ['a wrong key', 401, { error: { message: 'No.' } }],
  ['a wrong request', 400, { error: { message: 'Unknown parameter: input.' } }],
])('stays with the Responses API after %s', async ([, status, json]) => {
  const { service, sent } = await startScripted({ status, json })
  expect((await run(service)).completed).toBeNull()
  expect(sent).toHaveLength(1)
})

test('reports what a template refuses if the owner chose the API', async () => {
  const json = refusedBy('System message must be at the beginning.')
  const { responses, sent } = await startScripted({ status: 400, json })
  const message = expect.stringContaining('System message must be at the beginning.')
  expect((await run(responses)).error).toMatchObject({ message })
  expect(sent).toHaveLength(1)
})

test('asks only the API that the owner chose', async () => {
  const { double, another } = await setUp({ double: { lacks: ['/responses'] } })
  double.answerWith(() => ({ text: 'ok' }))
  expect((await run(another({ api: 'responses' }))).error).toBeInstanceOf(CapabilityMissing)
  expect((await run(another({ api: 'completions' }))).completed?.text).toBe('ok')
  expect(double.requests().map(({ path }) => path)).toEqual(['/responses', '/chat/completions'])
  expect(another({ api: 'completions' }).compaction).toBeNull()
  expect(createModelHolder({ OPENAI_API_KEY: 'sk-x', MODEL_API: 'auto' }).current().compaction).not.toBeNull()
})

test('leaves out what a server refuses, from then on', async () => {
  const refuse = (message: string) => ({ status: 400, json: [{ error: { code: 400, message } }] })
  const { completions, sent } = await startScripted(
    // Gemini sends its errors as a list.
    refuse('Invalid JSON payload received. Unknown name "strict" at \'tools[0].function\''),
    refuse('Unknown name "stream_options": Cannot find field.'),
    [hello],
    [hello],
  )
  expect((await run(completions, request({ tools: [noteTool] }))).completed?.text).toBe('Hello.')
  await run(completions, request({ tools: [noteTool] }))
  const bodies = sent.map(({ body }) => JSON.stringify(body))
  expect(bodies.map((body) => body.includes('"strict"'))).toEqual([true, false, false, false])
  expect(bodies.map((body) => body.includes('stream_options'))).toEqual([true, true, false, false])
})

const tooLong = 'The input exceeds the maximum number of tokens.'

test.for<[string, unknown]>([
  ['a list', [{ error: { code: 400, message: tooLong } }]],
  ['a message', { object: 'error', message: tooLong, code: 400 }],
  ['a detail', { detail: tooLong }],
  ['a list of details', { detail: [{ loc: ['body', 'messages', 0], msg: tooLong }] }],
])('reads the words of an error in %s', async ([, json]) => {
  const { completions } = await startScripted({ status: 400, json })
  expect((await run(completions)).error).toMatchObject({
    kind: 'context_too_long',
    message: expect.stringContaining(tooLong),
  })
})

test.for([
  ['both', [], 'auto', true, 'It answers by the Responses API.'],
  ['only chat completions', ['/responses'], 'auto', true, 'It answers by chat completions.'],
  ['only chat completions', ['/responses'], 'responses', false, 'Set its API to completions or auto.'],
  ['neither', ['/responses', '/chat/completions'], 'auto', false, 'no chat completions and no Responses API'],
] as const)('says in the connection test which API answers: a server with %s, %j, %s', async (given) => {
  const [, lacks, api, ok, words] = given
  const { service, double } = await setUp({ double: { lacks }, settings: { api } })
  const check = await service.check(never())
  expect([check.ok, check.steps.at(-1)?.detail]).toEqual([ok, expect.stringContaining(words)])
  expect(double.requests().filter(({ body }) => Object.keys(body).length > 0)).toEqual([])
})

test('says in the connection test what the server refused so far', async () => {
  const { service, double } = await setUp({ double: { lacks: ['/responses'] } })
  double.reply({ fault: httpFaults.badRequest('Unsupported.', 'tools[0].function.strict') }, { text: 'ok' })
  await run(service, request({ tools: [noteTool] }))
  expect((await service.check(never())).steps.at(-1)?.detail).toBe(
    'test-model is available. It answers by chat completions. Missing here: strict tools.',
  )
})

test.for(['models/gemini', 'gemini:latest'])('finds the model gemini as %s', async (id) => {
  const { another } = await setUp({ double: { models: [id] } })
  expect((await another({ chatModel: 'gemini' }).check(never())).ok).toBe(true)
})

test('limits an answer by the name that OpenAI’s newer models accept, and by the older one elsewhere', () => {
  const capabilities = createCapabilities(() => 0)
  const limit = (isOpenAi: boolean, maxTokens: number | undefined) =>
    limitOf({ isOpenAi, capabilities }, 'scope', maxTokens)
  expect(limit(true, 50)).toEqual({ store: false, max_completion_tokens: 50 })
  expect(limit(false, 50)).toEqual({ max_tokens: 50 })
  expect(limit(false, undefined)).toEqual({})
  capabilities.markLacking('scope', 'output_limit')
  expect(limit(false, 50)).toEqual({})
})
