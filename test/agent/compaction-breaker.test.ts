import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createChainReader } from '../../src/agent/context/chain.ts'
import { createCompactor } from '../../src/agent/context/compaction.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

const MINUTE_MS = 60_000
const MODEL = { provider: 'p', model: 'm' }
const NO_USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
const AT = { conversationId: 'c', channel: 'inner', actor: 'service' } as const

/** A conversation over its threshold. */
async function openCompactor() {
  let nowMs = Date.UTC(2030, 0, 1)
  const { append, views, ledger } = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  const { isDue, recover } = createCompactor({
    append,
    views,
    chain: createChainReader(views, ledger),
    model: () => {
      throw new Error('unexpected model request')
    },
    instructions: () => '',
    instructionSeqs: () => [],
    commitments: () => [],
    thresholdTokens: () => 1000,
    capsuleTriggerTokens: () => 1_000_000,
    timezone: () => 'UTC',
    newId,
    nowMs: () => nowMs,
    log: { warn: () => undefined },
  })
  const turn = (contextTokens: number): NewEvent => ({
    type: 'turn.completed',
    ...AT,
    turnId: newId(),
    facts: { model: MODEL, usage: NO_USAGE, contextTokens, responseId: null, rounds: 1, durationMs: 0 },
  })
  await append([{ type: 'conversation.started', ...AT, facts: {} }, turn(5000)])
  return {
    ledger,
    append,
    turn,
    recover,
    isDue: () => isDue('c'),
    wait: (ms: number) => {
      nowMs += ms
    },
    fail: (kind: 'timeout' | 'busy') =>
      append([
        {
          type: 'context.compaction.failed',
          ...AT,
          facts: { compactionId: newId(), source: 'automatic', kind },
        },
      ]),
    succeed: (inputTokensAfter: number) =>
      append([
        {
          type: 'context.compaction.succeeded',
          ...AT,
          facts: {
            compactionId: newId(),
            source: 'automatic',
            method: 'model',
            model: MODEL,
            throughSeq: 2,
            inputTokensBefore: 5000,
            inputTokensAfter,
            usage: NO_USAGE,
          },
          body: { text: 'All of it.', replacement: null },
        },
      ]),
  }
}

test('pauses compaction after three failures in a row, doubling the pause up to a day', async () => {
  const compactor = await openCompactor()
  for (let failures = 1; failures < 3; failures += 1) {
    await compactor.fail('timeout')
    expect(compactor.isDue()).toBe(true)
  }
  for (const minutes of [15, 30, 60, 120, 240, 480, 960, 1440, 1440]) {
    await compactor.fail('timeout')
    compactor.wait(minutes * MINUTE_MS - 1)
    expect(compactor.isDue(), `${minutes} minutes`).toBe(false)
    compactor.wait(1)
    expect(compactor.isDue(), `${minutes} minutes`).toBe(true)
  }
  // A success resets the count of failures.
  await compactor.succeed(100)
  expect(compactor.isDue()).toBe(false)
  await compactor.append([compactor.turn(3000)])
  expect(compactor.isDue()).toBe(true)
  await compactor.fail('timeout')
  expect(compactor.isDue()).toBe(true)
})

test('does not count a compaction refused because of a running turn', async () => {
  const compactor = await openCompactor()
  for (let each = 0; each < 5; each += 1) await compactor.fail('busy')
  expect(compactor.isDue()).toBe(true)
})

test('pauses after a compaction with little effect, whatever a stopped turn reports', async () => {
  const compactor = await openCompactor()
  await compactor.succeed(100)
  // A stopped turn does not know the size of its input.
  await compactor.append([compactor.turn(0)])
  expect(compactor.isDue()).toBe(false)
  await compactor.append([compactor.turn(4900)])
  expect(compactor.isDue()).toBe(false)
  compactor.wait(15 * MINUTE_MS)
  expect(compactor.isDue()).toBe(true)
})

test('records an interrupted compaction as failed once, after the restart', async () => {
  const { append, ledger, recover } = await openCompactor()
  await append([
    {
      type: 'context.compaction.requested',
      ...AT,
      facts: { compactionId: 'cut-off', source: 'manual', throughSeq: 2, inputTokensBefore: 5000 },
    },
  ])
  const { seq } = ledger.head()
  await recover()
  await recover()
  expect(ledger.readAfter(seq, 10)).toMatchObject([
    {
      type: 'context.compaction.failed',
      facts: { compactionId: 'cut-off', source: 'manual', kind: 'interrupted' },
    },
  ])
})
