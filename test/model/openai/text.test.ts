import { expect, test } from 'vitest'
import * as z from 'zod'
import type { InputItem } from '../../../src/model/port.ts'
import { httpFaults } from '../../doubles/model/script.ts'
import { noteTool, request, run, setUp } from './fixture.ts'

const self = (service: { text: { id: { provider: string; model: string } } }) => service.text.id

test('streams an answer as deltas and ends with the text, the usage and the id', async () => {
  const { double, service } = await setUp()
  double.reply({ text: ['Good ', 'morning.'], usage: { inputTokens: 90, outputTokens: 7, cachedTokens: 64 } })
  const { deltas, completed, error } = await run(service)
  expect(error).toBeNull()
  expect(deltas).toEqual(['Good ', 'morning.'])
  expect(completed).toEqual({
    type: 'completed',
    text: 'Good morning.',
    toolCalls: [],
    usage: { inputTokens: 90, outputTokens: 7, cachedTokens: 64 },
    responseId: 'resp_1',
    blob: null,
  })
})

test('streams, stores nothing, asks for encrypted reasoning and leaves compaction to us', async () => {
  const { double, service } = await setUp()
  double.reply({ text: 'ok' })
  await run(service, request({ maxOutputTokens: 500 }))
  const [sent] = double.requests('/responses')
  expect(sent?.body).toMatchObject({
    model: 'test-model',
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 500,
  })
  expect(sent?.body).not.toHaveProperty('context_management')
  expect(sent?.body).not.toHaveProperty('previous_response_id')
  expect(sent?.body).not.toHaveProperty('tools')
})

test('sends strict tools: every key required, no additional keys', async () => {
  const { double, service } = await setUp()
  double.reply({ text: 'ok' })
  await run(service, request({ tools: [noteTool] }))
  expect(double.requests('/responses')[0]?.body.tools).toEqual([
    {
      type: 'function',
      name: 'create_note',
      description: 'Writes a note.',
      strict: true,
      parameters: {
        type: 'object',
        properties: { title: { type: ['string', 'null'] }, content: { type: 'string' } },
        required: ['title', 'content'],
        additionalProperties: false,
      },
    },
  ])
})

test('throws a TypeError for a tool that strict mode cannot express', async () => {
  const { double, service } = await setUp()
  const parameters = z.object({ title: z.string().optional() })
  const { error } = await run(service, request({ tools: [{ ...noteTool, parameters }] }))
  expect(error).toBeInstanceOf(TypeError)
  expect(double.requests()).toHaveLength(0)
})

test('returns tool calls with their arguments unchanged', async () => {
  const { double, service } = await setUp()
  double.reply({
    toolCalls: [{ name: 'create_note', arguments: '{"title":null, "content":"x"}', callId: 'call_a' }],
  })
  const { completed, deltas } = await run(service, request({ tools: [noteTool] }))
  expect(deltas).toEqual([])
  expect(completed?.toolCalls).toEqual([
    { callId: 'call_a', name: 'create_note', arguments: '{"title":null, "content":"x"}' },
  ])
})

test('sends reasoning back unchanged, only to the same model', async () => {
  const { double, service, another } = await setUp()
  double.reply(
    { reasoning: 'thoughts', toolCalls: [{ name: 'create_note', arguments: {}, callId: 'call_a' }] },
    { text: 'Done.' },
    { text: 'Done too.' },
  )
  const first = await run(service, request({ tools: [noteTool] }))
  const blob = first.completed?.blob ?? ''
  const kept: unknown = JSON.parse(blob)
  expect(kept).toMatchObject([
    { type: 'reasoning', encrypted_content: 'thoughts' },
    { type: 'function_call', call_id: 'call_a' },
  ])
  const input: InputItem[] = [
    { type: 'message', role: 'owner', text: 'Hello' },
    { type: 'opaque', model: self(service), blob },
    { type: 'tool_result', callId: 'call_a', output: '{"ok":true}' },
  ]
  await run(service, request({ input, tools: [noteTool] }))
  expect(double.requests('/responses')[1]?.body.input).toEqual(
    expect.arrayContaining([...(Array.isArray(kept) ? kept : [])]),
  )

  await run(another({ chatModel: 'other-model' }), request({ input, tools: [noteTool] }))
  expect(JSON.stringify(double.requests('/responses')[2]?.body.input)).not.toContain('thoughts')
})

test('fails rather than drop opaque items that the service can no longer read', async () => {
  const { double, service } = await setUp()
  double.reply({
    fault: httpFaults.badRequest(
      'The encrypted content could not be verified.',
      null,
      'invalid_encrypted_content',
    ),
  })
  const blob = JSON.stringify([{ type: 'compaction', id: 'c', encrypted_content: 'gone' }])
  const input: InputItem[] = [
    { type: 'opaque', model: self(service), blob },
    { type: 'message', role: 'owner', text: 'Who is Ada?' },
  ]
  const { error } = await run(service, request({ input }))
  expect(error).toMatchObject({ kind: 'malformed' })
  expect(double.requests('/responses')).toHaveLength(1)
})

test('stops asking for encrypted reasoning when the model does not support it', async () => {
  const { double, service } = await setUp()
  const refused = httpFaults.badRequest('Encrypted content is not supported with this model.', 'include')
  double.reply({ fault: refused }, { text: 'one' }, { text: 'two' })
  expect((await run(service)).completed?.text).toBe('one')
  expect((await run(service)).completed?.text).toBe('two')
  const sent = double.requests('/responses').map(({ body }) => 'include' in body)
  expect(sent).toEqual([true, false, false])
})

test('marks an answer cut off at the output limit as truncated', async () => {
  const { double, service } = await setUp()
  double.reply({ text: 'As far as it we', incomplete: 'max_output_tokens' })
  const { completed } = await run(service)
  expect(completed).toMatchObject({ text: 'As far as it we', truncated: true, blob: null })
})

test.for([
  [{ refusal: 'I will not do that.' }, 'refused'],
  [{ text: 'So ', incomplete: 'content_filter' as const }, 'refused'],
  [{ failed: { code: 'rate_limit_exceeded', message: 'slow down' } }, 'rate_limited'],
  [{ failed: { code: 'invalid_prompt', message: 'no' } }, 'refused'],
  [{ failed: { code: 'server_error', message: 'oops' } }, 'unavailable'],
] as const)('reports a response that ends as %j as %s', async ([reply, kind]) => {
  const { double, service } = await setUp()
  double.answerWith(() => reply)
  expect((await run(service)).error).toMatchObject({ name: 'ModelError', kind })
})

test('throws the abort reason and closes the connection when stopped', async () => {
  const { double, service } = await setUp()
  const { promise: until, resolve: resume } = Promise.withResolvers<void>()
  double.reply({ text: ['one ', 'two'], pause: { at: 5, until } })
  const stop = new AbortController()
  const reason = new Error('the owner said stop')
  const deltas: string[] = []
  const turn = (async () => {
    for await (const event of service.text.respond(request(), stop.signal)) {
      if (event.type === 'text.delta') deltas.push(event.text)
      stop.abort(reason)
    }
  })()
  await expect(turn).rejects.toBe(reason)
  expect(deltas).toEqual(['one '])
  await expect(double.requests('/responses')[0]?.ended).resolves.toBe('aborted')
  resume()
})

test('closes the connection when the caller leaves the turn early', async () => {
  const { double, service } = await setUp()
  double.reply({ text: ['one ', 'two'], pause: { at: 5, until: Promise.withResolvers().promise } })
  for await (const _event of service.text.respond(request(), new AbortController().signal)) break
  await expect(double.requests('/responses')[0]?.ended).resolves.toBe('aborted')
})

test('sends nothing for a turn that is aborted before it begins', async () => {
  const { double, service } = await setUp()
  const reason = new Error('too late')
  expect((await run(service, request(), AbortSignal.abort(reason))).error).toBe(reason)
  expect(double.requests()).toHaveLength(0)
})

test('reuses connections across turns', async () => {
  const { double, service } = await setUp()
  double.answerWith(() => ({ text: 'ok' }))
  for (let turn = 0; turn < 10; turn += 1) await run(service)
  // The next turn may begin while the end of the previous response is still being read.
  expect(double.connections()).toBeLessThanOrEqual(2)
})
