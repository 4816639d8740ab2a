import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { filesHolding } from '../support/directory.ts'
import {
  type AssistantService,
  isAlive,
  ofType,
  readJson,
  startWithAssistant,
  type TimelineEvent,
} from './task-harness.ts'

/** The outcome of a task and every delivery of it to the owner. */
async function factsOf(assistant: AssistantService) {
  const all = await assistant.events()
  return {
    all,
    ended: all.filter(({ type }: TimelineEvent) => /^task\.(?:finished|failed|cancelled)$/.test(type)),
    deliveries: ofType(all, 'chat.reply.sent').filter(({ payload }) => payload.deliveryId),
    signals: ofType(all, 'signal.raised').filter(({ payload }) => payload.kind.startsWith('task')),
  }
}

test('finishes a task on exit 0 with its output as the outcome, delivered once', async () => {
  const assistant = await startWithAssistant()
  const id = await assistant.dispatch(
    steps({ print: '\u001b[32mAll 12 tests pass.\u001b[0m\n' }, { exit: 0 }),
  )
  expect(id).toMatch(/^[\w-]{32}$/)
  const task = await assistant.settled(id)
  expect(task).toMatchObject({
    status: 'finished',
    exitCode: 0,
    outcome: 'All 12 tests pass.',
    deliveryState: 'delivered',
    deliveries: [{ channel: 'chat', status: 'delivered', attempts: [{ attempt: 1, outcome: 'delivered' }] }],
  })
  const { ended, deliveries, signals, all } = await factsOf(assistant)
  expect(ended).toMatchObject([{ type: 'task.finished', payload: { source: 'exit' } }])
  expect(deliveries).toMatchObject([
    { channel: 'chat', payload: { text: expect.stringContaining('12 tests') } },
  ])
  expect(signals).toMatchObject([{ payload: { kind: 'task_finished', mode: 'wake' } }])
  await assistant.until('the activation', async () =>
    ofType(await assistant.events(), 'activation.completed').at(0),
  )
  // The outcome is delivered already, so the activation adds nothing.
  expect(ofType(await assistant.events(), 'chat.reply.sent')).toHaveLength(1)
  const [dispatched] = ofType(all, 'task.dispatched')
  const span = await assistant.until('the end of its span', async () => {
    const found = (await assistant.client.get(`/api/timeline/spans/${dispatched.spanId}`)).json
    return found.events.some(({ type }: TimelineEvent) => type === 'span.closed') && found
  })
  expect(span.events.map(({ type }: TimelineEvent) => type)).toEqual([
    'span.opened',
    'task.dispatched',
    'task.progressed',
    'task.progressed',
    'task.finished',
    'delivery.requested',
    'signal.raised',
    'delivery.attempted',
    'chat.reply.sent',
    'delivery.succeeded',
    'span.closed',
  ])
})

test('reports the output of a task that fails, is killed or cannot be started', async () => {
  const assistant = await startWithAssistant()
  const failing = await assistant.dispatch(steps({ complain: 'No such branch.\n' }, { exit: 3 }))
  expect(await assistant.settled(failing)).toMatchObject({
    status: 'failed',
    kind: 'exit',
    exitCode: 3,
    outcome: 'No such branch.',
    deliveryState: 'delivered',
  })
  const killed = await assistant.dispatch(steps({ print: 'Half way.\n' }, { waitMs: 50 }, { die: 'SIGKILL' }))
  expect(await assistant.settled(killed)).toMatchObject({
    status: 'failed',
    kind: 'exit',
    exitCode: null,
    outcome: 'Terminated by SIGKILL.\nHalf way.',
  })
  expect((await factsOf(assistant)).deliveries).toHaveLength(2)

  const missing = await startWithAssistant({
    environment: { COPILOT_COMMAND: '["/no/such/program"]' },
  })
  const unstarted = await missing.dispatch('Anything')
  expect(await missing.settled(unstarted)).toMatchObject({
    status: 'failed',
    kind: 'spawn',
    outcome: 'COPILOT_COMMAND could not be started (ENOENT).',
  })
})

test('shows reported progress on the timeline and takes the reported end as the outcome', async () => {
  const assistant = await startWithAssistant()
  const id = await assistant.dispatch(
    steps(
      { print: 'I fixed the gate.\n' },
      {
        report: 'postToolUse',
        payload: {
          toolName: 'bash',
          toolArgs: '{"command":"npm test"}',
          toolResult: { resultType: 'failure' },
        },
      },
      { report: 'errorOccurred', payload: { recoverable: true, error: { message: 'rate limited' } } },
      { report: 'sessionEnd', payload: { reason: 'complete' } },
      { exit: 1 },
    ),
  )
  const task = await assistant.settled(id)
  expect(task).toMatchObject({ status: 'finished', outcome: 'I fixed the gate.', progressCount: 2 })
  const { all, ended, deliveries } = await factsOf(assistant)
  const progress = ofType(all, 'task.progressed').filter(({ payload }) => payload.source === 'callback')
  expect(progress.map(({ payload }) => payload.text)).toEqual([
    'bash: npm test (failure)',
    'Went on after an error: rate limited',
  ])
  expect(ended).toMatchObject([{ type: 'task.finished', payload: { source: 'callback' } }])
  expect(deliveries).toHaveLength(1)
})

test('fails a task that reports an error through either hook', async () => {
  const assistant = await startWithAssistant()
  const first = await assistant.dispatch(
    steps(
      { report: 'errorOccurred', payload: { error: { message: 'No credits left', name: 'E' } } },
      { hang: true },
    ),
  )
  expect(await assistant.settled(first)).toMatchObject({
    status: 'failed',
    kind: 'callback',
    outcome: 'No credits left',
  })
  const second = await assistant.dispatch(
    steps({ report: 'sessionEnd', payload: { reason: 'timeout', result: 'Too slow' } }),
  )
  expect(await assistant.settled(second)).toMatchObject({
    status: 'failed',
    kind: 'callback',
    outcome: 'Too slow',
  })
})

test('ignores repeated, early, late and unknown reports, and rejects malformed ones', async () => {
  const assistant = await startWithAssistant({ environment: { TASK_LIMIT: '1' } })
  const { report, dispatch } = assistant
  const id = await dispatch(steps({ hang: true }))
  const queued = await dispatch(steps({ hang: true }))
  await assistant.until('its process id', async () =>
    ofType(await assistant.events(), 'task.progressed').some(
      ({ payload }) => payload.taskId === id && payload.pid,
    ),
  )
  const progress = { toolName: 'edit', toolArgs: { path: '/a.ts' } }
  expect((await report('postToolUse', id, progress)).json).toEqual({ ok: true, action: 'recorded' })
  // Otherwise a report could be guessed after it is erased, because keys stay.
  const digest = hash('sha256', JSON.stringify([id, 'postToolUse', progress]))
  expect(filesHolding(assistant.directory, digest)).toEqual([])
  const before = (await assistant.events()).at(-1).seq
  const ignored: [unknown, unknown, unknown?][] = [
    ['postToolUse', id, progress],
    ['sessionEnd', queued, { reason: 'complete' }],
    ['sessionEnd', 'no-such-task', { reason: 'complete' }],
    ['sessionEnd', `${id}x`],
    ['sessionStart', id],
    ['constructor', id],
    ['preToolUse', id, { a: 1 }],
  ]
  for (const [hookType, taskId, payload] of ignored) {
    const answer = await report(hookType, taskId, payload)
    expect([answer.status, answer.json]).toEqual([200, { ok: true, action: 'ignored' }])
  }
  const malformed: unknown[] = [
    { hookType: 'sessionEnd', taskId: id },
    { hookType: 'sessionEnd', payload: {} },
    { taskId: id, payload: {} },
    { hookType: 7, taskId: id, payload: {} },
    { hookType: 'sessionEnd', taskId: [id], payload: {} },
    { hookType: 'sessionEnd', taskId: id, payload: 'junk' },
    { hookType: 'sessionEnd', taskId: id, payload: [1] },
    { hookType: 'sessionEnd', taskId: id, payload: null },
    [],
    '{"hookType":"sessionEnd"',
    `{"hookType":"sessionEnd","taskId":"${id}","payload":{"__proto__":{"reason":"error"}}}`,
  ]
  for (const content of malformed) {
    const answer = await assistant.client.send('POST', '/api/copilot/callback', content, {
      headers: { 'content-type': 'application/json' },
    })
    expect([content, answer.status]).toEqual([content, 400])
  }
  const huge = { hookType: 'sessionEnd', taskId: id, payload: { result: 'x'.repeat(1_100_000) } }
  expect((await assistant.client.post('/api/copilot/callback', huge)).status).toBe(413)
  expect((await assistant.events()).at(-1).seq).toBe(before)

  const both = await Promise.all([
    report('sessionEnd', id, { reason: 'complete', result: 'One' }),
    report('sessionEnd', id, { reason: 'complete', result: 'Two' }),
    report('errorOccurred', id, { error: 'Three' }),
  ])
  expect(both.map(({ json }) => json.action).sort()).toEqual(['ignored', 'ignored', 'recorded'])
  await assistant.settled(id)
  expect((await report('sessionEnd', id, { reason: 'error' })).json.action).toBe('ignored')
  expect((await report('postToolUse', id, { toolName: 'late' })).json.action).toBe('ignored')
  const { ended, deliveries } = await factsOf(assistant)
  expect(ended).toHaveLength(1)
  expect(deliveries).toHaveLength(1)
  expect(await assistant.client.post(`/api/tasks/${queued}/cancel`)).toMatchObject({ status: 200 })
})

test('limits the stored output of a task', async () => {
  const assistant = await startWithAssistant()
  const id = await assistant.dispatch(steps({ flood: 600_000 }, { flood: 600_000 }, { print: '\nThe end.' }))
  const task = await assistant.settled(id)
  expect(task.outcome.length).toBeLessThanOrEqual(20_001)
  expect(task.outcome).toMatch(/The end\.$/)
  const delivery = (await factsOf(assistant)).deliveries.at(0)
  const whole = (await assistant.client.get(`/api/timeline/spans/${delivery.spanId}`)).json
  const words = whole.events.find(({ seq }: TimelineEvent) => seq === delivery.seq).payload.text
  expect(words.length).toBeLessThan(4_500)
})

test('ends the program and its children on cancel, without notifying the owner', async () => {
  const assistant = await startWithAssistant()
  const file = join(assistant.directory, 'child.pid')
  const id = await assistant.dispatch(
    steps(
      { ignoreTermination: true },
      { leaveBehind: file },
      { tellSituation: `${file}.own` },
      { hang: true },
    ),
  )
  const own = await assistant.until('its program', async () => readJson(`${file}.own`))
  const child = Number(readFileSync(file, 'utf8'))
  expect([isAlive(own.pid), isAlive(child)]).toEqual([true, true])
  const cancelled = await assistant.client.post(`/api/tasks/${id}/cancel`)
  expect(cancelled.json).toMatchObject({ status: 'cancelled', deliveryState: 'none' })
  expect((await assistant.client.post(`/api/tasks/${id}/cancel`)).status).toBe(409)
  expect((await assistant.client.post('/api/tasks/nobody/cancel')).status).toBe(404)
  await assistant.until('both processes to exit', async () => !isAlive(own.pid) && !isAlive(child))
  const { ended, deliveries, signals } = await factsOf(assistant)
  expect(ended).toMatchObject([{ type: 'task.cancelled', payload: { by: 'owner' } }])
  expect([deliveries, signals]).toEqual([[], []])
})

test.each([
  ['a cancellation', ({ client }: AssistantService, id: string) => client.post(`/api/tasks/${id}/cancel`)],
  ['a halt', ({ client }: AssistantService) => client.post('/api/halt')],
  ['the stop of the service', ({ service }: AssistantService) => service.stop()],
])('ends processes that left the group of the program on %s', async (_cause, stop) => {
  const assistant = await startWithAssistant()
  const file = join(assistant.directory, 'child.pid')
  const prompt = steps(
    { leaveBehind: file, detached: true },
    { tellSituation: `${file}.own` },
    { hang: true },
  )
  const id = await assistant.dispatch(prompt)
  await assistant.until('its program', async () => readJson(`${file}.own`))
  const child = Number(readFileSync(file, 'utf8'))
  onTestFinished(() => {
    if (isAlive(child)) process.kill(child, 'SIGKILL')
  })
  await stop(assistant, id)
  await expect.poll(() => isAlive(child), { timeout: 20_000 }).toBe(false)
})

test('runs at most the limit of tasks in order, and applies a raised limit at once', async () => {
  const assistant = await startWithAssistant({ environment: { TASK_LIMIT: '1' } })
  const ids = [
    await assistant.dispatch(steps({ hang: true })),
    await assistant.dispatch(steps({ hang: true })),
    await assistant.dispatch(steps({ hang: true })),
  ]
  const statuses = async () => Promise.all(ids.map(async (id) => (await assistant.task(id)).status))
  await assistant.runs(ids[0] ?? '')
  expect(await statuses()).toEqual(['running', 'queued', 'queued'])
  await assistant.client.put('/api/config', { entries: { TASK_LIMIT: 2 } })
  await assistant.runs(ids[1] ?? '')
  expect(await statuses()).toEqual(['running', 'running', 'queued'])
  await assistant.client.post(`/api/tasks/${ids[0]}/cancel`)
  await assistant.runs(ids[2] ?? '')
  const listed = (await assistant.client.get('/api/tasks?limit=2')).json
  expect(listed.tasks.map(({ id }: TimelineEvent) => id)).toEqual([ids[2], ids[1]])
  const rest = (await assistant.client.get(`/api/tasks?limit=2&cursor=${listed.nextCursor}`)).json
  expect(rest).toMatchObject({ configured: true, tasks: [{ id: ids[0] }], nextCursor: null })
})

test('dispatches nothing without a command and rejects malformed requests', async () => {
  const assistant = await startWithAssistant({ environment: { COPILOT_COMMAND: '' } })
  const answer = await assistant.client.post('/api/tasks', { title: 'A', prompt: 'B' })
  expect([answer.status, answer.json.code]).toEqual([409, 'no_coding_assistant'])
  expect((await assistant.client.get('/api/tasks')).json).toEqual({
    configured: false,
    isolation: null,
    tasks: [],
    nextCursor: null,
  })
  for (const wrong of [{}, { title: '', prompt: 'x' }, { title: 'x', prompt: 'x', notify: 'pigeon' }])
    expect((await assistant.client.post('/api/tasks', wrong)).status).toBe(400)
  expect((await assistant.client.post('/api/tasks', { title: 'x', prompt: 'y'.repeat(20_001) })).status).toBe(
    400,
  )
  expect((await assistant.client.get('/api/tasks/unknown')).status).toBe(404)
})

test('retries a failed task once, however often it is asked to', async () => {
  const assistant = await startWithAssistant()
  const id = await assistant.dispatch(steps({ exit: 1 }), { title: 'Again' })
  await assistant.settled(id)
  const again = await assistant.client.post(`/api/tasks/${id}/retry`)
  expect(again).toMatchObject({ status: 201, json: { title: 'Again', retryOf: id } })
  expect((await assistant.client.post(`/api/tasks/${id}/retry`, { what: 'work' })).json.id).toBe(
    again.json.id,
  )
  await assistant.settled(again.json.id)
  const fine = await assistant.dispatch(steps({ exit: 0 }))
  await assistant.settled(fine)
  expect((await assistant.client.post(`/api/tasks/${fine}/retry`, {})).json.code).toBe('nothing_to_retry')
})
