import { expect, test } from 'vitest'
import { createNotices } from '../../../web/src/app/notices.ts'
import type { ToastOptions } from '../../../web/src/design/toaster.ts'
import { event } from '../timeline/events.ts'

type Shown = { readonly text: string; readonly options: ToastOptions }
type Unseen = Parameters<typeof createNotices>[0]['unseen'] extends () => Promise<infer L> ? L : never

/** Notices, with the toasts now shown, and everything that they asked of the page and the service. */
function startNotices({ isOnTimeline = false } = {}) {
  const toasts: Shown[] = []
  const counts: number[] = []
  const settled: unknown[] = []
  const reported: number[][] = []
  const page = { isVisible: true, nowMs: 0, rings: 0, unseen: [] as Unseen }
  const notices = createNotices({
    toast: (text, _tone, options = {}) => {
      const shown = { text, options }
      toasts.push(shown)
      return () => void toasts.splice(0, toasts.length, ...toasts.filter((other) => other !== shown))
    },
    show: () => undefined,
    tickOff: (reminder) => void settled.push(['done', reminder]),
    snooze: (reminder) => void settled.push(['snooze', reminder]),
    ring() {
      page.rings += 1
    },
    unseen: async () => page.unseen,
    report: (seqs) => void reported.push([...seqs]),
    isOnTimeline: () => isOnTimeline,
    isVisible: () => page.isVisible,
    nowMs: () => page.nowMs,
    onCount: (unseen) => void counts.push(unseen),
  })
  return { notices, toasts, counts, settled, reported, page }
}

test('shows one toast for all unseen reminders, and closing it marks them as seen', () => {
  const { notices, toasts, counts } = startNotices()
  notices.take(event(1, 'timer.fired', { payload: { text: 'Check the oven' } }))
  notices.take(event(2, 'timer.set', { payload: { title: 'Call Ada' } }))
  expect(toasts.map(({ text }) => text)).toEqual(['Reminder: Check the oven'])
  notices.take(event(3, 'timer.fired', { payload: { text: 'Call Ada' } }))
  expect(toasts.map(({ text }) => text)).toEqual(['Reminder: Call Ada, and 1 more'])
  toasts[0]?.options.onClose?.()
  expect(toasts).toEqual([])
  expect(counts).toEqual([1, 2, 0])
})

test('shows a reminder whose text is not known', () => {
  const { notices, toasts } = startNotices()
  notices.take(event(1, 'timer.fired'))
  expect(toasts.map(({ text }) => text)).toEqual(['A reminder is due'])
})

const occurrence = '2026-06-02T09:00:00.000Z'
const fired = (seq: number, timerId: string) =>
  event(seq, 'timer.fired', { payload: { text: 'Check the oven', timerId, occurrence } })

test('offers to settle a single reminder from its toast', () => {
  const { notices, toasts, settled } = startNotices()
  const labels = () => toasts[0]?.options.actions?.map(({ label }) => label)
  notices.take(fired(1, 'a'))
  expect(labels()).toEqual(['Done', 'Snooze', 'Show'])
  for (const { run } of toasts[0]?.options.actions?.slice(0, 2) ?? []) run()
  expect(settled).toEqual([
    ['done', { id: 'a', occurrence }],
    ['snooze', { id: 'a', occurrence }],
  ])
  notices.take(fired(2, 'b'))
  expect(labels()).toEqual(['Show'])
})

test('hides a reminder that is done, snoozed or cancelled elsewhere', () => {
  const { notices, toasts, counts } = startNotices()
  for (const [index, id] of ['a', 'b', 'c'].entries()) notices.take(fired(index + 1, id))
  notices.take(event(4, 'timer.done', { payload: { timerId: 'a', occurrence } }))
  const snoozes = { timerId: 'b', occurrence }
  notices.take(event(5, 'timer.set', { payload: { timerId: 'd', title: 'Check the oven', snoozes } }))
  expect(counts.at(-1)).toBe(1)
  notices.take(event(6, 'timer.cancelled', { payload: { timerId: 'c' } }))
  expect([counts.at(-1), toasts]).toEqual([0, []])
})

test('reports what it showed to an owner who is there, or once they come back', () => {
  const { notices, reported, page } = startNotices()
  notices.take(fired(1, 'a'))
  expect(reported).toEqual([[1]])
  page.nowMs = 10 * 60_000
  notices.take(fired(2, 'b'))
  page.isVisible = false
  notices.touched()
  expect(reported).toEqual([[1]])
  page.isVisible = true
  notices.touched()
  notices.touched()
  expect(reported).toEqual([[1], [2]])
  expect(page.rings).toBe(2)
})

test('shows once what it missed, with its words, and drops what another device has dealt with', async () => {
  const { notices, toasts, counts, reported, page } = startNotices()
  page.isVisible = false
  const missed = { at: '', subject: 'a', occurrence, title: 'Reminder', text: 'Check the oven' }
  page.unseen = [{ ...missed, seq: 1, kind: 'reminder' }]
  notices.catchUp()
  await expect.poll(() => toasts.map(({ text }) => text)).toEqual(['Reminder: Check the oven'])
  notices.catchUp()
  notices.take(fired(1, 'a'))
  await Promise.resolve()
  expect(counts).toEqual([1])
  notices.take(event(2, 'notification.seen', { payload: { seqs: [1] } }))
  expect([counts.at(-1), toasts, reported]).toEqual([0, [], []])
})

test('shows other facts only where the timeline does not', async () => {
  const task = { at: '', subject: 't', occurrence: null, title: 'Task finished', text: 'Tidy up' } as const
  for (const isOnTimeline of [false, true]) {
    const { notices, toasts, reported, page } = startNotices({ isOnTimeline })
    page.unseen = [{ ...task, seq: 1, kind: 'task' }]
    notices.take(event(1, 'task.finished'))
    await expect.poll(() => reported).toEqual([[1]])
    expect(toasts.map(({ text }) => text)).toEqual(isOnTimeline ? [] : ['Task finished: Tidy up'])
  }
})
