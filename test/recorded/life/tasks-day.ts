import { steps } from '../../doubles/assistant/assistant.ts'
import { httpFaults } from '../../doubles/model/script.ts'
import type { Day, Life } from './life.ts'

const done = steps({ print: 'The gate is green.' })

/** Tasks for the coding assistant, and timers, with their outcomes and deliveries. */
export async function tasksDay(life: Life): Promise<void> {
  const day = await life.begin('2026-11-06T08:00:00.000Z')
  await tasks(life, day)
  await timers(life, day)
  await day.end()
}

async function handOver(day: Day, title: string, prompt: string, notify?: string): Promise<string> {
  return (await day.post('/api/tasks', { title, prompt, ...(notify ? { notify } : {}) })).json.id
}

const isRunning = (day: Day, id: string) =>
  day.until('the task to run', async () => {
    const events = await day.events()
    return events.some(
      ({ type, payload }) => type === 'task.progressed' && payload.taskId === id && payload.pid,
    )
  })

const waitForOutcome = (day: Day, id: string) =>
  day.until('the outcome of a task', async () => {
    const { status, deliveryState } = (await day.client.get(`/api/tasks/${id}`)).json
    return ['finished', 'failed'].includes(status) && deliveryState !== 'pending'
  })

async function tasks(life: Life, day: Day): Promise<void> {
  life.model.wakings.push({ text: 'The gate is painted.' })
  await waitForOutcome(day, await handOver(day, 'Paint the gate', done))
  const broken = steps({ complain: 'It needs a newer compiler.' }, { exit: 2 })
  const failed = await handOver(day, 'Mend the build', broken)
  await waitForOutcome(day, failed)
  await day.post(`/api/tasks/${failed}/retry`, { what: 'work' }, [201])
  // A task that reports through hooks and ends with a report.
  const reports = steps(
    { report: 'postToolUse', payload: { toolName: 'bash', toolArgs: { command: 'npm test' } } },
    { report: 'sessionEnd', payload: { reason: 'complete' } },
  )
  await waitForOutcome(day, await handOver(day, 'Sort the photos', reports))
  const hanging = await handOver(day, 'Watch the door', steps({ hang: true }))
  await isRunning(day, hanging)
  await day.post(`/api/tasks/${hanging}/cancel`)
  life.telephony.fail(...[1, 2].map(() => ({ type: 'refuse', status: 503, code: 20503 }) as const))
  await waitForOutcome(day, await handOver(day, 'Text me', done, 'sms'))
  life.telephony.fail({ type: 'refuse', status: 400, code: 21211 })
  await waitForOutcome(day, await handOver(day, 'Text me in vain', done, 'sms'))
  life.webhook.answer(500, 204)
  await waitForOutcome(day, await handOver(day, 'Tell my webhook', done, 'webhook'))
  life.webhook.answer(410)
  await waitForOutcome(day, await handOver(day, 'Tell my webhook in vain', done, 'webhook'))
  await day.say(
    'Have the fence painted.',
    { toolCalls: [{ name: 'dispatch_task', arguments: { title: 'Fence', prompt: done, notify: 'chat' } }] },
    { text: 'It is under way.' },
  )
  await day.quiet()
}

async function timers(life: Life, day: Day): Promise<void> {
  const inMs = (ms: number) => new Date(day.clock.nowMs() + ms).toISOString()
  const set = async (more: object) => (await day.post('/api/timers', more)).json.id
  const afterSeq = await day.head()
  // The model fails for the first activation and is asked again later.
  life.model.wakings.push({ fault: httpFaults.badRequest('no') }, { text: 'The bread is ready.' })
  await set({ title: 'Take the bread out', at: inMs(21_000) })
  await day.seen('timer.fired', afterSeq)
  await day.seen('activation.failed', afterSeq)
  const unwanted = await set({ title: 'Unwanted', at: '2026-11-20T08:00:00.000Z' })
  await day.send('DELETE', `/api/timers/${unwanted}`)
  await set({ title: 'Stretch', recurrence: '0 * * * *', missedPolicy: 'skip' })
  await set({ title: 'Water the plants', recurrence: '5 9 * * 1-5' })
  await set({ title: 'Check in for Madrid', at: '2031-04-11T08:00' })
}
