import { expect, test } from 'vitest'
import { createReminders } from '../../../web/src/app/reminders.ts'
import type { ToastOptions } from '../../../web/src/design/toaster.ts'
import { event } from '../timeline/events.ts'

type Shown = { readonly text: string; readonly options: ToastOptions }

/** Reminders, with the toasts now shown and every count reported. */
function startReminders() {
  const toasts: Shown[] = []
  const counts: number[] = []
  const settled: unknown[] = []
  const reminders = createReminders({
    toast: (text, _tone, options = {}) => {
      const shown = { text, options }
      toasts.push(shown)
      return () => void toasts.splice(0, toasts.length, ...toasts.filter((other) => other !== shown))
    },
    show: () => undefined,
    tickOff: (reminder) => void settled.push(['done', reminder]),
    snooze: (reminder) => void settled.push(['snooze', reminder]),
    onCount: (unseen) => void counts.push(unseen),
  })
  return { reminders, toasts, counts, settled }
}

test('shows one toast for all unseen reminders, and closing it marks them as seen', () => {
  const { reminders, toasts, counts } = startReminders()
  reminders.take(event(1, 'timer.fired', { payload: { text: 'Check the oven' } }))
  reminders.take(event(2, 'timer.set', { payload: { title: 'Call Ada' } }))
  expect(toasts.map(({ text }) => text)).toEqual(['Reminder: Check the oven'])
  reminders.take(event(3, 'timer.fired', { payload: { text: 'Call Ada' } }))
  expect(toasts.map(({ text }) => text)).toEqual(['Reminder: Call Ada, and 1 more'])
  toasts[0]?.options.onClose?.()
  expect(toasts).toEqual([])
  expect(counts).toEqual([1, 2, 0])
})

test('shows a reminder whose text is not known', () => {
  const { reminders, toasts } = startReminders()
  reminders.take(event(1, 'timer.fired'))
  expect(toasts.map(({ text }) => text)).toEqual(['A reminder is due'])
})

const occurrence = '2026-06-02T09:00:00.000Z'
const fired = (seq: number, timerId: string) =>
  event(seq, 'timer.fired', { payload: { text: 'Check the oven', timerId, occurrence } })

test('offers to settle a single reminder from its toast', () => {
  const { reminders, toasts, settled } = startReminders()
  const labels = () => toasts[0]?.options.actions?.map(({ label }) => label)
  reminders.take(fired(1, 'a'))
  expect(labels()).toEqual(['Done', 'Snooze', 'Show'])
  for (const { run } of toasts[0]?.options.actions?.slice(0, 2) ?? []) run()
  expect(settled).toEqual([
    ['done', { id: 'a', occurrence }],
    ['snooze', { id: 'a', occurrence }],
  ])
  reminders.take(fired(2, 'b'))
  expect(labels()).toEqual(['Show'])
})

test('hides a reminder that is done, snoozed or cancelled elsewhere', () => {
  const { reminders, toasts, counts } = startReminders()
  for (const [index, id] of ['a', 'b', 'c'].entries()) reminders.take(fired(index + 1, id))
  reminders.take(event(4, 'timer.done', { payload: { timerId: 'a', occurrence } }))
  const snoozes = { timerId: 'b', occurrence }
  reminders.take(event(5, 'timer.set', { payload: { timerId: 'd', title: 'Check the oven', snoozes } }))
  expect(counts.at(-1)).toBe(1)
  reminders.take(event(6, 'timer.cancelled', { payload: { timerId: 'c' } }))
  expect([counts.at(-1), toasts]).toEqual([0, []])
})
