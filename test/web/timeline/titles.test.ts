import { expect, test } from 'vitest'
import { titleOf } from '../../../web/src/timeline/titles.ts'
import { event } from './events.ts'

const ended = (reason: string, durationMs: number) =>
  titleOf(event(1, 'call.ended', { payload: { callSid: 'CA1', reason, durationMs } }))

test('the end of a call says why, where the caller did not simply hang up', () => {
  expect(ended('caller_hung_up', 61_000)).toBe('Call ended after 1 min 1 s')
  expect(ended('no_realtime_model', 0)).toBe('Call ended: no realtime model is set that could talk')
  expect(ended('model_lost', 3200)).toBe('Call ended after 3.2 s: the voice model did not answer any more')
  expect(ended('a reason of tomorrow', 3200)).toBe('Call ended after 3.2 s')
})

test('a call that was never connected has no length', () => {
  expect(ended('not_connected', 0)).toBe('Call ended: it was never connected')
})
