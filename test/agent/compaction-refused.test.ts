import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createChainReader } from '../../src/agent/chain.ts'
import { createCompactor } from '../../src/agent/compaction.ts'
import type { ModelService } from '../../src/model/port.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

const MODEL = { provider: 'p', model: 'm' }
const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
const TURN = { conversationId: 'c', turnId: 't', channel: 'chat' } as const
const LONG = 'The word is heliotrope. '.repeat(200)

const conversation: NewEvent[] = [
  { type: 'conversation.started', actor: 'service', conversationId: 'c', facts: {} },
  { type: 'chat.message.received', actor: 'owner', ...TURN, facts: {}, body: { text: LONG } },
  {
    type: 'turn.completed',
    actor: 'service',
    ...TURN,
    facts: { model: MODEL, usage: USAGE, contextTokens: 2000, responseId: null, rounds: 1, durationMs: 0 },
  },
]

test.each([
  ['says nothing', ' \n', 'empty'],
  ['says as much again', LONG.toUpperCase(), 'not_smaller'],
])('a replacement that %s replaces nothing', async (_what, text, kind) => {
  const { append, views, ledger } = await openTestStorage(testDirectory())
  await append(conversation)
  const chain = createChainReader(views, ledger)
  const service = {
    text: {
      id: MODEL,
      async *respond() {
        yield { type: 'completed' as const, text, toolCalls: [], usage: USAGE, responseId: null, blob: null }
      },
    },
    compaction: null,
  }
  const compactor = createCompactor({
    append,
    views,
    chain,
    model: () => service as Partial<ModelService> as ModelService,
    instructions: () => '',
    instructionSeqs: () => [],
    commitments: () => [],
    thresholdTokens: () => 100_000,
    capsuleTriggerTokens: () => 1,
    timezone: () => 'UTC',
    newId,
    nowMs: Date.now,
    log: { warn: () => undefined },
  })
  const before = (await chain.read('c', MODEL)).items
  const { seq } = ledger.head()
  expect(await compactor.compact('c', 'automatic', AbortSignal.timeout(5000))).toEqual({
    status: 'failed',
    kind,
  })
  expect(ledger.readAfter(seq, 10).map(({ type }) => type)).toEqual([
    'context.compaction.requested',
    'context.compaction.failed',
  ])
  expect((await chain.read('c', MODEL)).items).toEqual(before)
})
