import { expect, test } from 'vitest'
import type { EventOf } from '../../ledger/event.ts'
import type { EventType } from '../../ledger/events/catalogue.ts'
import type { AnyEvent } from '../../ledger/reader.ts'
import { DAY_MS, HOUR_MS, openTimers, YEAR_MS } from './timer-harness.ts'

const BY_OWNER = { by: 'owner' } as const
const MINUTE_MS = 60_000
type Open = Awaited<ReturnType<typeof openTimers>>

const ofType = <T extends EventType>(all: readonly AnyEvent[], type: T) =>
  all.filter((event): event is EventOf<T> & AnyEvent => event.type === type)

const firedIn = ({ facts }: Open) => ofType(facts(), 'timer.fired').map((event) => event.facts)

/** Sets a timer and lets it fire. */
async function fire(opened: Open, title = 'Water the plants') {
  const timer = await opened.set(title)
  opened.pass(MINUTE_MS)
  await opened.restart()
  return timer
}

test('fires a changed timer once, at its new time and with its new title, across restarts', async () => {
  const opened = await openTimers()
  const { timers, now, pass, restart } = opened
  const { id } = await opened.set('Dentist')
  const dueAt = new Date(now() + 2 * HOUR_MS)
  const changed = await timers.change(id, { title: 'Dr Weber', dueAt }, BY_OWNER)
  expect(changed).toMatchObject({
    status: 'set',
    timer: { id, title: 'Dr Weber', dueAt: dueAt.toISOString() },
  })
  pass(HOUR_MS)
  await restart()
  expect(firedIn(opened)).toEqual([])
  pass(HOUR_MS)
  await restart()
  await restart()
  expect(firedIn(opened)).toEqual([{ timerId: id, occurrence: dueAt.toISOString(), nextAt: null }])
  expect(opened.signals()).toEqual([expect.stringContaining('“Dr Weber” is due')])
  expect(await timers.change(id, { title: 'Late' }, BY_OWNER)).toEqual({ status: 'refused', reason: 'over' })
})

test('never fires at the old time if the change comes while the timer fires', async () => {
  const opened = await openTimers()
  const { id } = await opened.set('Dentist')
  opened.pass(MINUTE_MS)
  const started = opened.open()
  const dueAt = new Date(opened.now() + HOUR_MS)
  const change = started.change(id, { dueAt }, BY_OWNER)
  started.start()
  await change
  await started.close()
  expect(firedIn(opened)).toEqual([])
  expect(started.get(id)).toMatchObject({ status: 'active', dueAt: dueAt.toISOString() })
})

test('changes a recurrence, moves one occurrence, and turns recurring into once', async () => {
  const opened = await openTimers()
  const { timers, now, pass, restart } = opened
  pass(DAY_MS - (now() % DAY_MS))
  const midnight = now()
  const { id } = await opened.every('0 9 * * *', 'fire_once')
  const dueHour = () => (Date.parse(timers.get(id)?.dueAt ?? '') - midnight) / HOUR_MS
  await timers.change(id, { recurrence: '0 7 * * *' }, BY_OWNER)
  expect(dueHour()).toBe(7)
  await timers.change(id, { dueAt: new Date(midnight + 17 * HOUR_MS) }, BY_OWNER)
  pass(17 * HOUR_MS)
  await restart()
  expect(firedIn(opened)).toHaveLength(1)
  expect(dueHour()).toBe(24 + 7)
  await timers.change(id, { title: 'Stretch' }, BY_OWNER)
  expect([dueHour(), timers.get(id)?.recurrence]).toEqual([24 + 7, '0 7 * * *'])
  await timers.change(id, { recurrence: null }, BY_OWNER)
  pass(DAY_MS)
  await restart()
  expect(timers.get(id)).toMatchObject({ status: 'done', recurrence: null })
  expect(firedIn(opened)).toHaveLength(2)
})

test('appends nothing for a change that changes nothing, and refuses what cannot be', async () => {
  const { timers, set, every, facts, now } = await openTimers()
  const once = await set('Tea')
  const daily = await every('0 9 * * *', 'fire_once')
  const before = facts().length
  const same = { title: 'Tea', dueAt: new Date(once.dueAt), recurrence: null }
  expect(await timers.change(once.id, same, BY_OWNER)).toEqual({ status: 'set', timer: once })
  expect(await timers.change(daily.id, { recurrence: '0 9 * * *' }, BY_OWNER)).toMatchObject({
    status: 'set',
  })
  const past = await timers.change(once.id, { dueAt: new Date(now() - DAY_MS) }, BY_OWNER)
  const never = await timers.change(once.id, { recurrence: '0 0 30 2 *' }, BY_OWNER)
  expect([past, never]).toEqual([
    { status: 'refused', reason: 'past' },
    { status: 'refused', reason: 'never' },
  ])
  await expect(timers.change(once.id, { recurrence: 'daily' }, BY_OWNER)).rejects.toThrow(/not a recurrence/)
  expect(facts()).toHaveLength(before)
})

test('keeps a fired reminder open until it is done, and done twice is done once', async () => {
  const opened = await openTimers()
  const { timers } = opened
  const { id } = await fire(opened)
  const [{ open } = { open: null }] = timers.open(10)
  expect(timers.open(10)).toMatchObject([{ id, status: 'done', open: timers.get(id)?.dueAt, settled: null }])
  expect(await timers.done(id, BY_OWNER)).toBe('done')
  expect(await timers.done(id, BY_OWNER, open ?? '')).toBe('done')
  expect(timers.open(10)).toEqual([])
  expect(timers.get(id)).toMatchObject({ open: null, settled: 'done' })
  expect(ofType(opened.facts(), 'timer.done')).toHaveLength(1)
  const early = await opened.set('Later')
  expect(await timers.done(early.id, BY_OWNER)).toBe('not_due')
})

test('snoozes an open reminder once, which reminds again, and can be snoozed again', async () => {
  const opened = await openTimers()
  const { timers, now, pass, restart } = opened
  const { id } = await fire(opened)
  const until = new Date(now() + 10 * MINUTE_MS)
  const first = await timers.snooze(id, until, BY_OWNER)
  const again = await timers.snooze(id, new Date(now() + HOUR_MS), BY_OWNER)
  expect(again).toEqual(first)
  if (first.status !== 'set') throw new Error(first.reason)
  const { occurrence } = firedIn(opened)[0] ?? {}
  expect(first.timer).toMatchObject({
    ...{ title: 'Water the plants', dueAt: until.toISOString(), recurrence: null },
    snoozes: { timerId: id, occurrence },
  })
  expect(timers.get(id)).toMatchObject({ open: null, settled: 'snoozed' })
  pass(10 * MINUTE_MS)
  await restart()
  await restart()
  expect(firedIn(opened)).toHaveLength(2)
  expect(timers.open(10)).toMatchObject([{ id: first.timer.id }])
  const third = await timers.snooze(first.timer.id, new Date(now() + HOUR_MS), BY_OWNER)
  expect(third).toMatchObject({ status: 'set', timer: { snoozes: { timerId: first.timer.id } } })
  await timers.done(first.timer.id, BY_OWNER)
  expect(timers.get(first.timer.id)?.settled).toBe('snoozed')
})

test('refuses to snooze what is not open, and a later occurrence replaces an open one', async () => {
  const opened = await openTimers()
  const { timers, pass, now, restart } = opened
  const { id } = await opened.every('0 9 * * *', 'fire_once')
  const snooze = (occurrence?: string) => timers.snooze(id, new Date(now() + HOUR_MS), BY_OWNER, occurrence)
  expect(await snooze()).toEqual({ status: 'refused', reason: 'not_due' })
  for (const _ of [1, 2]) {
    pass(DAY_MS)
    await restart()
  }
  const [first, second] = firedIn(opened).map(({ occurrence }) => occurrence)
  expect(timers.open(10)).toMatchObject([{ id, status: 'active', open: second }])
  expect(await snooze(first)).toEqual({ status: 'refused', reason: 'over' })
  expect(await timers.done(id, BY_OWNER, first)).toBe('done')
  expect(timers.get(id)?.open).toBe(second)
  expect(await snooze(second)).toMatchObject({ status: 'set' })
  expect(timers.get(id)).toMatchObject({ status: 'active', settled: 'snoozed' })
  pass(DAY_MS)
  await restart()
  expect(timers.get(id)?.open).toBe(firedIn(opened).findLast(({ timerId }) => timerId === id)?.occurrence)
  await timers.cancel([id], BY_OWNER)
  expect(timers.get(id)?.open).toBeNull()
})

test('lists what was missed while the service was down, fired late or skipped', async () => {
  const opened = await openTimers()
  const { timers, now, pass, restart } = opened
  const late = await opened.set('Late')
  const dueAt = new Date(now() + MINUTE_MS)
  const skipped = await timers.set(
    { title: 'Skipped', dueAt, recurrence: null, missedPolicy: 'skip' },
    BY_OWNER,
  )
  pass(HOUR_MS)
  await restart()
  const open = timers.open(10).toSorted((a, b) => a.title.localeCompare(b.title))
  expect(open).toMatchObject([
    { title: 'Late', open: late.dueAt, lastFiredAt: new Date(now()).toISOString() },
    { title: 'Skipped', open: dueAt.toISOString(), lastFiredAt: null },
  ])
  if (skipped.status === 'set') await timers.done(skipped.timer.id, BY_OWNER)
  expect(timers.open(10).map(({ title }) => title)).toEqual(['Late'])
})

test('lists a reminder as due for two weeks after it fired or was missed, and lets it be ticked off later', async () => {
  const opened = await openTimers()
  const { timers, now, pass, restart } = opened
  const dueAt = new Date(now() + MINUTE_MS)
  await timers.set({ title: 'Skipped', dueAt, recurrence: null, missedPolicy: 'skip' }, BY_OWNER)
  const { id } = await opened.set('Late')
  // The service was off for a year: both became due when it started.
  pass(YEAR_MS)
  await restart()
  pass(14 * DAY_MS - 1)
  expect(timers.open(10).map(({ title }) => title)).toHaveLength(2)
  expect(timers.get(id)?.open).toBe(dueAt.toISOString())
  pass(1)
  expect(timers.open(10)).toEqual([])
  expect(timers.get(id)).toMatchObject({ open: null, settled: null, status: 'done' })
  // Its buttons on the timeline still act.
  expect(await timers.done(id, BY_OWNER)).toBe('done')
  expect(timers.get(id)).toMatchObject({ settled: 'done' })
})

test('erases a changed and a snoozed timer together with the words that they keep', async () => {
  const opened = await openTimers()
  const { storage, timers, set, now, pass, restart } = opened
  const { id } = await set('Heliotrope')
  await timers.change(id, { dueAt: new Date(now() + 2 * MINUTE_MS) }, BY_OWNER)
  const changed = ofType(opened.facts(), 'timer.changed')
  expect(changed).toMatchObject([{ derivedFrom: [expect.any(Number)], body: { title: 'Heliotrope' } }])
  const fired = await fire(opened, 'Quokka')
  const snoozed = await timers.snooze(fired.id, new Date(now() + HOUR_MS), BY_OWNER)
  if (snoozed.status !== 'set') throw new Error(snoozed.reason)
  expect(storage.ledger.readSeqs([snoozed.timer.setSeq])).toMatchObject([{ derivedFrom: [fired.setSeq] }])
  await storage.erase([...changed.map(({ seq }) => seq), snoozed.timer.setSeq], 'owner')
  expect(await timers.change(id, { title: 'New' }, BY_OWNER)).toEqual({ status: 'refused', reason: 'over' })
  pass(DAY_MS)
  await restart()
  expect([timers.get(id)?.status, timers.get(snoozed.timer.id)?.status]).toEqual(['cancelled', 'cancelled'])
})

test('keeps a changed timer through a clock that was ahead and is corrected', {
  tags: ['long'],
}, async () => {
  const opened = await openTimers()
  const { timers, now, pass, restart } = opened
  pass(DAY_MS - (now() % DAY_MS))
  const midnight = now()
  const { id } = await opened.every('0 9 * * *', 'fire_once')
  const started = opened.open()
  started.start()
  await timers.change(id, { recurrence: '0 10 * * *' }, BY_OWNER)
  pass(30 * DAY_MS)
  await expect.poll(() => Date.parse(timers.get(id)?.dueAt ?? '')).toBeGreaterThan(midnight + 29 * DAY_MS)
  pass(-30 * DAY_MS)
  await opened.set('Wakes the reactor')
  await expect.poll(() => timers.get(id)?.dueAt).toBe(new Date(midnight + 10 * HOUR_MS).toISOString())
  await started.close()
  pass(10 * HOUR_MS)
  await restart()
  expect(firedIn(opened).at(-1)).toMatchObject({
    occurrence: new Date(midnight + 10 * HOUR_MS).toISOString(),
  })
})
