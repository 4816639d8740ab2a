import { expect, test } from 'vitest'
import { DAY_MS, HOUR_MS, openTimers, YEAR_MS } from './timer-harness.ts'

const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('cancels a timer whose words are erased and delays one whose words are hidden', async () => {
  const { storage, timers, set, signals, pass } = await openTimers()
  const [erased, hidden] = [await set('Heliotrope'), await set('Water the plants')]
  await storage.erase([erased.setSeq], 'owner')
  const facts = { erasureId: 'e1', seqs: [hidden.setSeq], part: 0, parts: 1 }
  await storage.append([
    {
      type: 'erasure.requested',
      actor: 'owner',
      facts: {
        ...facts,
        target: 'span',
        targetId: 's',
        from: null,
        to: null,
        kinds: [],
        eraseAt: new Date(Date.now() + 60_000).toISOString(),
      },
    },
  ])
  pass(61_000)
  timers.start()
  await expect.poll(() => timers.get(erased.id)?.status).toBe('cancelled')
  await soon(100)
  expect(timers.get(hidden.id)?.status).toBe('active')
  expect(signals()).toEqual([])
  await storage.append([{ type: 'erasure.undone', actor: 'owner', facts }])
  await expect.poll(() => timers.get(hidden.id)?.status).toBe('done')
  expect(signals()).toEqual([expect.stringContaining('Water the plants')])
})

test('cancels all of several timers or none', async () => {
  const { timers, disk, set } = await openTimers()
  const both = [await set('Water the plants'), await set('Feed the cat')]
  const ids = both.map(({ id }) => id)
  const statuses = () => ids.map((id) => timers.get(id)?.status)
  disk.refused = ids[1] ?? ''
  await expect(timers.cancel(ids, { by: 'owner' })).rejects.toThrow()
  expect(statuses()).toEqual(['active', 'active'])
  disk.refused = ''
  expect(await timers.cancel(ids, { by: 'owner' })).toBe(true)
  expect(statuses()).toEqual(['cancelled', 'cancelled'])
  expect(await timers.cancel(ids, { by: 'owner' })).toBe(false)
})

test('retries a due timer while the disk is full and fires it once there is room', async () => {
  const { timers, disk, faults, set, signals, pass } = await openTimers()
  const timer = await set('Water the plants')
  disk.isFull = true
  pass(61_000)
  timers.start()
  await expect.poll(() => faults.length).toBeGreaterThan(0)
  await soon(500)
  expect(faults.length).toBeLessThan(3)
  disk.isFull = false
  await expect.poll(() => timers.get(timer.id)?.status).toBe('done')
  expect(signals()).toHaveLength(1)
})

test('does not hold up other timers behind one that cannot fire', async () => {
  const { timers, disk, faults, set, signals, pass } = await openTimers()
  await set('Heliotrope')
  await set('Water the plants')
  disk.refused = 'Heliotrope'
  pass(61_000)
  timers.start()
  await expect.poll(signals).toEqual([expect.stringContaining('Water the plants')])
  expect(faults).toMatchObject([{ name: 'InvalidEvent' }])
  disk.refused = ''
  await expect.poll(signals).toHaveLength(2)
})

test('repeats the words of a recurring timer on each occurrence', async () => {
  const { storage, open, every, pass } = await openTimers()
  const timer = await every('0 9 * * *', 'fire_once')
  const reminders = () =>
    storage.ledger
      .readRange(1, 1000)
      .flatMap((event) =>
        event.type === 'timer.fired' || event.type === 'timer.missed' ? [[event.type, event.body?.text]] : [],
      )
  for (const days of [1, 1, 3]) {
    pass(days * DAY_MS)
    const started = open()
    started.start()
    await started.close()
  }
  expect(reminders()).toEqual([
    ['timer.fired', timer.title],
    ['timer.fired', timer.title],
    ['timer.missed', timer.title],
    ['timer.fired', timer.title],
  ])
})

test('keeps running and waiting while the views are unreadable', async () => {
  const { timers, disk, faults, set, signals, pass } = await openTimers()
  await set('Heliotrope')
  timers.start()
  disk.isUnreadable = true
  // The timer is set, but its state cannot be read back.
  await expect(set('Water the plants')).rejects.toThrow(/malformed/)
  await expect.poll(() => faults.length).toBeGreaterThan(0)
  disk.isUnreadable = false
  pass(61_000)
  await expect.poll(() => signals().length).toBe(2)
})

test('tells the owner in local time when a late timer was due', async () => {
  const { timers, signals, pass, now, set } = await openTimers({ timezone: 'Asia/Kathmandu' })
  pass(Date.UTC(2027, 11, 31, 18, 29) - now())
  await set('Fireworks')
  pass(HOUR_MS)
  timers.start()
  await expect.poll(() => signals().length).toBe(1)
  expect(signals()[0]).toContain('due on Saturday, 1 January 2028 at 00:15')
})

test('fires a timer with a last day up to that day, and is then done with it', async () => {
  const { timers, facts, now, pass, restart, every } = await openTimers()
  // Starts at midnight.
  pass(DAY_MS - (now() % DAY_MS))
  const lastDay = new Date(now() + DAY_MS).toISOString().slice(0, 10)
  const { id, recurrence } = await every(`0 8 * * * until ${lastDay}`, 'fire_once')
  expect(recurrence).toBe(`0 8 * * * until ${lastDay}`)
  for (const status of ['active', 'done', 'done']) {
    pass(9 * HOUR_MS)
    await restart()
    expect(timers.get(id)?.status).toBe(status)
    pass(15 * HOUR_MS)
  }
  expect(facts().filter(({ type }) => type === 'timer.fired')).toHaveLength(2)
  const refused = { status: 'refused', reason: 'never' }
  for (const dueAt of [null, new Date(now() + DAY_MS)])
    expect(await timers.set({ title: 'Late', dueAt, recurrence }, { by: 'owner' })).toEqual(refused)
  const other = await every('0 8 * * *', 'fire_once')
  expect(
    await timers.change(other.id, { recurrence, dueAt: new Date(now() + DAY_MS) }, { by: 'owner' }),
  ).toEqual(refused)
})

test('keeps recurring timers and fires nothing twice when a clock years ahead is corrected', async () => {
  const { storage, timers, now, pass, every } = await openTimers()
  /** Moves the clock and waits until everything due has been handled. */
  async function moveClock(ms: number): Promise<void> {
    pass(ms)
    const outcome = await timers.set(
      { title: 'Now', dueAt: new Date(now()), recurrence: null },
      { by: 'owner' },
    )
    const id = outcome.status === 'set' ? outcome.timer.id : ''
    await expect.poll(() => timers.get(id)?.status).toBe('done')
  }
  // Starts at midnight, so that the moments below come before the next occurrence.
  pass(86_400_000 - (now() % 86_400_000))
  const daily = await every('0 9 * * *', 'fire_once')
  const skipping = await every('30 10 * * *', 'skip')
  const later = await every('15 11 * * *', 'fire_once', new Date(Date.parse(daily.dueAt) + 20 * YEAR_MS))
  const dueAts = () => [daily, skipping, later].map(({ id }) => timers.get(id)?.dueAt)
  const asSet = dueAts()
  const fired = () =>
    storage.ledger
      .readRange(1, 1000)
      .filter((event) => event.type === 'timer.fired' && event.facts.timerId === daily.id)
  timers.start()
  await moveClock(10 * YEAR_MS)
  await expect.poll(dueAts).not.toContain(daily.dueAt)
  expect(dueAts()).not.toContain(skipping.dueAt)
  const setAhead = await every('15 9 * * *', 'fire_once')
  const ownFirst = await every('45 9 * * *', 'fire_once', new Date(now() + 20 * YEAR_MS))
  await moveClock(-10 * YEAR_MS)
  await expect.poll(dueAts).toEqual(asSet)
  expect(Date.parse(timers.get(setAhead.id)?.dueAt ?? '') - now()).toBeLessThanOrEqual(86_400_000)
  expect(timers.get(ownFirst.id)?.dueAt).toBe(ownFirst.dueAt)
  expect(fired()).toHaveLength(1)

  // Setting the clock back by less than a day does not fire today's occurrence again.
  await moveClock(Date.parse(daily.dueAt) - now() - 5)
  pass(60_005)
  await expect.poll(() => fired().length).toBe(2)
  const next = dueAts()
  await moveClock(-3_600_000)
  await moveClock(3_600_000)
  expect([dueAts()[0], dueAts()[2]]).toEqual([next[0], next[2]])
  expect(fired()).toHaveLength(2)
})

test('holds up no timer after the clock was days ahead, at any later moment', async () => {
  const { storage, timers, open, now, every, pass } = await openTimers()
  pass(DAY_MS - (now() % DAY_MS))
  const midnight = now()
  const daily = await every('0 9 * * *', 'fire_once')
  const skipping = await every('30 10 * * *', 'skip')
  const [nine, halfPastTen] = [9 * HOUR_MS, 10.5 * HOUR_MS]
  /** When both timers are due after everything due at this moment has been handled. */
  async function dueAfter(ms: number): Promise<number[]> {
    pass(midnight + ms - now())
    const started = open()
    started.start()
    await started.close()
    return [daily, skipping].map(({ id }) => Date.parse(timers.get(id)?.dueAt ?? '') - midnight)
  }
  // Noon two days ahead: the nine o'clock of that day fires.
  const inTwoDays = 2 * DAY_MS + 12 * HOUR_MS
  expect(await dueAfter(inTwoDays)).toEqual([3 * DAY_MS + nine, 3 * DAY_MS + halfPastTen])
  expect(await dueAfter(0)).toEqual([nine, halfPastTen])

  // Both are late at this moment, as they were then.
  expect(await dueAfter(DAY_MS + 12 * HOUR_MS)).toEqual([2 * DAY_MS + nine, 2 * DAY_MS + halfPastTen])
  expect((await dueAfter(2 * DAY_MS + nine + 10))[0]).toBe(3 * DAY_MS + nine)
  expect((await dueAfter(3 * DAY_MS + nine + 10))[0]).toBe(4 * DAY_MS + nine)
  const fired = storage.ledger.readRange(1, 1000).flatMap((event) => {
    const isOurs = event.type === 'timer.fired' && event.facts.timerId === daily.id
    return isOurs ? [(Date.parse(event.facts.occurrence) - midnight - nine) / DAY_MS] : []
  })
  expect(fired).toEqual([2, 1, 3])
})
