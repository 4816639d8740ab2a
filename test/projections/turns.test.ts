import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

const MODEL = { provider: 'p', model: 'm' }
const USAGE = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 }
const TURN = { turnId: 't', conversationId: 'c', spanId: 's', channel: 'chat' } as const

const started: NewEvent = {
  type: 'turn.started',
  actor: 'service',
  ...TURN,
  facts: { trigger: 'message', party: 'owner', model: MODEL, adaptationIds: [], signalIds: [] },
}
const stopped: NewEvent = {
  type: 'chat.reply.stopped',
  actor: 'delegate',
  ...TURN,
  facts: {},
  body: { text: 'So far' },
}
const completed: NewEvent = {
  type: 'turn.completed',
  actor: 'service',
  ...TURN,
  facts: { model: MODEL, usage: USAGE, contextTokens: 2, responseId: null, rounds: 1, durationMs: 0 },
}
const failed: NewEvent = {
  type: 'turn.failed',
  actor: 'service',
  ...TURN,
  facts: { kind: 'timeout' },
  body: { text: 'Sorry.' },
}
const text = (key: string): NewEvent => ({
  type: 'delivery.requested',
  actor: 'delegate',
  ...TURN,
  key,
  facts: { deliveryId: key, channel: 'sms', taskId: null, maxAttempts: 3 },
  body: { target: '+14155550100', text: 'Hello' },
})

function fold(...facts: NewEvent[]) {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (const fact of facts) writer.append(fact)
  writer.close()
  const views = openViewsReadOnly(directory)
  const queries = createTurnQueries(views)
  const found = { turn: queries.byId('t'), waiting: queries.unfinished().map(({ turnId }) => turnId) }
  views.close()
  return found
}

test('lists waiting turns in the order of their requests', () => {
  const { waiting } = fold(...['b', 'c', 'a'].map((turnId) => said(`as ${turnId}`, { ...TURN, turnId })))
  expect(waiting).toEqual(['b', 'c', 'a'])
})

test('keeps a stopped turn stopped although it ends as completed', () => {
  expect(fold(said('Hello', TURN), started, stopped, completed)).toMatchObject({
    turn: { status: 'stopped', replySeq: 3, endedSeq: 4, inputTokens: 1 },
    waiting: [],
  })
})

test('keeps the failure of a turn as its outcome although some words were said', () => {
  const saidSoFar = { ...stopped, facts: { reason: 'failed' } } as NewEvent
  expect(fold(said('Hello', TURN), started, saidSoFar, failed)).toMatchObject({
    turn: { status: 'failed', kind: 'timeout', replySeq: 4, endedSeq: 4 },
    waiting: [],
  })
})

test('does not count a text to somebody else as the reply of a turn', () => {
  expect(fold(said('Hello', TURN), started, text('tool:t:call'), failed).turn).toMatchObject({
    status: 'failed',
    replySeq: 4,
  })
  expect(
    fold(said('Hello', TURN), started, text('tool:t:call'), text('reply:t'), completed).turn,
  ).toMatchObject({
    status: 'completed',
    replySeq: 4,
  })
})

test('keeps the reply of a turn that fails after it was texted', () => {
  expect(fold(said('Hello', TURN), started, text('reply:t'), failed).turn).toMatchObject({
    status: 'failed',
    kind: 'timeout',
    replySeq: 3,
    endedSeq: 4,
  })
})
