import { expect, test } from 'vitest'
import type { LiveCall, TalkLine } from '../../../../src/http/contract/calls.ts'
import { createLiveTalk } from '../../../../web/src/timeline/chat/live-talk.ts'
import { event } from '../events.ts'

const call = (lines: readonly TalkLine[], more: Partial<LiveCall> = {}): LiveCall => ({
  callSid: 'CA1',
  party: 'owner',
  from: '+14155550100',
  inBrowser: false,
  conversationId: 'c1',
  spanId: 's1',
  offeredAt: '2026-01-01T12:00:00.000Z',
  connectedAt: '2026-01-01T12:00:01.000Z',
  speaking: null,
  lines,
  ...more,
})
const asked: TalkLine = { itemId: 'u1', by: 'caller', text: 'When?' }
const answered: TalkLine = { itemId: 'i1', by: 'delegate', text: 'At nine.' }
const fact = (itemId: string) => event(1, 'call.utterance.heard', { payload: { itemId, text: 'When?' } })

test('shows a line once, whether its event or its preview arrives first', () => {
  const talk = createLiveTalk()
  talk.update(call([asked, answered]))
  talk.add(fact('u1'))
  expect(talk.lines).toEqual([answered])
  talk.update(call([asked, answered]))
  expect(talk.lines).toEqual([answered])
  talk.update(call([answered]))
  expect(talk.lines).toEqual([answered])
})

test('shows an empty caller line while the caller speaks, until a real one arrives', () => {
  const talk = createLiveTalk()
  talk.update(call([answered], { speaking: 'caller' }))
  expect(talk.lines).toMatchObject([answered, { by: 'caller', text: null }])
  talk.update(call([answered, { itemId: 'u2', by: 'caller', text: null }], { speaking: 'caller' }))
  expect(talk.lines).toHaveLength(2)
})

test('resets for a new call, and is empty without a call', () => {
  const talk = createLiveTalk()
  talk.update(call([asked]))
  talk.add(fact('u1'))
  talk.update(call([asked], { callSid: 'CA2' }))
  expect(talk.lines).toEqual([asked])
  talk.update(null)
  expect([talk.call, talk.lines]).toEqual([null, []])
})
