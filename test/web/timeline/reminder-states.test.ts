import { expect, test } from 'vitest'
import { createReminderStates } from '../../../web/src/timeline/reminder-states.ts'
import { event } from './events.ts'

const [first, second] = ['2026-06-01T09:00:00.000Z', '2026-06-02T09:00:00.000Z']
const fired = (seq: number, occurrence = first, timerId = 'a') =>
  event(seq, 'timer.fired', { payload: { text: 'Pills', timerId, occurrence } })
const until = '2026-06-01T10:00:00.000Z'
const snoozed = event(5, 'timer.set', {
  payload: { timerId: 'b', dueAt: until, snoozes: { timerId: 'a', occurrence: first } },
})

test.each([
  ['open', [], { kind: 'open' }],
  ['done', [event(5, 'timer.done', { payload: { timerId: 'a', occurrence: first } })], { kind: 'done' }],
  ['snoozed', [snoozed], { kind: 'snoozed', until }],
  [
    'over once its timer is cancelled',
    [event(5, 'timer.cancelled', { payload: { timerId: 'a' } })],
    { kind: 'over' },
  ],
  ['over once its timer is due again', [fired(5, second)], { kind: 'over' }],
  ['open while another timer is due', [fired(5, second, 'c')], { kind: 'open' }],
  [
    'over once a later occurrence is missed',
    [event(5, 'timer.missed', { payload: { timerId: 'a', occurrence: second, missed: 1 } })],
    { kind: 'over' },
  ],
  [
    'open after a clock change',
    [event(5, 'timer.missed', { payload: { timerId: 'a', occurrence: second, missed: 0 } })],
    { kind: 'open' },
  ],
])('a reminder is %s, in any order of arrival', (_name, after, expected) => {
  for (const events of [
    [fired(1), ...after],
    [...after, fired(1)],
  ]) {
    const states = createReminderStates()
    for (const each of events) states.take(each)
    expect(states.of(fired(1))).toEqual(expected)
  }
})

test('an erased reminder is over', () => {
  const states = createReminderStates()
  states.take(fired(1))
  expect(states.of(event(1, 'timer.fired', { payload: { erased: true } }))).toEqual({ kind: 'over' })
})
