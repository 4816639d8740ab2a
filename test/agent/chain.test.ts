import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createChainReader } from '../../src/agent/context/chain.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'

const MODEL = { provider: 'p', model: 'm' }
const TURNS = 500

test('yields to other work while rebuilding a long chain, and keeps it complete and in order', async () => {
  const { append, views, ledger } = await openTestStorage(testDirectory())
  const facts: NewEvent[] = [
    { type: 'conversation.started', actor: 'service', conversationId: 'c', facts: {} },
    { type: 'conversation.started', actor: 'service', conversationId: 'other', facts: {} },
  ]
  for (let turn = 0; turn < TURNS; turn += 1) {
    const place = { conversationId: 'c', turnId: `t${turn}`, channel: 'chat' as const }
    const said = { type: 'chat.message.received', actor: 'owner', facts: {} } as const
    facts.push({ ...said, ...place, body: { text: `question ${turn}` } })
    if (turn % 7 === 0)
      facts.push({ ...said, conversationId: 'other', channel: 'chat', body: { text: 'beside' } })
    facts.push({
      type: 'chat.reply.sent',
      actor: 'delegate',
      ...place,
      facts: {},
      body: { text: `answer ${turn}` },
    })
    facts.push({
      type: 'turn.completed',
      actor: 'service',
      ...place,
      facts: {
        model: MODEL,
        usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
        contextTokens: 1,
        responseId: null,
        rounds: 1,
        durationMs: 1,
      },
    })
  }
  await append(facts)
  const chain = createChainReader(views, ledger)
  let isRead = false
  const reading = chain.read('c', MODEL).finally(() => {
    isRead = true
  })
  let others = 0
  for (; !isRead; others += 1) await immediate()
  const texts = (await reading).items.map(({ item }) => ('text' in item ? item.text : ''))
  expect(texts).toEqual(
    Array.from({ length: TURNS }, (_, turn) => [`question ${turn}`, `answer ${turn}`]).flat(),
  )
  // More yields than pieces of a hundred events would give.
  expect(others).toBeGreaterThan((TURNS * 3) / 100)
  expect((await chain.read('c', MODEL)).items).toHaveLength(TURNS * 2)
})

test('leaves out the whole turn of a replaced message, and what comes of it later', async () => {
  const { append, views, ledger } = await openTestStorage(testDirectory())
  const place = (turnId: string) => ({ conversationId: 'c', turnId, channel: 'chat' as const })
  const asked = { type: 'chat.message.received', actor: 'owner' } as const
  const called = (callId: string, derivedFrom: number[]): NewEvent => ({
    ...{ type: 'tool.called', actor: 'delegate', ...place('t1'), derivedFrom },
    facts: { callId, tool: 'list_notes', round: 1, idempotent: true },
    body: { arguments: '{}' },
  })
  const returned = (callId: string, derivedFrom: number[]): NewEvent => ({
    ...{ type: 'tool.returned', actor: 'service', ...place('t1'), derivedFrom },
    facts: { callId, tool: 'list_notes', outcome: 'ok', durationMs: 1, refs: [] },
    body: { result: 'heliotrope' },
  })
  const replied = (turnId: string, text: string): NewEvent => ({
    ...{ type: 'chat.reply.sent', actor: 'delegate', ...place(turnId), facts: {}, body: { text } },
  })
  const completed = (turnId: string): NewEvent => ({
    ...{ type: 'turn.completed', actor: 'service', ...place(turnId) },
    facts: {
      ...{ model: MODEL, usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 }, contextTokens: 1 },
      ...{ responseId: null, rounds: 1, durationMs: 1 },
    },
  })
  await append([
    { type: 'conversation.started', actor: 'service', conversationId: 'c', facts: {} },
    { ...asked, ...place('t1'), facts: {}, body: { text: 'heliotrope' } },
    called('a', [2]),
    returned('a', [3]),
    replied('t1', 'heliotrope'),
    completed('t1'),
  ])
  const chain = createChainReader(views, ledger)
  expect((await chain.read('c', MODEL)).items).toHaveLength(4)
  await append([
    {
      ...{ ...asked, ...place('t2'), body: { text: 'vermilion' } },
      facts: { replaces: { turnId: 't1', seq: 2, sameWords: false } },
    },
    called('b', []),
    returned('b', [8]),
    completed('t1'),
    returned('c', []),
    replied('t2', 'vermilion'),
    completed('t2'),
  ])
  for (const reader of [chain, createChainReader(views, ledger)]) {
    const { items, openSeqs } = await reader.read('c', MODEL)
    expect(items.map(({ item }) => item)).toMatchObject([
      { type: 'message', role: 'owner', text: 'vermilion' },
      { type: 'message', role: 'delegate', text: 'vermilion' },
    ])
    expect(openSeqs).toEqual([])
  }
})
