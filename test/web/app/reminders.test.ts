import { expect, test } from 'vitest'
import { createReminders } from '../../../web/src/app/reminders.ts'
import type { ToastOptions } from '../../../web/src/design/toaster.ts'
import { event } from '../timeline/events.ts'

type Shown = { readonly text: string; readonly options: ToastOptions }

/** Reminders, with the toasts now shown and every count reported. */
function startReminders() {
  const toasts: Shown[] = []
  const counts: number[] = []
  const reminders = createReminders({
    toast: (text, _tone, options = {}) => {
      const shown = { text, options }
      toasts.push(shown)
      return () => void toasts.splice(0, toasts.length, ...toasts.filter((other) => other !== shown))
    },
    show: () => undefined,
    onCount: (unseen) => void counts.push(unseen),
  })
  return { reminders, toasts, counts }
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
