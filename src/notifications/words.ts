import type { AnyEvent } from '../../ledger/reader.ts'
import type { CallRow } from '../../projections/calls.ts'
import type { NotificationKind } from '../../projections/notifications.ts'
import { english } from '../language/message.ts'
import { msg, translated, translatedSentence } from '../language/msg.ts'

/** What a notification says. Words that were erased are left out. */
export function wordsOf(
  kind: NotificationKind,
  event: AnyEvent | undefined,
  titleOfTask: (taskId: string) => string,
  callOf: (callSid: string) => Pick<CallRow, 'number' | 'connectedAt'> | undefined,
): { readonly title: string; readonly text: string } {
  switch (event?.type) {
    case 'timer.fired':
      return { title: msg`Reminder`, text: event.body?.text ?? '' }
    case 'task.finished':
      return { title: msg`Task finished`, text: titleOfTask(event.facts.taskId) }
    case 'task.failed':
      return { title: msg`Task failed`, text: titleOfTask(event.facts.taskId) }
    case 'proposal.made': {
      const target = event.body?.target ?? ''
      const text =
        event.facts.kind === 'sms' && target !== ''
          ? msg`Send a text to ${target}?`
          : translatedSentence(target)
      return { title: msg`Confirm this?`, text }
    }
    case 'call.rejected':
      return { title: msg`Missed call`, text: fromText(event.body?.from) }
    case 'call.ended': {
      const call = callOf(event.facts.callSid)
      return {
        title: call?.connectedAt ? msg`Somebody called` : msg`Missed call`,
        text: fromText(call?.number),
      }
    }
    case 'sms.received':
    case 'sms.ignored':
      return { title: msg`Text message`, text: fromText(event.body?.from) }
    case 'allowance.reached': {
      const { level, window } = event.facts
      return {
        title: msg`Money`,
        text: msg`${level} % of what Delegate may spend in ${translated(PERIODS[window])} is used.`,
      }
    }
    default:
      return { title: translated(FALLBACKS[kind]), text: '' }
  }
}

const fromText = (number: string | null | undefined) => (number ? msg`From ${number}` : '')

const PERIODS = { day: english`24 hours`, month: english`30 days` } as const
const FALLBACKS: Readonly<Record<NotificationKind, string>> = {
  reminder: english`Reminder`,
  task: english`Task ended`,
  confirmation: english`Confirm this?`,
  call: english`Somebody called or texted`,
  budget: english`Money`,
}
