import { expect, test } from 'vitest'
import * as z from 'zod'
import type { NewEvent } from '../../ledger/event.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { type InputItem, ModelError, type TextModel } from '../../src/model/port.ts'
import { defineTool } from '../../src/model/tool.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { turnRunner } from './turn-runner.ts'

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
  /** Each of the first answers streams one of these texts, then fails with `context_too_long`. */
  readonly faults?: readonly string[]
  /** The facts of an earlier, failed turn for the same signals. */
  readonly earlier?: readonly NewEvent[]
}

/** Resumes a turn with these facts after a crash. The model's first `callRounds` answers call a tool. */
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
  if (!turn) throw new Error('turn not found')
  const requests: (readonly InputItem[])[] = []
  const text: TextModel = {
    id: MODEL,
    asSent: (instructions) => instructions,
    async *respond({ input }) {
      requests.push([...input])
      const calls = requests.length <= callRounds
      const said = faults[requests.length - 1]
      if (said) yield { type: 'text.delta', text: said }
      if (said !== undefined) throw new ModelError('context_too_long', 'too long')
      yield {
        type: 'completed',
        text: calls ? '' : 'The word is heliotrope.',
        toolCalls: calls ? [{ callId: `n${requests.length}`, name: 'repeatable', arguments: '{}' }] : [],
        usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
        responseId: null,
        blob: null,
      }
    },
  }
  const ran: string[] = []
  const tools = (['repeatable', 'once'] as const).map((name) =>
    defineTool({
      name,
      description: name,
      parameters: z.object({ what: z.string().optional() }),
      class: 'free',
      idempotent: name === 'repeatable',
      readOnly: false,
      run: async ({ what }, { key }) => {
        ran.push(`${name} ${what} ${key}`)
        return { ok: true, data: { word: 'heliotrope' } }
      },
    }),
  )
  await turnRunner(text, {
    append,
    ledger,
    turnEventSeqs: turns.eventSeqs,
    triedBefore: () => ['e'],
    tools,
  })({ ...turn, trigger: earlier.length > 0 ? 'activation' : turn.trigger }, new AbortController().signal)
  return { ran, requests, after: ledger.readAfter(seq, 200), turn: turns.byId('t') }
}

test('repeats an idempotent call without outcome under its own key, then goes on', async () => {
  const { ran, requests, turn } = await resume([
    started,
    called('once', 'a'),
    returned('a'),
    called('repeatable', 'b'),
  ])
  expect(ran).toEqual(['repeatable b tool:t:b'])
  expect(
    requests.map((input) => input.map((item) => ('callId' in item ? [item.type, item.callId] : []))),
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

test('continues from the calls of an earlier try, under the keys of that try', async () => {
  const earlier = [called('once', 'a'), returned('a'), called('repeatable', 'b')]
  const { ran, requests, turn } = await resume([started], { earlier })
  expect(ran).toEqual(['repeatable b tool:e:b'])
  expect(requests[0]?.map((item) => ('callId' in item ? [item.type, item.callId] : []))).toEqual([
    ['tool_call', 'a'],
    ['tool_result', 'a'],
    ['tool_call', 'b'],
    ['tool_result', 'b'],
  ])
  expect(turn?.status).toBe('completed')
})

test('fails a try without running anything after an unrepeatable call of an earlier one', async () => {
  const { ran, requests, turn } = await resume([started], { earlier: [called('once', 'a')] })
  expect([ran, requests]).toEqual([[], []])
  expect(turn).toMatchObject({ status: 'failed', kind: 'interrupted' })
})

test('counts neither starts nor rounds of earlier tries', async () => {
  const rounds = Array.from({ length: 11 }, (_, index) => [
    called('once', `c${index}`, index + 1),
    returned(`c${index}`),
  ])
  const { requests, turn } = await resume([started], {
    callRounds: 3,
    earlier: [started, started, started, ...rounds.flat()],
  })
  expect(requests).toHaveLength(4)
  expect(turn?.status).toBe('completed')
})

test.each([
  ['alone', [called('once', 'a')]],
  ['beside an idempotent call', [called('repeatable', 'b'), called('once', 'a')]],
])('fails a turn with an unrepeatable call without outcome, and runs nothing (%s)', async (_how, calls) => {
  const { ran, requests, after, turn } = await resume([started, ...calls])
  expect(ran).toEqual([])
  expect(requests).toEqual([])
  expect(after.map(({ type }) => type)).toEqual(['turn.failed'])
  expect(turn).toMatchObject({ status: 'failed', kind: 'interrupted' })
})

test('resumes a turn twice but not a third time', async () => {
  expect((await resume([started, started])).turn?.status).toBe('completed')
  const given = await resume([started, started, started])
  expect(given.requests).toEqual([])
  expect(given.turn).toMatchObject({ status: 'failed', kind: 'interrupted' })
})

test('counts rounds from before the crash towards the limit', async () => {
  const rounds = Array.from({ length: 10 }, (_, index) => [
    called('once', `c${index}`, index + 1),
    returned(`c${index}`),
  ])
  const { requests, turn } = await resume([started, ...rounds.flat()], { callRounds: 100 })
  expect(requests).toHaveLength(2)
  expect(turn).toMatchObject({ status: 'failed', kind: 'too_many_rounds' })
})

test('reuses items kept by a service only for the model that made them', async () => {
  const facts = [called('once', 'a'), returned('a')]
  const own = await resume([started, kept(MODEL), ...facts])
  expect(own.requests[0]?.map(({ type }) => type)).toEqual(['opaque', 'tool_result'])
  const foreign = await resume([started, kept({ provider: 'test', model: 'other' }), ...facts])
  expect(foreign.requests[0]?.map(({ type }) => type)).toEqual(['tool_call', 'tool_result'])
})

test('does not repeat a call whose words were forgotten after the crash', async () => {
  const { ran, after, turn } = await resume([started, called('repeatable', 'b')], { erased: 'tool.called' })
  expect(ran).toEqual([])
  const returned = after.find((event) => event.type === 'tool.returned')
  expect(returned?.facts).toMatchObject({ outcome: 'refused', reason: 'forgotten' })
  expect(turn?.status).toBe('completed')
})

test('marks a resumed turn as foreign only if its call was', async () => {
  for (const foreign of [true, false]) {
    const call = called('repeatable', 'b')
    const { after } = await resume([started, { ...call, facts: { ...call.facts, foreign } } as NewEvent])
    const reply = after.find((event) => event.type === 'chat.reply.sent')
    expect(reply?.facts).toMatchObject({ foreign })
  }
})

test('derives a reply from the result that it repeats', async () => {
  const { after } = await resume([started, called('repeatable', 'b')])
  const result = after.find((event) => event.type === 'tool.returned')
  const reply = after.find((event) => event.type === 'chat.reply.sent')
  expect(result && reply?.derivedFrom).toContain(result?.seq)
})

test('sums the usage of all rounds of a turn', async () => {
  const { turn } = await resume([started], { callRounds: 2 })
  expect(turn).toMatchObject({ status: 'completed', inputTokens: 3, outputTokens: 3 })
})

test('shortens an input that is too long once, unless text was already streamed', async () => {
  const once = await resume([started], { faults: [''] })
  expect([once.requests.length, once.turn?.status]).toEqual([2, 'completed'])
  const twice = await resume([started], { faults: ['', ''] })
  expect([twice.requests.length, twice.turn?.kind]).toEqual([2, 'context_too_long'])
  const said = await resume([started], { faults: ['Half of it'] })
  expect([said.requests.length, said.turn?.kind]).toEqual([1, 'context_too_long'])
})
