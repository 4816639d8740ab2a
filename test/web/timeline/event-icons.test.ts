import { expect, test } from 'vitest'
import type { Channel } from '../../../src/http/contract/timeline.ts'
import { signOfHit } from '../../../web/src/timeline/event-icons.ts'

test.each<[string, Channel | null, string, string]>([
  ['chat.message.received', 'chat', 'chat', 'You, in the chat'],
  ['chat.reply.sent', 'chat', 'chat', 'Delegate, in the chat'],
  ['chat.reply.sent', 'inner', 'spark', 'Delegate, on its own'],
  ['note.created', 'chat', 'note', 'Note'],
  ['note.updated', null, 'note', 'Note'],
  ['memory.stored', 'inner', 'brain', 'Memory'],
  ['timer.set', 'chat', 'timer', 'Reminder'],
  ['task.dispatched', 'chat', 'tool', 'Task'],
  ['task.failed', 'system', 'tool', 'Task'],
  ['sms.received', 'sms', 'sms', 'Text message'],
  ['sms.sent', 'chat', 'sms', 'Text message'],
  ['call.utterance.heard', 'voice', 'phone', 'Phone call'],
  ['something.new', 'voice', 'phone', 'Phone call'],
  ['something.new', null, 'bell', 'System'],
])('shows a %s hit on channel %s with icon %s and name “%s”', (type, channel, icon, name) => {
  expect(signOfHit({ type, channel })).toEqual({ icon, name })
})
