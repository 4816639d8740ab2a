import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { testDirectory } from '../support/directory.ts'
import { ofType, startWithAssistant } from './task-harness.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/coding-assistant.md'), 'utf8')
const hasTools = ['jq', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0)

test('documents the three reported hooks, all run by the documented script', () => {
  const config = JSON.parse(/```json\n(\{\s+"version": 1[^`]+)```/.exec(PAGE)?.[1] ?? '')
  expect(Object.keys(config.hooks)).toEqual(['postToolUse', 'errorOccurred', 'sessionEnd'])
  for (const [name, [hook]] of Object.entries<[{ bash: string }]>(config.hooks))
    expect(hook.bash).toBe(`./.github/hooks/delegate.sh ${name}`)
})

test.skipIf(!hasTools)('reports the input of a hook through the documented script', async () => {
  const script = join(testDirectory(), 'delegate.sh')
  writeFileSync(script, /```sh\n(#!\/bin\/sh[^`]+)```/.exec(PAGE)?.[1] ?? '')
  const assistant = await startWithAssistant()
  const timestamp = 1_704_614_700_000
  const id = await assistant.dispatch(
    steps(
      {
        hook: 'postToolUse',
        script,
        told: {
          timestamp,
          cwd: '/project',
          toolName: 'bash',
          toolArgs: '{"command":"npm test"}',
          toolResult: { resultType: 'success', textResultForLlm: 'x'.repeat(10_000) },
        },
      },
      { print: 'Done: all tests pass.' },
      { hook: 'sessionEnd', script, told: { timestamp, cwd: '/project', reason: 'complete' } },
    ),
  )
  const task = await assistant.settled(id)
  expect(task).toMatchObject({ status: 'finished', outcome: 'Done: all tests pass.', progressCount: 1 })
  expect(task).not.toHaveProperty('endedSeq')
  expect(task.latestProgress.text).toBe('bash: npm test')
  expect(ofType(await assistant.events(), 'task.finished')).toMatchObject([
    { payload: { source: 'callback' } },
  ])
})
