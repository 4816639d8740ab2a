import { expect, test } from 'vitest'
import { owner, runTurn } from './tool-host.ts'

test.each([
  ['Have the coding assistant fix the build and text me when it is done', 'fix the build', 'sms'],
  ['please ask Copilot to update the README, then let me know by text', 'update the README', 'sms'],
  ['Tell the coding agent to run the tests.', 'run the tests', null],
  ['get my coding assistant to tidy up and tell me in the chat', 'tidy up', null],
])('%s', async (said, prompt, notify) => {
  const { calls } = await runTurn([owner(said)])
  expect(calls).toMatchObject([{ name: 'dispatch_task', args: { prompt, notify } }])
})

test.each([
  ['show my tasks', 'list_tasks', {}],
  ['How is the coding assistant doing?', 'list_tasks', {}],
  ['cancel the task fix the build', 'cancel_task', { query: 'fix the build' }],
])('%s', async (said, name, args) => {
  expect((await runTurn([owner(said)])).calls).toMatchObject([{ name, args }])
})

test.each([
  'The coding assistant is slow',
  'Remind me to ask copilot about it tomorrow at 9',
  'I have a copilot',
])('does not dispatch a task for “%s”', async (said) => {
  expect((await runTurn([owner(said)])).calls.map(({ name }) => name)).not.toContain('dispatch_task')
})

test('reports what it dispatched, how the outcome arrives, and a refusal', async () => {
  const asked = owner('Have the coding assistant fix the build and text me when it is done')
  const taken = await runTurn([asked], {
    dispatch_task: ({ title }) => ({ ok: true, task: { title, notify: 'sms' } }),
  })
  expect(taken.text).toBe(
    'I handed “Fix the build” to the coding assistant. You get a text message when it is done.',
  )
  const refused = await runTurn([asked], {
    dispatch_task: () => ({ ok: false, reason: 'not_configured', message: 'No coding assistant is set up.' }),
  })
  expect(refused.text).toBe('No coding assistant is set up.')
})
