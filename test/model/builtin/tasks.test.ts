import { expect, test } from 'vitest'
import { understand } from '../../../src/model/builtin/understand/understand.ts'
import { owner, runTurn } from './tool-host.ts'

const present = { now: new Date('2026-06-02T12:00:00Z'), timezone: 'Europe/Berlin' }

test.each([
  ['Have the coding assistant fix the build and text me when it is done', 'fix the build', 'sms'],
  ['please ask Copilot to update the README, then let me know by text', 'update the README', 'sms'],
  ['Tell the coding agent to run the tests.', 'run the tests', null],
  ['get my coding assistant to tidy up and tell me in the chat', 'tidy up', 'chat'],
  ['Have copilot write docs and notify me by webhook', 'write docs', 'webhook'],
])('%s', (said, prompt, notify) => {
  expect(understand(said, present)).toMatchObject([
    { kind: 'call', call: { name: 'dispatch_task', args: { prompt, notify } } },
  ])
})

test('asking after tasks and cancelling one', () => {
  expect(understand('show my tasks', present)).toMatchObject([{ call: { name: 'list_tasks' } }])
  expect(understand('How is the coding assistant doing?', present)).toMatchObject([
    { call: { name: 'list_tasks' } },
  ])
  expect(understand('cancel the task fix the build', present)).toMatchObject([
    { call: { name: 'cancel_task', args: { query: 'fix the build' } } },
  ])
})

test('what is not for the coding assistant is not handed to it', () => {
  for (const said of [
    'The coding assistant is slow',
    'Remind me to ask copilot about it tomorrow at 9',
    'I have a copilot',
  ])
    expect(JSON.stringify(understand(said, present))).not.toContain('dispatch_task')
})

test('it says what was handed over and where the answer will come, and what was refused', async () => {
  const asked = owner('Have the coding assistant fix the build and text me when it is done')
  const taken = await runTurn([asked], {
    dispatch_task: ({ title }) => ({ ok: true, task: { title, notify: 'sms' } }),
  })
  expect(taken.text).toBe(
    'I handed that to the coding assistant: “Fix the build”. When it is done you will be told by text message.',
  )
  const refused = await runTurn([asked], {
    dispatch_task: () => ({ ok: false, reason: 'not_configured', message: 'No coding assistant is set up.' }),
  })
  expect(refused.text).toBe('No coding assistant is set up.')
})
