import type { AnyEvent } from '../../ledger/reader.ts'
import type { NotificationKind } from '../../projections/notifications.ts'

/** What a notification says. Words that were erased are left out. */
export function wordsOf(
  kind: NotificationKind,
  event: AnyEvent | undefined,
  titleOfTask: (taskId: string) => string,
): { readonly title: string; readonly text: string } {
  switch (event?.type) {
    case 'timer.fired':
      return { title: 'Reminder', text: event.body?.text ?? '' }
    case 'task.finished':
      return { title: 'Task finished', text: titleOfTask(event.facts.taskId) }
    case 'task.failed':
      return { title: 'Task failed', text: titleOfTask(event.facts.taskId) }
    case 'proposal.made': {
      const target = event.body?.target ?? ''
      const text = event.facts.kind === 'sms' && target !== '' ? `Send a text to ${target}?` : target
      return { title: 'Confirm this?', text }
    }
    case 'call.rejected':
      return { title: 'Missed call', text: event.body ? `From ${event.body.from}` : '' }
    case 'allowance.reached': {
      const { level, window } = event.facts
      return { title: 'Money', text: `${level} % of what Delegate may spend in ${PERIODS[window]} is used.` }
    }
    default:
      return { title: FALLBACKS[kind], text: '' }
  }
}

const PERIODS = { day: '24 hours', month: '30 days' } as const
const FALLBACKS: Readonly<Record<NotificationKind, string>> = {
  reminder: 'Reminder',
  task: 'Task ended',
  confirmation: 'Confirm this?',
  call: 'Missed call',
  budget: 'Money',
}
