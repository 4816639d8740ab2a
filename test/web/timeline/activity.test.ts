import { expect, test } from 'vitest'
import { summaryOf } from '../../../web/src/timeline/activity.ts'
import { event } from './events.ts'

const inner = (seq: number, type: string) => event(seq, type, { internal: true })

test('summarises a turn without tools as “Thought it through” only if it completed', () => {
  const started = inner(1, 'turn.started')
  expect(summaryOf([started, inner(2, 'turn.completed')])).toBe('Thought it through')
  expect(summaryOf([started])).toBe('Did not finish')
  expect(summaryOf([started], true)).toBe('Answering…')
})

test('names up to two kinds of background steps, and counts more', () => {
  const changed = event(2, 'settings.changed', { payload: { keys: ['TIMEZONE'] } })
  const signedIn = event(1, 'owner.signed-in')
  expect(summaryOf([signedIn, changed])).toBe('Signed in · 1 setting changed')
  expect(summaryOf([signedIn, changed, event(3, 'owner.signed-out')])).toBe('3 background steps')
})

test('does not call a tool used that was refused', () => {
  const called = (seq: number, tool: string) =>
    event(seq, 'tool.called', { internal: true, payload: { tool, callId: `c${seq}` } })
  const returned = (seq: number, outcome: string) =>
    event(seq + 10, 'tool.returned', { internal: true, payload: { callId: `c${seq}`, outcome } })
  const steps = [called(1, 'set_timer'), returned(1, 'refused')]
  expect(summaryOf(steps)).toBe('Tried set timer')
  const again = [called(2, 'set_timer'), returned(2, 'ok')]
  expect(summaryOf([...steps, ...again])).toBe('Used set timer')
})
