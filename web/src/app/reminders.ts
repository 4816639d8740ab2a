import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import type { Toaster } from '../design/toaster.ts'
import { reminderText } from '../timeline/event-kinds.ts'
import { createReminderStates, type Reminder, reminderOf } from '../timeline/reminder-states.ts'

/**
 * Shows due reminders on every page as one toast, which stays open, and as a count. A reminder counts as seen
 * once any tab of this browser closes the toast, follows it or calls `seen`, or once it is done, snoozed or cancelled
 * anywhere.
 */
export function createReminders(options: {
  readonly toast: Toaster
  /** Goes to the reminder on the timeline. */
  readonly show: (seq: number) => void
  readonly tickOff: (reminder: Reminder) => void
  readonly snooze: (reminder: Reminder) => void
  readonly onCount: (unseen: number) => void
}) {
  let unseen: readonly TimelineEvent[] = []
  let dismiss: () => void = () => undefined
  const states = createReminderStates()
  const tabs = new BroadcastChannel('delegate.reminders-seen')

  function set(next: readonly TimelineEvent[]): void {
    unseen = next
    options.onCount(unseen.length)
    dismiss()
    const newest = unseen.at(-1)
    if (!newest) return
    const reminder = unseen.length === 1 ? reminderOf(newest) : null
    const more = unseen.length === 1 ? '' : `, and ${unseen.length - 1} more`
    dismiss = options.toast(`${reminderText(newest)}${more}`, 'timer', {
      shownForMs: Number.POSITIVE_INFINITY,
      onClose: seen,
      actions: [
        ...(reminder === null
          ? []
          : [
              { label: 'Done', run: () => options.tickOff(reminder) },
              { label: 'Snooze', run: () => options.snooze(reminder) },
            ]),
        { label: 'Show', run: () => options.show(newest.seq) },
      ],
    })
  }

  function seen(): void {
    if (unseen.length === 0) return
    const throughSeq = unseen.at(-1)?.seq ?? 0
    tabs.postMessage(throughSeq)
    set([])
  }

  tabs.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const left = unseen.filter(({ seq }) => typeof data !== 'number' || seq > data)
    if (left.length < unseen.length) set(left)
  })

  return {
    /** Shows a reminder if the event is one that has just become due, and hides those that the event settles. */
    take(event: TimelineEvent): void {
      states.take(event)
      const left = unseen.filter((each) => reminderOf(each) === null || states.of(each).kind === 'open')
      if (event.type === 'timer.fired') set([...left, event])
      else if (left.length < unseen.length) set(left)
    },
    /** Marks all reminders as seen, in every tab. */
    seen,
    /** Hides all reminders in this tab only. */
    clear: (): void => set([]),
  }
}
