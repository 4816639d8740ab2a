import { expect, test } from 'vitest'
import { hasOpenAiSpec } from '../spec/openai-spec.ts'
import { type ModelDouble, startModelDouble } from './model-double.ts'

function post(double: ModelDouble, path: string, body: unknown): Promise<Response> {
  return fetch(`${double.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

const hello = { model: 'm', input: 'Hello' }

test.skipIf(!hasOpenAiSpec())(
  'fails the test on a request that violates the description (skipped without it)',
  async () => {
    const double = await startModelDouble()
    double.reply({ text: 'x' })
    await (await post(double, '/responses', { ...hello, stroe: false })).text()
    await expect(double.close()).rejects.toThrow('stroe')
  },
)

test('fails the test on a request without a scripted reply', async () => {
  const double = await startModelDouble()
  expect((await post(double, '/responses', hello)).status).toBe(500)
  await expect(double.close()).rejects.toThrow('no reply was scripted')
})

test('does not answer a memory request with a reply scripted for a turn', async () => {
  const double = await startModelDouble()
  double.reply({ text: 'for the turn' })
  const format = { type: 'json_schema', name: 'memory_candidates', schema: {}, strict: true }
  const ask = async () => (await post(double, '/responses', { ...hello, text: { format } })).text()
  expect(await ask()).toContain('candidates')
  double.answerMemoryWith(() => ({ text: 'another' }))
  expect(await ask()).toContain('another')
  expect(await (await post(double, '/responses', hello)).text()).toContain('for the turn')
  await double.close()
})

test('uses each reply once and in order, then the answerer', async () => {
  const double = await startModelDouble()
  double.reply({ text: 'first' }, { text: 'second' })
  double.answerWith(({ text }) => ({ text: `you said ${text}` }))
  const texts: string[] = []
  for (let round = 0; round < 3; round += 1)
    texts.push(await (await post(double, '/responses', hello)).text())
  expect(texts.map((text) => text.match(/first|second|you said Hello/)?.[0])).toEqual([
    'first',
    'second',
    'you said Hello',
  ])
  await double.close()
})

test('streams the numbered events of the real service and ends with the full response', async () => {
  const double = await startModelDouble()
  double.reply({ reasoning: 'r', text: ['a', 'b'], toolCalls: [{ name: 't', arguments: { x: 1 } }] })
  const stream = await (await post(double, '/responses', { ...hello, stream: true })).text()
  const types = [...stream.matchAll(/^event: (.+)$/gm)].map(([, type]) => type)
  expect(types).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.output_item.done',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ])
  const numbers = [...stream.matchAll(/"sequence_number":(\d+)\}$/gm)].map(([, number]) => Number(number))
  expect(numbers).toEqual(types.map((_type, index) => index))
  await double.close()
})

test('resumes a paused stream when the test says so', async () => {
  const double = await startModelDouble()
  const { promise: until, resolve } = Promise.withResolvers<void>()
  double.reply({ text: ['a', 'b'], pause: { at: 'response.output_text.delta', until } })
  const response = await post(double, '/responses', { ...hello, stream: true })
  const reader = response.body?.getReader()
  const head = new TextDecoder().decode((await reader?.read())?.value)
  expect(head).toContain('response.created')
  expect(head).not.toContain('output_text.delta')
  resolve()
  const rest = await new Response(
    new ReadableStream({
      pull: async (to) => {
        const next = await reader?.read()
        if (next?.done === false) to.enqueue(next.value)
        else to.close()
      },
    }),
  ).text()
  expect(rest).toContain('response.completed')
  await double.close()
})

test('fails the test on a prompt that is longer than the context, and cuts it at the front as Ollama does', async () => {
  const double = await startModelDouble({ dialect: 'ollama', contextTokens: 200 })
  let seen = ''
  double.answerWith(({ text }) => {
    seen = text
    return { text: 'x' }
  })
  const said = (content: string, role = 'user') => ({ role, content })
  const messages = [
    said('Be brief.', 'system'),
    said('old '.repeat(100)),
    said('fine', 'assistant'),
    said('new'),
  ]
  await (await post(double, '/chat/completions', { model: 'm', messages })).text()
  expect(seen).toContain('Be brief.')
  expect(seen).toContain('new')
  expect(seen).not.toContain('old')
  await expect(double.close()).rejects.toThrow('longer than the context')
})
