import type { Notification } from '../../../src/http/contract/notifications.ts'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { msg } from '../design/msg.ts'
import type { Toaster } from '../design/toaster.ts'
import { reminderText } from '../timeline/event-kinds.ts'
import { createReminderStates, type Reminder, reminderOf } from '../timeline/reminder-states.ts'

/** Something that the owner should notice; of a reminder, the occurrence that is due. */
type Notice = { readonly seq: number; readonly text: string; readonly reminder: Reminder | null }

/** The owner has left the page if they have not touched it for this long. */
const hereMs = 60_000
/** Reminders come with their words. The words of these are asked for. */
const otherTypes = new Set([
  'task.finished',
  'task.failed',
  'proposal.made',
  'call.rejected',
  'call.ended',
  'sms.received',
  'allowance.reached',
])

/**
 * Shows on every page what the owner should notice, as one toast, which stays open, and as a count. The service learns
 * what an owner who is there was shown, and sends them nothing more about it. A notice goes once any tab of this browser
 * closes the toast or follows it, another device has dealt with it, or a reminder is done, snoozed or cancelled.
 */
export function createNotices(options: {
  readonly toast: Toaster
  /** Goes to the fact on the timeline. */
  readonly show: (seq: number) => void
  readonly tickOff: (reminder: Reminder) => void
  readonly snooze: (reminder: Reminder) => void
  readonly ring: () => void
  /** What the owner has not seen, according to the service. */
  readonly unseen: () => Promise<readonly Notification[]>
  readonly report: (seqs: readonly number[]) => void
  /** Whether the timeline is shown, which shows everything but reminders that are due as well. */
  readonly isOnTimeline: () => boolean
  readonly isVisible: () => boolean
  readonly nowMs: () => number
  readonly onCount: (unseen: number) => void
}) {
  let notices: readonly Notice[] = []
  let dismiss: () => void = () => undefined
  /** Shown before, so that nothing is shown twice. */
  const known = new Set<number>()
  /** Shown here to an owner who is there. */
  const reported = new Set<number>()
  const states = createReminderStates()
  const tabs = new BroadcastChannel('delegate.notices-seen')
  let touchedAtMs = options.nowMs()

  function set(next: readonly Notice[]): void {
    notices = next
    options.onCount(notices.length)
    dismiss()
    const newest = notices.at(-1)
    if (!newest) return
    const more = notices.length === 1 ? '' : msg`, and ${notices.length - 1} more`
    const reminder = notices.length === 1 ? newest.reminder : null
    dismiss = options.toast(`${newest.text}${more}`, 'timer', {
      shownForMs: Number.POSITIVE_INFINITY,
      onClose: seen,
      actions: [
        ...(reminder === null
          ? []
          : [
              { label: msg`Done`, run: () => options.tickOff(reminder) },
              { label: msg`Snooze`, run: () => options.snooze(reminder) },
            ]),
        { label: msg`Show`, run: () => options.show(newest.seq) },
      ],
    })
  }

  function add(notice: Notice, isReminder: boolean): void {
    if (known.has(notice.seq)) return
    known.add(notice.seq)
    if (!isReminder && options.isOnTimeline() && isHere()) {
      options.report([notice.seq])
      return
    }
    set([...notices, notice])
    if (isReminder) options.ring()
    reportIfHere()
  }

  const isHere = () => options.isVisible() && options.nowMs() - touchedAtMs < hereMs

  function reportIfHere(): void {
    const fresh = notices.flatMap(({ seq }) => (reported.has(seq) ? [] : [seq]))
    if (fresh.length === 0 || !isHere()) return
    for (const seq of fresh) reported.add(seq)
    options.report(fresh)
  }

  /** Asks the service. Without an answer, the next connection asks again. */
  async function catchUp(): Promise<void> {
    const found = await options.unseen().catch(() => [])
    for (const { seq, kind, title, text, subject, occurrence } of found) {
      const reminder =
        kind === 'reminder' && subject !== null && occurrence !== null ? { id: subject, occurrence } : null
      add({ seq, text: text === '' ? title : `${title}: ${text}`, reminder }, kind === 'reminder')
    }
  }

  function seen(): void {
    if (notices.length === 0) return
    const seqs = notices.map(({ seq }) => seq)
    tabs.postMessage(seqs)
    const fresh = seqs.filter((seq) => !reported.has(seq))
    if (fresh.length > 0) options.report(fresh)
    set([])
  }

  function drop(isGone: (notice: Notice) => boolean): void {
    const left = notices.filter((notice) => !isGone(notice))
    if (left.length < notices.length) set(left)
  }

  tabs.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (!Array.isArray(data)) return
    for (const seq of data) known.add(seq)
    drop(({ seq }) => data.includes(seq))
  })

  return {
    /** Takes a live event: shows it if it is worth a notice, and drops the notices that it settles. */
    take(event: TimelineEvent): void {
      const { type, seq, payload } = event
      states.take(event)
      if (type.startsWith('timer.')) drop(({ reminder }) => reminder !== null && !states.isOpen(reminder))
      if (type === 'notification.seen' && Array.isArray(payload.seqs)) {
        const { seqs } = payload
        drop((notice) => seqs.includes(notice.seq) && !reported.has(notice.seq))
      }
      if (type === 'timer.fired') add({ seq, text: reminderText(event), reminder: reminderOf(event) }, true)
      else if (otherTypes.has(type)) void catchUp()
    },
    /** After each connection: shows what was missed. */
    catchUp: () => void catchUp(),
    /** The owner has touched the page, or come back to it. */
    touched(): void {
      touchedAtMs = options.nowMs()
      reportIfHere()
    },
    /** Marks all notices as seen, in every tab. */
    seen,
    /** Hides all notices in this tab only. */
    clear(): void {
      known.clear()
      set([])
    },
  }
}
