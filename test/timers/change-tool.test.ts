import { expect, test } from 'vitest'
import { changeTimer } from '../../src/timers/change-tool.ts'
import { newId } from '../support/writer.ts'
import { DAY_MS, HOUR_MS, openTimers } from './timer-harness.ts'

type Opened = Awaited<ReturnType<typeof openTimers>>
const NONE = { query: null, title: null, at: null, by_minutes: null, recurrence: null, done: null }

/** The tool as a turn calls it. Each call has a key of its own. */
function toolOf({ timers, now }: Opened) {
  const tool = changeTimer(timers)
  const contextOf = (callId: string) => ({
    ...{ turnId: 't', callId, conversationId: null, spanId: null, channel: 'chat', messageSeq: null },
    ...{ key: `tool:t:${callId}`, timezone: 'Europe/Berlin', nowMs: now(), calledSeq: 1 },
    signal: new AbortController().signal,
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test reads results of any shape.
  const run = async (args: object, callId = newId()): Promise<any> =>
    tool.run({ ...NONE, ...args }, contextOf(callId) as never)
  const plan = (args: object) => tool.plan?.({ ...NONE, ...args }, contextOf('p') as never)
  return { run, plan }
}

async function openWithTool() {
  const opened = await openTimers({ timezone: 'Europe/Berlin' })
  // Ten in the morning in Berlin.
  opened.pass(Date.UTC(2027, 5, 1, 8) - opened.now())
  const at = async (title: string, dueAt: string) => {
    const outcome = await opened.timers.set(
      { title, dueAt: new Date(dueAt), recurrence: null },
      { by: 'owner' },
    )
    return outcome.status === 'set' ? outcome.timer.id : ''
  }
  const dueAt = (id: string) => opened.timers.get(id)?.dueAt
  return { ...opened, ...toolOf(opened), at, dueAt }
}

test('moves a timer to a time on its day, a day at its time, a moment or later, or changes its title', async () => {
  const { run, at, dueAt, timers } = await openWithTool()
  const id = await at('Dentist, Dr Weber', '2027-06-04T07:00:00Z')
  expect((await run({ query: 'dentist', at: '17:00' })).ok).toBe(true)
  expect(dueAt(id)).toBe('2027-06-04T15:00:00.000Z')
  await run({ query: 'dentist', at: '2027-06-05T09:00' })
  expect(dueAt(id)).toBe('2027-06-05T07:00:00.000Z')
  await run({ query: 'dentist', at: '2027-06-06' })
  expect(dueAt(id)).toBe('2027-06-06T07:00:00.000Z')
  await run({ query: 'dentist', at: '2027-06-05' })
  await run({ query: 'dentist', by_minutes: 60 }, 'same')
  await run({ query: 'dentist', by_minutes: 60 }, 'same')
  expect(dueAt(id)).toBe('2027-06-05T08:00:00.000Z')
  await run({ query: 'dentist', by_minutes: -60 })
  await run({ query: 'dentist', title: 'Hygienist' })
  expect(timers.get(id)).toMatchObject({ title: 'Hygienist', dueAt: '2027-06-05T07:00:00.000Z' })
  await run({ query: id, recurrence: '0 9 * * 1' })
  expect(timers.get(id)).toMatchObject({ recurrence: '0 9 * * 1', dueAt: '2027-06-07T07:00:00.000Z' })
})

test('snoozes the reminder that was due last, once, though its call runs again after a crash', async () => {
  const { run, at, timers, pass, restart, now } = await openWithTool()
  const first = await at('Feed the cat', '2027-06-01T08:05:00Z')
  const last = await at('Check the oven', '2027-06-01T08:06:00Z')
  pass(6 * 60_000)
  await restart()
  const args = { by_minutes: 60 }
  const done = await run(args, 'same')
  expect(done.data.timer).toMatchObject({
    title: 'Check the oven',
    dueAt: new Date(now() + HOUR_MS).toISOString(),
  })
  expect(await run(args, 'same')).toEqual(done)
  expect([timers.get(first)?.settled, timers.get(last)?.settled]).toEqual([null, 'snoozed'])
  const { data } = await run({ query: 'cat', at: '10:00' })
  expect(data.timer.dueAt).toBe('2027-06-02T08:00:00.000Z')
})

test('ticks off a reminder that is due, by its words or the last one, once, and none that is to come', async () => {
  const { run, plan, at, timers, pass, restart } = await openWithTool()
  const [soup, cat] = [
    await at('Soup off the stove', '2027-06-01T08:05:00Z'),
    await at('Feed the cat', '2027-06-01T08:06:00Z'),
  ]
  await at('Dentist', '2027-06-04T07:00:00Z')
  pass(6 * 60_000)
  await restart()
  expect(await plan({ query: 'soup', done: true })).toMatchObject({
    deed: { title: 'Tick off the reminder “Soup off the stove”', arguments: { query: soup, done: true } },
  })
  expect(await run({ query: 'soup', done: true }, 'same')).toMatchObject({ ok: true, data: { done: true } })
  expect(timers.get(soup)?.settled).toBe('done')
  expect(await run({ done: true })).toMatchObject({ ok: true, data: { timer: { title: 'Feed the cat' } } })
  expect(timers.get(cat)?.settled).toBe('done')
  expect(timers.open(9)).toEqual([])
  expect(await run({ query: 'dentist', done: true })).toMatchObject({ ok: false, reason: 'not_due' })
  // Of two with the same words, the one that is due.
  const twice = [
    await at('Feed the dog', '2027-06-01T08:12:00Z'),
    await at('Feed the dog', '2027-06-09T08:12:00Z'),
  ]
  pass(6 * 60_000)
  await restart()
  expect(await run({ query: 'dog', done: true })).toMatchObject({ data: { timer: { id: twice[0] } } })
  expect(await plan({ by_minutes: 60, query: 'dentist' })).toMatchObject({ deed: { isNote: false } })
})

test('plans what it would do, with exact arguments, and refuses what is unclear', async () => {
  const { run, plan, at } = await openWithTool()
  const id = await at('Dentist', '2027-06-04T07:00:00Z')
  expect(await plan({ query: 'dentist', by_minutes: 30 })).toMatchObject({
    deed: {
      subject: `timers:${id}`,
      arguments: { ...NONE, query: id, at: '2027-06-04T07:30:00.000Z' },
      title: 'Change the reminder “Dentist”',
      detail: 'Friday, 4 June 2027 at 09:30',
    },
  })
  await at('Dentist for Ada', '2027-06-04T07:00:00Z')
  const reason = async (args: object) => (await run(args)).reason
  expect(await reason({ query: 'dentist', at: '17:00' })).toBe('ambiguous')
  expect(await reason({ query: 'Ada' })).toBe('nothing_to_change')
  expect(await reason({ query: 'cat', at: '17:00' })).toBe('not_found')
  for (const args of [{ at: 'soon' }, { at: '25:00' }, { by_minutes: 1e300 }])
    expect([args, await reason({ query: 'Ada', ...args })]).toEqual([args, 'invalid_time'])
  expect(await reason({ query: 'Ada', by_minutes: -DAY_MS })).toBe('past')
  expect(await reason({ query: 'Ada', recurrence: 'daily' })).toBe('invalid_recurrence')
})
