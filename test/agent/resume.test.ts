import { expect, test } from 'vitest'
import * as z from 'zod'
import type { NewEvent } from '../../ledger/event.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { createTurnRunner } from '../../src/agent/turn.ts'
import { createPreviews } from '../../src/conversation/previews.ts'
import { type InputItem, ModelError, type ModelService, type TextModel } from '../../src/model/port.ts'
import { defineTool, type Tool } from '../../src/tools/tool.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'

const MODEL = { provider: 'test', model: 'test' }
const AT = { conversationId: 'c', spanId: 's', turnId: 't', channel: 'chat' } as const

const started: NewEvent = {
  type: 'turn.started',
  actor: 'service',
  ...AT,
  facts: { trigger: 'message', party: 'owner', model: MODEL, adaptationIds: [], signalIds: [] },
}
const called = (tool: 'repeatable' | 'once', callId: string, round = 1): NewEvent => ({
  type: 'tool.called',
  actor: 'delegate',
  ...AT,
  facts: { callId, tool, round, idempotent: tool === 'repeatable' },
  body: { arguments: `{"what":"${callId}"}` },
})
const returned = (callId: string): NewEvent => ({
  type: 'tool.returned',
  actor: 'service',
  ...AT,
  facts: { callId, tool: 'once', outcome: 'ok', durationMs: 1, refs: [] },
  body: { result: `result of ${callId}` },
})
const kept = (model: typeof MODEL, round = 1): NewEvent => ({
  type: 'turn.items.kept',
  actor: 'service',
  ...AT,
  facts: { model, round, items: 1 },
  body: { blob: 'sealed' },
})

type Options = {
  readonly callRounds?: number
  readonly erased?: NewEvent['type'] | null
  /** What the model says before it finds its input too long, in each of its first answers. */
  readonly faults?: readonly string[]
  /** Of a turn that dealt with the same signals before and failed. */
  readonly earlier?: readonly NewEvent[]
}

/** Takes up a turn of which a crash left these facts. In its first `callRounds` answers the model calls a tool. */
async function resume(
  facts: readonly NewEvent[],
  { callRounds = 0, erased = null, faults = [], earlier = [] }: Options = {},
) {
  const { append, erase, ledger, views } = await openTestStorage(testDirectory())
  await append([
    {
      type: 'chat.message.received',
      actor: 'owner',
      ...AT,
      facts: {},
      body: { text: 'Do it.' },
    },
    ...earlier.map((fact) => ({ ...fact, turnId: 'e' })),
    ...facts,
  ])
  const gone = ledger.readAfter(0, 100).filter(({ type }) => type === erased)
  if (gone.length > 0)
    await erase(
      gone.map(({ seq }) => seq),
      'owner',
    )
  const { seq } = ledger.head()
  const turns = createTurnQueries(views)
  const turn = turns.byId('t')
  if (!turn) throw new Error('there is no turn')
  const asked: (readonly InputItem[])[] = []
  const text: TextModel = {
    id: MODEL,
    told: (instructions) => instructions,
    async *respond({ input }) {
      asked.push([...input])
      const calls = asked.length <= callRounds
      const said = faults[asked.length - 1]
      if (said) yield { type: 'text.delta', text: said }
      if (said !== undefined) throw new ModelError('context_too_long', 'too long')
      yield {
        type: 'completed',
        text: calls ? '' : 'The word is heliotrope.',
        toolCalls: calls ? [{ callId: `n${asked.length}`, name: 'repeatable', arguments: '{}' }] : [],
        usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
        responseId: null,
        blob: null,
      }
    },
  }
  const ran: string[] = []
  const tools = (['repeatable', 'once'] as const).map((name): [string, Tool] => [
    name,
    defineTool({
      name,
      description: name,
      parameters: z.object({ what: z.string().optional() }),
      idempotent: name === 'repeatable',
      readOnly: false,
      run: async ({ what }, { key }) => {
        ran.push(`${name} ${what} ${key}`)
        return { ok: true, data: { word: 'heliotrope' } }
      },
    }),
  ])
  const log = { warn: () => undefined, error: () => undefined }
  await createTurnRunner({
    propose: () => Promise.reject(new Error('nothing is to be proposed')),
    areForeign: () => false,
    append,
    ledger,
    turnEventSeqs: turns.eventSeqs,
    triedBefore: () => ['e'],
    previews: createPreviews(),
    model: () => ({ text }) as Partial<ModelService> as ModelService,
    composer: {
      compose: () => ({
        opening: { adaptationIds: [], signalIds: [] },
        composed: Promise.resolve({
          request: {
            instructions: '',
            tools: [],
            timezone: 'UTC',
          },
          input: [],
          facts: [],
          proven: [],
          ownWords: [],
          isForeign: false,
          seenSeqs: [],
          past: [],
          baseForm: null,
        }),
      }),
    },
    tools: new Map(tools),
    timezone: () => 'UTC',
    thresholdTokens: () => 1000,
    isSpent: () => false,
    shorten: async () => true,
    shortenReply: async (reply) => reply,
    nowMs: () => 0,
    log,
    onFault: () => undefined,
  })({ ...turn, trigger: earlier.length > 0 ? 'activation' : turn.trigger }, new AbortController().signal)
  return { ran, asked, after: ledger.readAfter(seq, 200), turn: turns.byId('t') }
}

test('a call that may be repeated and has no outcome is run again under its own key, and the turn goes on', async () => {
  const { ran, asked, turn } = await resume([
    started,
    called('once', 'a'),
    returned('a'),
    called('repeatable', 'b'),
  ])
  expect(ran).toEqual(['repeatable b tool:t:b'])
  expect(
    asked.map((input) => input.map((item) => ('callId' in item ? [item.type, item.callId] : []))),
  ).toEqual([
    [
      ['tool_call', 'a'],
      ['tool_result', 'a'],
      ['tool_call', 'b'],
      ['tool_result', 'b'],
    ],
  ])
  expect(turn?.status).toBe('completed')
})

test('a try goes on from what the one before it did: what has no outcome is looked for under the key of that one', async () => {
  const earlier = [called('once', 'a'), returned('a'), called('repeatable', 'b')]
  const { ran, asked, turn } = await resume([started], { earlier })
  expect(ran).toEqual(['repeatable b tool:e:b'])
  expect(asked[0]?.map((item) => ('callId' in item ? [item.type, item.callId] : []))).toEqual([
    ['tool_call', 'a'],
    ['tool_result', 'a'],
    ['tool_call', 'b'],
    ['tool_result', 'b'],
  ])
  expect(turn?.status).toBe('completed')
})

test('a try before it that may have done what must not be repeated leaves the next with nothing to run', async () => {
  const { ran, asked, turn } = await resume([started], { earlier: [called('once', 'a')] })
  expect([ran, asked]).toEqual([[], []])
  expect(turn).toMatchObject({ status: 'failed', kind: 'interrupted' })
})

test('neither starts nor rounds of the tries before it count', async () => {
  const rounds = Array.from({ length: 11 }, (_, index) => [
    called('once', `c${index}`, index + 1),
    returned(`c${index}`),
  ])
  const { asked, turn } = await resume([started], {
    callRounds: 3,
    earlier: [started, started, started, ...rounds.flat()],
  })
  expect(asked).toHaveLength(4)
  expect(turn?.status).toBe('completed')
})

test.each([
  ['alone', [called('once', 'a')]],
  ['beside one that may be', [called('repeatable', 'b'), called('once', 'a')]],
])(
  'a call that must not be repeated and has no outcome ends its turn, and nothing is run (%s)',
  async (_how, calls) => {
    const { ran, asked, after, turn } = await resume([started, ...calls])
    expect(ran).toEqual([])
    expect(asked).toEqual([])
    expect(after.map(({ type }) => type)).toEqual(['turn.failed'])
    expect(turn).toMatchObject({ status: 'failed', kind: 'interrupted' })
  },
)

test('a turn is taken up again twice, and not a third time', async () => {
  expect((await resume([started, started])).turn?.status).toBe('completed')
  const given = await resume([started, started, started])
  expect(given.asked).toEqual([])
  expect(given.turn).toMatchObject({ status: 'failed', kind: 'interrupted' })
})

test('rounds of before the crash count: a model that calls tools for ever does not begin to count anew', async () => {
  const rounds = Array.from({ length: 10 }, (_, index) => [
    called('once', `c${index}`, index + 1),
    returned(`c${index}`),
  ])
  const { asked, turn } = await resume([started, ...rounds.flat()], { callRounds: 100 })
  expect(asked).toHaveLength(2)
  expect(turn).toMatchObject({ status: 'failed', kind: 'too_many_rounds' })
})

test('items that the service itself kept hold their calls, for the very model that made them', async () => {
  const facts = [called('once', 'a'), returned('a')]
  const own = await resume([started, kept(MODEL), ...facts])
  expect(own.asked[0]?.map(({ type }) => type)).toEqual(['opaque', 'tool_result'])
  const foreign = await resume([started, kept({ provider: 'test', model: 'other' }), ...facts])
  expect(foreign.asked[0]?.map(({ type }) => type)).toEqual(['tool_call', 'tool_result'])
})

test('a call whose words were forgotten since the crash is not run again', async () => {
  const { ran, after, turn } = await resume([started, called('repeatable', 'b')], { erased: 'tool.called' })
  expect(ran).toEqual([])
  const returned = after.find((event) => event.type === 'tool.returned')
  expect(returned?.facts).toMatchObject({ outcome: 'refused', reason: 'forgotten' })
  expect(turn?.status).toBe('completed')
})

test('a turn that goes on from a foreign call is foreign, and one that goes on from its own is not', async () => {
  for (const foreign of [true, false]) {
    const call = called('repeatable', 'b')
    const { after } = await resume([started, { ...call, facts: { ...call.facts, foreign } } as NewEvent])
    const reply = after.find((event) => event.type === 'chat.reply.sent')
    expect(reply?.facts).toMatchObject({ foreign })
  }
})

test('a reply derives from the result that it repeats', async () => {
  const { after } = await resume([started, called('repeatable', 'b')])
  const result = after.find((event) => event.type === 'tool.returned')
  const reply = after.find((event) => event.type === 'chat.reply.sent')
  expect(result && reply?.derivedFrom).toContain(result?.seq)
})

test('what a turn used is the sum of its rounds', async () => {
  const { turn } = await resume([started], { callRounds: 2 })
  expect(turn).toMatchObject({ status: 'completed', inputTokens: 3, outputTokens: 3 })
})

test('an input that is too long is made shorter once, unless something was said already', async () => {
  const once = await resume([started], { faults: [''] })
  expect([once.asked.length, once.turn?.status]).toEqual([2, 'completed'])
  const twice = await resume([started], { faults: ['', ''] })
  expect([twice.asked.length, twice.turn?.kind]).toEqual([2, 'context_too_long'])
  const said = await resume([started], { faults: ['Half of it'] })
  expect([said.asked.length, said.turn?.kind]).toEqual([1, 'context_too_long'])
})
