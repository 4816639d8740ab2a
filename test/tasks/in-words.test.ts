import { expect, test } from 'vitest'
import { ofType, startProvider, startWithAssistant } from './task-harness.ts'

test('runs a task asked for in chat and texts its outcome to the owner once', async () => {
  const { double, environment } = await startProvider()
  const assistant = await startWithAssistant({
    environment: { ...environment, COPILOT_COMMAND: '["/bin/echo", "I was asked to"]' },
  })
  const said = await assistant.client.post('/api/chat', {
    content: 'Have the coding assistant fix the build and text me when it is done',
  })
  expect(said.json.reply.text).toBe(
    'I handed “Fix the build” to the coding assistant. You get a text message when it is done.',
  )
  const [{ id }] = (await assistant.client.get('/api/tasks')).json.tasks
  const task = await assistant.settled(id)
  expect(task).toMatchObject({ by: 'delegate', notify: 'sms', deliveryState: 'delivered' })
  await assistant.until('the activation', async () =>
    ofType(await assistant.events(), 'activation.completed').at(0),
  )
  expect(double.messages.map(({ body }) => body)).toEqual([
    'Task "Fix the build" is done. I was asked to fix the build',
  ])
  const all = await assistant.events()
  // The chat holds no reply but the one to the request.
  expect(ofType(all, 'chat.reply.sent')).toHaveLength(1)
  const [dispatched] = ofType(all, 'task.dispatched')
  const [returned] = ofType(all, 'tool.returned')
  expect(returned.payload.refs).toEqual([{ kind: 'task', id }])
  expect(returned.payload.result).not.toContain(id)
  // Erasing the request erases the calls that repeat it and keeps the task, as the plan says.
  const [message] = ofType(all, 'chat.message.received')
  const { json: plan } = await assistant.client.get(`/api/erasures.plan?kind=message&id=${message.seq}`)
  expect(plan.stays).toMatchObject([
    { kind: 'task', items: [{ seq: dispatched.seq, text: 'Fix the build' }] },
  ])
  await assistant.client.delete(`/api/timeline/events/${message.seq}`)
  const after = await assistant.events()
  expect(after.find(({ seq }) => seq === message.seq).payload.erased).toBe(true)
  expect(ofType(after, 'tool.called').every(({ payload }) => payload.erased)).toBe(true)
  expect((await assistant.task(id)).title).toBe('Fix the build')
})
