import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createChainReader } from '../../src/agent/context/chain.ts'
import { createCompactor } from '../../src/agent/context/compaction.ts'
import type { ModelService } from '../../src/model/port.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage, type TestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

const MODEL = { provider: 'p', model: 'm' }
const USAGE = { inputTokens: 0, outputTokens: 100, cachedTokens: 0 }
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

/** A compactor over that conversation. Its model answers `text` once `meanwhile` has run. */
async function openCompactor(
  text: string,
  meanwhile: (storage: TestStorage) => Promise<unknown> = async () => undefined,
) {
  const storage = await openTestStorage(testDirectory())
  const { append, views, ledger } = storage
  await append(conversation)
  const chain = createChainReader(views, ledger)
  let requests = 0
  const service = {
    text: {
      id: MODEL,
      async *respond() {
        requests += 1
        await meanwhile(storage)
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
  const { seq } = ledger.head()
  return {
    compactor,
    items: async () => (await chain.read('c', MODEL)).items,
    requests: () => requests,
    facts: () => ledger.readAfter(seq, 20).map(({ type }) => type),
  }
}

const signal = AbortSignal.timeout(30_000)

test.each([
  ['is empty', ' \n', 'empty'],
  ['is no smaller', LONG.toUpperCase(), 'not_smaller'],
])('discards a replacement that %s', async (_what, text, kind) => {
  const { compactor, items, facts } = await openCompactor(text)
  const before = await items()
  expect(await compactor.compact('c', 'automatic', signal)).toEqual({ status: 'failed', kind })
  expect(facts()).toEqual(['context.compaction.requested', 'context.compaction.failed'])
  expect(await items()).toEqual(before)
})

test('fails and pauses compaction when the sources of a replacement are erased meanwhile', async () => {
  const { compactor, requests, facts } = await openCompactor('A short text.', ({ erase }) =>
    erase([2], 'owner'),
  )
  expect(await compactor.compact('c', 'automatic', signal)).toEqual({
    status: 'failed',
    kind: 'interrupted',
  })
  expect(requests()).toBe(1)
  expect(facts().at(-1)).toBe('context.compaction.failed')
})

test('records a failed capsule and pauses before the next', async () => {
  const { compactor, requests, facts } = await openCompactor(' ')
  await compactor.refreshCapsule('c', signal)
  await compactor.refreshCapsule('c', signal)
  expect(requests()).toBe(1)
  expect(facts()).toEqual(['context.capsule.failed'])
})
