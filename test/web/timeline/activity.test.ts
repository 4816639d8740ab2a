import { expect, test } from 'vitest'
import { summaryOf } from '../../../web/src/timeline/activity.ts'
import { event } from './events.ts'

const inner = (seq: number, type: string) => event(seq, type, { internal: true })

test('a turn is said to have thought it through only where it came to an end', () => {
  const started = inner(1, 'turn.started')
  expect(summaryOf([started, inner(2, 'turn.completed')])).toBe('Thought it through')
  expect(summaryOf([started])).toBe('Did not finish')
})

test('folded things are named while they are few, and counted when they are many', () => {
  const changed = event(2, 'settings.changed', { payload: { keys: ['TIMEZONE'] } })
  const signedIn = event(1, 'owner.signed-in')
  expect(summaryOf([signedIn, changed])).toBe('Signed in · The time zone was changed')
  expect(summaryOf([signedIn, changed, event(3, 'owner.signed-out')])).toBe('3 background steps')
})
