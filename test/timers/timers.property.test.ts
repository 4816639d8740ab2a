import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timersProjection } from '../../projections/timers.ts'
import { compareViews, replay } from '../../src/storage/replay.ts'
import type { Timers } from '../../src/timers/timers.ts'
import { DAY_MS, HOUR_MS, openTimers } from './timer-harness.ts'

const BY_OWNER = { by: 'owner' } as const

const aStep = fc.record({
  what: fc.constantFrom(
    'set',
    'every',
    'change',
    'repeat',
    'snooze',
    'done',
    'cancel',
    'pass',
    'jump',
    'kill',
  ),
  /** Which timer it concerns, among those set so far. */
  which: fc.nat(5),
  minutes: fc.integer({ min: 1, max: 3 * 24 * 60 }),
})
type Step = typeof aStep extends fc.Arbitrary<infer S> ? S : never

test('fires no occurrence twice and none at a replaced time, whatever happens', {
  tags: ['long'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 5, maxLength: 25 }), async (steps) => {
      const opened = await openTimers()
      let timers = opened.open()
      timers.start()
      for (const step of steps) {
        // The reactor looks before the clock jumps.
        await setImmediate()
        if (step.what === 'kill') {
          await timers.close()
          timers = opened.open()
          timers.start()
        } else await act(timers, step, opened)
      }
      opened.pass(30 * DAY_MS)
      await timers.close()
      // The first may only correct recurring timers after a clock that was ahead.
      for (const _ of [1, 2]) await opened.restart()
      expect(opened.faults).toEqual([])
      const facts = opened.facts()
      const fired = facts.flatMap((event) => (event.type === 'timer.fired' ? [event] : []))
      const keys = fired.map(({ facts: { timerId, occurrence } }) => `${timerId} ${occurrence}`)
      expect(new Set(keys).size).toBe(keys.length)
      for (const {
        seq,
        facts: { timerId, occurrence },
      } of fired) {
        // What was in force when it fired, unless recurrences and clocks moved it on.
        const before = facts.filter((event) => event.seq < seq)
        const set = before.findLast(
          (event) =>
            (event.type === 'timer.set' || event.type === 'timer.changed') && event.facts.timerId === timerId,
        )
        if (set?.type !== 'timer.set' && set?.type !== 'timer.changed')
          throw new Error('fired before it was set')
        if (set.facts.recurrence === null) expect(occurrence).toBe(set.facts.dueAt)
        expect(
          before.some((event) => event.type === 'timer.cancelled' && event.facts.timerId === timerId),
        ).toBe(false)
      }
      expect(opened.timers.active().filter(({ recurrence }) => recurrence === null)).toEqual([])
      for (const timer of opened.timers.open(100)) {
        const last = facts.findLast(
          (event) =>
            (event.type === 'timer.fired' || (event.type === 'timer.missed' && event.facts.missed > 0)) &&
            event.facts.timerId === timer.id,
        )
        expect(last).toMatchObject({ facts: { occurrence: timer.open } })
      }
      const replayed = new Database(':memory:')
      replay({ ledger: opened.storage.ledger, views: replayed, projections: [timersProjection] })
      expect(compareViews(replayed, opened.storage.views, ['timers']).difference).toBeNull()
      replayed.close()
    }),
    { numRuns: 25 },
  )
})

async function act(
  timers: Timers,
  { what, which, minutes }: Step,
  { pass, now }: Awaited<ReturnType<typeof openTimers>>,
): Promise<void> {
  const all = timers.list(100)
  const timer = all[which % Math.max(1, all.length)]
  const at = new Date(now() + minutes * 60_000)
  if (what === 'set') await timers.set({ title: 'Once', dueAt: at, recurrence: null }, BY_OWNER)
  if (what === 'every')
    await timers.set({ title: 'Often', dueAt: null, recurrence: '30 */6 * * *' }, BY_OWNER)
  if (what === 'pass') pass(minutes * 60_000)
  if (what === 'jump') pass((which - 2) * 6 * HOUR_MS)
  if (!timer) return
  if (what === 'change') await timers.change(timer.id, { dueAt: at, title: `At ${minutes}` }, BY_OWNER)
  if (what === 'repeat')
    await timers.change(timer.id, { recurrence: minutes % 2 ? null : `${minutes % 60} */5 * * *` }, BY_OWNER)
  if (what === 'snooze') await timers.snooze(timer.id, at, BY_OWNER)
  if (what === 'done') await timers.done(timer.id, BY_OWNER)
  if (what === 'cancel') await timers.cancel([timer.id], BY_OWNER)
}
