import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, realpathSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import { DATA_DIR_VARIABLE, TASK_ID_VARIABLE } from '../../src/tasks/task-process.ts'
import { steps } from '../doubles/assistant/assistant.ts'
import { createClient } from '../http/client.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD } from '../support/service.ts'
import { openTestWriter } from '../support/writer.ts'
import { startServiceProcess } from '../torture/service-process.ts'
import { startRunner, until } from './runner-harness.ts'
import { ASSISTANT, isAlive, ofType, startWithAssistant, type TimelineEvent } from './task-harness.ts'

/** What the assistant wrote to the file, or null while it is incomplete. */
function situationIn(file: string): { readonly pid: number } | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

/** A program that runs until the test, or a service that recognises its environment, ends it. */
function startLeftOver(environment: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { env: environment })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** The environment by which a service recognises the program of its task. */
const variablesOf = (directory: string, taskId: string) => ({
  [TASK_ID_VARIABLE]: taskId,
  [DATA_DIR_VARIABLE]: realpathSync(directory),
})

/** Runs a task to its end on a service, stops the service and returns the task's id. */
async function runTaskToItsEnd(directory: string): Promise<string> {
  const { dispatch, settled, service } = await startWithAssistant({ directory })
  const taskId = await dispatch(steps({ print: 'ok' }), { notify: 'chat' })
  await settled(taskId)
  await service.stop()
  return taskId
}

/** A service in its own process, so that the test can kill it. */
async function startProcess(directory: string, environment: Readonly<Record<string, string>> = {}) {
  const service = startServiceProcess(directory, { COPILOT_COMMAND: ASSISTANT, ...environment })
  onTestFinished(() => service.kill())
  const client = createClient(await service.listening)
  const setupCode = service.setupCode()
  if (setupCode === null) await client.post('/login', { password: PASSWORD })
  else await client.post('/api/install', { password: PASSWORD, setupCode })
  const events = async (): Promise<TimelineEvent[]> =>
    (await client.get('/api/timeline?limit=5000')).json.events
  return { service, client, events, task: async (id: string) => (await client.get(`/api/tasks/${id}`)).json }
}

test('fails a task that a crash interrupted, ends its program and notifies the owner once', async () => {
  const directory = testDirectory()
  const file = join(directory, 'situation.json')
  const one = { TASK_LIMIT: '1' }
  const first = await startProcess(directory, one)
  const prompt = steps({ tellSituation: file }, { hang: true })
  const dispatched = await first.client.post('/api/tasks', { title: 'Long', prompt })
  const { id } = dispatched.json
  const waiting = (
    await first.client.post('/api/tasks', { title: 'Next', prompt: steps({ print: 'ok' }), notify: 'chat' })
  ).json.id
  const { pid } = await until(() => situationIn(file))
  await until(async () => ofType(await first.events(), 'task.progressed').some(({ payload }) => payload.pid))
  await first.service.kill()
  expect(isAlive(pid)).toBe(true)

  const second = await startProcess(directory, one)
  const task = await until(async () => {
    const found = await second.task(id)
    return found.deliveryState === 'delivered' ? found : null
  })
  expect(task).toMatchObject({ status: 'failed', kind: 'interrupted', exitCode: null })
  await until(() => !isAlive(pid))
  await until(async () => (await second.task(waiting)).status === 'finished')
  const late = await second.client.post('/api/copilot/callback', {
    hookType: 'sessionEnd',
    taskId: id,
    payload: { reason: 'complete' },
  })
  expect(late.json.action).toBe('ignored')
  const deliveries = ofType(await second.events(), 'chat.reply.sent').filter(({ payload }) =>
    payload.text.includes('Long'),
  )
  expect(deliveries).toHaveLength(1)
})

test('ends programs that a crash left behind, whether just started or being ended', async () => {
  const directory = testDirectory()
  const overId = await runTaskToItsEnd(directory)
  // A crash may come before the process id is recorded.
  const startedId = 'a-task-whose-program-was-just-started'
  const writer = openTestWriter(directory)
  const by = { actor: 'service', channel: 'system' } as const
  const facts = { taskId: startedId, notify: 'chat', timeoutMinutes: 1, by: 'owner' } as const
  writer.append(
    { type: 'task.dispatched', ...by, facts, body: { title: 'Long', prompt: steps({ hang: true }) } },
    { type: 'task.progressed', ...by, facts: { taskId: startedId, source: 'started' }, body: { text: '' } },
  )
  writer.close()
  const left = [overId, startedId].map((taskId) => startLeftOver(variablesOf(directory, taskId)))
  const others = [
    {},
    variablesOf(directory, 'of-nobody'),
    // A program of another service with a copy of this ledger.
    variablesOf(testDirectory(), startedId),
  ].map(startLeftOver)
  await Promise.all([...left, ...others].map((child) => once(child, 'spawn')))

  const second = await startWithAssistant({ directory })
  expect(await second.settled(startedId)).toMatchObject({ status: 'failed', kind: 'interrupted' })
  await until(() => left.every(({ signalCode }) => signalCode === 'SIGKILL'))
  expect(others.map(({ signalCode }) => signalCode)).toEqual([null, null, null])
})

test('spares the process that restarted the service from within a task', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  const taskId = await runTaskToItsEnd(directory)
  const starter = startLeftOver(variablesOf(directory, taskId))
  await once(starter, 'spawn')

  const second = await startProcess(directory, variablesOf(directory, taskId))
  const next = { title: 'Next', prompt: steps({ print: 'ok' }), notify: 'chat' }
  const { id } = (await second.client.post('/api/tasks', next)).json
  await until(async () => (await second.task(id)).status === 'finished')
  expect(isAlive(starter.pid ?? 0)).toBe(true)
})

test('does not repeat a post that a crash interrupted, because it may have arrived', async () => {
  let posts = 0
  const receiver = createServer(() => {
    posts += 1
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  const environment = {
    DELIVERY_WEBHOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    DELIVERY_WEBHOOK_SECRET: 'secret of the hook',
  }
  const directory = testDirectory()
  const first = await startProcess(directory, environment)
  const prompt = steps({ print: 'ok' })
  const { id } = (await first.client.post('/api/tasks', { title: 'Post', prompt, notify: 'webhook' })).json
  await until(() => posts === 1)
  await first.service.kill()
  const second = await startProcess(directory, environment)
  const task = await until(async () => {
    const found = await second.task(id)
    return found.deliveryState === 'unknown' ? found : null
  })
  expect(task.deliveries).toMatchObject([{ status: 'unknown', attempts: [{ outcome: 'unknown' }] }])
  const report = (await second.client.get('/api/session/operations?hours=1')).json.copilotDelivery
  expect(report).toMatchObject({ attempts: 1, successes: 0, failedAttempts: 1, attemptSuccessRate: 0 })
  expect(posts).toBe(1)
})

test('ends the program of a running task on shutdown and records that as its outcome', async () => {
  const directory = testDirectory()
  const file = join(directory, 'situation.json')
  const first = await startWithAssistant({ directory })
  const id = await first.dispatch(steps({ print: 'So far.' }, { tellSituation: file }, { hang: true }))
  const { pid } = await until(() => situationIn(file))
  await first.service.stop()
  expect(isAlive(pid)).toBe(false)
  const second = await startWithAssistant({ directory })
  const task = await second.settled(id)
  expect(task).toMatchObject({ status: 'failed', kind: 'interrupted', deliveryState: 'delivered' })
  expect(task.outcome).toContain('So far.')
})

test('ends a task that exceeds its time limit and keeps its output', async () => {
  // A shell starts fast enough to write well before the time limit.
  const command = ['sh', '-c', 'trap "" TERM; echo Counting…; while :; do sleep 1; done']
  const task = await (await startRunner({ command })).failed()
  expect(task).toMatchObject({ kind: 'timeout', outcome: 'The task timed out after 3 min.\nCounting…' })
  expect(task.durationMs).toBeGreaterThanOrEqual(1_450)
  // The output shows while the task runs.
  expect(task.latestProgress?.text).toBe('Counting…')
})

test('fails a task whose start was recorded without the runner knowing, and does not start it', async () => {
  const faults: unknown[] = []
  const { failed } = await startRunner({
    command: ['sh', '-c', 'exit 0'],
    // As with PostgreSQL, if the disk is full once it has committed.
    append: (append) => async (taskId, facts) => {
      const appended = await append(taskId, facts)
      if (facts[0]?.key === `task-started:${taskId}`)
        throw new LedgerUnavailable('no answer', { isUnsure: true })
      return appended
    },
    onFault: (error) => faults.push(error),
  })
  expect(await failed()).toMatchObject({
    kind: 'interrupted',
    outcome: expect.stringMatching('^It is not certain'),
  })
  expect(faults).toEqual([expect.objectContaining({ message: 'no answer' })])
})
