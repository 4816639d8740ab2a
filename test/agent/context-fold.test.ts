import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { emptyContext, foldContext } from '../../src/agent/context/context.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter } from '../support/writer.ts'

const AT = { conversationId: 'c', spanId: 's' } as const
const TURN = { ...AT, turnId: 't' } as const

const heard = (party: 'owner' | 'guest', text: string): NewEvent => ({
  type: 'call.utterance.heard',
  actor: party,
  channel: 'voice',
  ...AT,
  facts: { callSid: 'CA1', itemId: 'i1', party, transcribed: true },
  body: { text },
})
const texted = (party: 'owner' | 'guest', text: string): NewEvent => ({
  type: 'sms.received',
  actor: party,
  channel: 'sms',
  ...AT,
  facts: { messageSid: `SM-${text}`, party, segments: 1, mediaTypes: [], replyBy: 'rest' },
  body: { from: '+14155550100', to: '+14155550199', text },
})
const delivery = (key: string, text: string): NewEvent => ({
  type: 'delivery.requested',
  actor: 'delegate',
  channel: 'sms',
  ...TURN,
  key,
  facts: { deliveryId: key, channel: 'sms', taskId: null, maxAttempts: 3 },
  body: { target: '+14155550100', text },
})
const completed: NewEvent = {
  type: 'turn.completed',
  actor: 'service',
  ...TURN,
  facts: {
    model: { provider: 'p', model: 'm' },
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
    contextTokens: 0,
    responseId: null,
    rounds: 1,
    durationMs: 0,
  },
}
const failed: NewEvent = {
  type: 'turn.failed',
  actor: 'service',
  ...TURN,
  facts: { kind: 'timeout' },
  body: { text: 'Sorry.' },
}

/** The folded context as pairs of role and text. */
function contextOf(...facts: NewEvent[]): (readonly [string, string])[] {
  const writer = openTestWriter(testDirectory())
  writer.append(...facts)
  const { items, failed } = foldContext(emptyContext(0), writer.ledger.readAfter(0, 100))
  writer.close()
  return [...items, ...failed.flat()].map(({ item }) => [
    item.type === 'message' ? item.role : item.type,
    'text' in item ? item.text : '',
  ])
}

test('excludes what a guest says or texts', () => {
  expect(
    contextOf(
      heard('owner', 'mine'),
      heard('guest', 'a stranger’s'),
      texted('guest', 'another’s'),
      texted('owner', 'own'),
    ),
  ).toEqual([
    ['owner', 'mine'],
    ['owner', 'own'],
  ])
})

test('includes words spoken on the phone although their turn failed', () => {
  const spoken: NewEvent = {
    type: 'call.reply.spoken',
    actor: 'delegate',
    channel: 'voice',
    ...TURN,
    facts: {
      callSid: 'CA1',
      itemId: 'i1',
      responseId: null,
      heardMs: 900,
      sentMs: 900,
      interrupted: false,
    },
    body: { text: 'At nine', generatedText: 'At nine' },
  }
  expect(contextOf(spoken, failed)).toEqual([['delegate', 'At nine']])
})

test('includes only the reply among the texts that a turn sent', () => {
  const [asked, answered] = [{ ...texted('owner', 'Text Ben'), ...TURN }, delivery('reply:t', 'the answer')]
  expect(contextOf(asked, delivery('tool:t:call', 'to somebody'), answered, completed)).toEqual([
    ['owner', 'Text Ben'],
    ['delegate', 'the answer'],
  ])
})

test('includes a failed request, the calls made for it, and the failure', () => {
  const call = { callId: 'c1', tool: 'set_timer', round: 1, idempotent: true } as const
  const acted: NewEvent[] = [
    { ...texted('owner', 'Wake me at six'), ...TURN },
    { type: 'tool.called', actor: 'delegate', ...TURN, facts: call, body: { arguments: '{}' } },
    {
      type: 'tool.returned',
      actor: 'service',
      ...TURN,
      facts: { callId: 'c1', tool: 'set_timer', outcome: 'ok', durationMs: 0, refs: [] },
      body: { result: '{"ok":true}' },
    },
  ]
  expect(contextOf(...acted, failed, delivery('reply:t', 'Sorry.'))).toEqual([
    ['owner', 'Wake me at six'],
    ['tool_call', ''],
    ['tool_result', ''],
    ['inner', 'Sorry.'],
  ])
  // Such a failure may come from the words themselves, and would come again.
  expect(contextOf(...acted, { ...failed, facts: { kind: 'refused' } })).toEqual([])
})

test('keeps the last three requests that failed until a turn completes, and marks an unknown outcome', () => {
  const asked = (turnId: string): NewEvent => ({ ...texted('owner', turnId), ...AT, turnId })
  const fails = ['1', '2', '3', '4'].flatMap((turnId) => [asked(turnId), { ...failed, turnId }])
  const wordsOf = (...facts: NewEvent[]) =>
    contextOf(...facts).flatMap(([role, text]) => (role === 'owner' ? [text] : []))
  expect(wordsOf(...fails)).toEqual(['2', '3', '4'])
  expect(wordsOf(...fails, asked('5'), { ...completed, turnId: '5' })).toEqual(['5'])
  const cutOff: NewEvent = {
    ...{ type: 'tool.called', actor: 'delegate', ...AT, turnId: '6', body: { arguments: '{}' } },
    facts: { callId: 'c', tool: 'update_note', round: 1, idempotent: false },
  }
  const interrupted: NewEvent = { ...failed, turnId: '6', facts: { kind: 'interrupted' } }
  expect(contextOf(asked('6'), cutOff, interrupted).map(([kind]) => kind)).toEqual([
    'owner',
    'tool_call',
    'tool_result',
    'inner',
  ])
})

test('includes the outcome of a task once, not as the delegate’s words', () => {
  const finished: NewEvent = {
    type: 'task.finished',
    actor: 'service',
    ...AT,
    facts: { taskId: 'k', source: 'exit', exitCode: 0, durationMs: 1 },
    body: { text: 'The gate is green.' },
  }
  const delivered: NewEvent = {
    type: 'chat.reply.sent',
    actor: 'delegate',
    channel: 'chat',
    ...AT,
    facts: { deliveryId: 'd' },
    body: { text: 'The gate is green.' },
  }
  expect(contextOf(finished, delivered)).toEqual([['inner', 'It finished. The gate is green.']])
})
