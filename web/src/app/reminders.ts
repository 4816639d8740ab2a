import type { TimelineEvent } from '../data/timeline.ts'
import type { Toaster } from '../design/toast.ts'
import { isErased, wordsOf } from '../timeline/event-kinds.ts'

export type Reminders = {
  /** Tells of a reminder that has just fallen due; any other event is none. */
  take(event: TimelineEvent): void
  /** The owner has seen what was told so far. */
  seen(): void
  /** Takes back what is told, in this tab alone. */
  clear(): void
}

/**
 * Tells of reminders on whatever page is shown: by one toast, which stays, and by a count. A reminder is seen once the
 * toast is dismissed or followed, or its page says so, in any tab of this browser.
 */
export function createReminders(options: {
  readonly toast: Toaster
  /** Goes to the reminder on the timeline. */
  readonly show: (seq: number) => void
  readonly onCount: (unseen: number) => void
}): Reminders {
  let unseen: readonly TimelineEvent[] = []
  let dismiss: () => void = () => undefined
  const tabs = new BroadcastChannel('delegate.reminders-seen')

  function set(next: readonly TimelineEvent[]): void {
    unseen = next
    options.onCount(unseen.length)
    dismiss()
    const newest = unseen.at(-1)
    if (!newest) return
    const more = unseen.length === 1 ? '' : `, and ${unseen.length - 1} more`
    dismiss = options.toast(`${reminderText(newest)}${more}`, 'timer', {
      shownForMs: Number.POSITIVE_INFINITY,
      onClose: seen,
      action: { label: 'Show', run: () => options.show(newest.seq) },
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
    take(event) {
      if (event.type === 'timer.fired') set([...unseen, event])
    },
    seen,
    clear: () => set([]),
  }
}

/** An older event does not say what the reminder was for. */
function reminderText(event: TimelineEvent): string {
  const words = isErased(event) ? '' : wordsOf(event)
  return words === '' ? 'A reminder is due' : `Reminder: ${words}`
}
