import { expect, test } from 'vitest'
import { systemTiming } from '../../../src/model/openai/timing.ts'
import { estimateInput, headTokens, toolTokens } from '../../../src/model/within-context.ts'
import { dialects } from '../../doubles/model/completions.ts'
import { never, noteTool, request, run, setUp } from './fixture.ts'

const settings = { api: 'completions' } as const

test.for(dialects.filter((dialect) => dialect !== 'openai'))(
  'learns the size of the context as %s tells it, and says what it is enough for',
  async (dialect) => {
    const { service } = await setUp({ double: { dialect, contextTokens: 4_096 }, settings })
    expect(service.context?.tokens).toBeNull()
    await service.context?.learn()
    expect(service.context?.tokens).toBe(4_096)
    const { steps } = await service.check(never())
    expect(steps.at(-1)?.detail).toContain(
      'Its context is 4,096 tokens: everyday requests work; long documents need a larger context.',
    )
  },
)

test('takes what is set, and nothing where nobody says', async () => {
  const { service, another, double } = await setUp({ settings })
  await service.context?.learn()
  expect(service.context?.tokens).toBeNull()
  expect((await service.check(never())).steps.at(-1)?.detail).not.toContain('context')
  // Paths of one kind of server are asked of no other.
  for (const path of ['/props', '/api/ps', '/api/v0/models']) expect(double.requests(path)).toEqual([])
  expect(another({ contextTokens: 9_000 }).context?.tokens).toBe(9_000)
})

const listed = (id: string) => ({ id, object: 'model', created: 1, owned_by: 'library' })

test('takes an Ollama that has loaded nothing yet for one with its default, and asks again', async () => {
  let loaded: object[] = []
  let nowMs = 0
  const { service, another, double } = await setUp({
    double: {
      gets: {
        '/models': () => ({ data: [listed('test-model'), listed('gpt-oss:120b-cloud')] }),
        '/api/ps': () => ({ models: loaded }),
      },
    },
    dependencies: { timing: { ...systemTiming, nowMs: () => nowMs } },
    settings,
  })
  await service.context?.learn()
  expect(service.context?.tokens).toBe(4_096)
  loaded = [{ name: 'test-model:latest', context_length: 32_768 }]
  await service.context?.learn()
  expect(service.context?.tokens).toBe(32_768)
  const asked = double.requests('/models').length
  await service.context?.learn()
  expect(double.requests('/models')).toHaveLength(asked)
  // It unloads a model that rests, which then keeps its size.
  loaded = []
  nowMs += 10 * 60_000
  await service.context?.learn()
  expect(double.requests('/models')).toHaveLength(asked + 1)
  expect(service.context?.tokens).toBe(32_768)
  const cloud = another({ chatModel: 'gpt-oss:120b-cloud' })
  await cloud.context?.learn()
  expect(cloud.context?.tokens).toBeNull()
})

test('sends nothing that is longer than the context, and brief tools without strict mode', async () => {
  const { service, double } = await setUp({ settings: { ...settings, contextTokens: 2_000 } })
  double.reply({ text: 'ok' })
  const long = request({ input: [{ type: 'message', role: 'owner', text: 'word '.repeat(2_000) }] })
  expect((await run(service, long)).error).toMatchObject({ kind: 'context_too_long' })
  expect(double.requests('/chat/completions')).toHaveLength(0)
  const brief = request({ tools: [noteTool], isBrief: true })
  await run(service, brief)
  const [sent] = double.requests('/chat/completions')
  const tools = JSON.stringify(sent?.body.tools)
  expect(tools).not.toMatch(/strict|additionalProperties|null/)
  expect(tools.length / toolTokens([noteTool], true)).toBeLessThan(4)
  expect(headTokens(brief, service.text) + estimateInput(brief.input)).toBeLessThan(2_000)
})
