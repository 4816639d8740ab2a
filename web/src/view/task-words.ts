import type { Delivery, Task } from '../data/tasks.ts'
import type { IconName } from '../design/icon.ts'
import { plural, wordsText } from './format.ts'

/** What the states, channels and reasons of tasks and deliveries are called. */

const channels: Readonly<Record<string, string>> = {
  chat: 'in the chat',
  sms: 'by text message',
  webhook: 'by webhook',
}

export const channelText = (channel: string): string => channels[channel] ?? `by ${channel}`

const statuses: Readonly<
  Record<string, { readonly text: string; readonly icon: IconName; readonly tone: string }>
> = {
  queued: { text: 'Waiting', icon: 'timer', tone: '' },
  running: { text: 'Running', icon: 'tool', tone: 'live' },
  finished: { text: 'Finished', icon: 'done', tone: 'good' },
  failed: { text: 'Failed', icon: 'warning', tone: 'bad' },
  cancelled: { text: 'Cancelled', icon: 'close', tone: '' },
}

export const statusOf = ({ status }: Task) =>
  statuses[status] ?? ({ text: wordsText(status), icon: 'help', tone: '' } as const)

const reasons: Readonly<Record<string, string>> = {
  callback: 'The assistant reported an error',
  exit: 'Its program ended with an error',
  timeout: 'It took longer than it was given',
  spawn: 'Its program could not be started',
  interrupted: 'Delegate stopped while it ran',
  not_configured: 'No coding assistant is set up',
}

/** Why a task failed. */
export function reasonText({ kind, exitCode }: Task): string {
  const reason = reasons[kind ?? ''] ?? 'It is not known why'
  return kind === 'exit' && exitCode !== null ? `${reason} (exit code ${exitCode})` : reason
}

const refusals: Readonly<Record<string, string>> = {
  not_configured: 'not set up',
  refused: 'refused',
  opted_out: 'the number wants no texts',
  budget: 'enough texts for a day',
  rate_limited: 'too many at once',
  unavailable: 'not reachable',
  erased: 'its words were erased',
}

export const failureText = (kind: string | null): string =>
  kind === null ? '' : (refusals[kind] ?? wordsText(kind))

/** One line for the whole way of an outcome to the owner; empty where there is none. */
export function deliveryText(task: Task): string {
  const chosen = task.deliveries.findLast(({ channel }) => channel === task.notify)
  const tries =
    chosen && chosen.attempts.length > 1 ? ` at the ${ordinal(chosen.attempts.length)} attempt` : ''
  switch (task.deliveryState) {
    case 'delivered':
      return `You were told ${channelText(task.notify)}${tries}`
    case 'pending':
      return `On its way to you ${channelText(task.notify)}`
    case 'fallback':
      return `Could not be told ${channelText(task.notify)} (${failureText(chosen?.kind ?? null)}); you were told in the chat`
    case 'unknown':
      return `It is not certain that you were told ${channelText(task.notify)}`
    case 'failed':
      return `You could not be told ${channelText(task.notify)}`
    default:
      return ''
  }
}

function ordinal(value: number): string {
  return (
    ({ 2: 'second', 3: 'third', 4: 'fourth', 5: 'fifth' } as Record<number, string>)[value] ?? `${value}th`
  )
}

/** What became of one delivery. */
export function outcomeText({ status, kind, attempts, maxAttempts }: Delivery): string {
  switch (status) {
    case 'delivered':
      return 'delivered'
    case 'failed':
      return `failed for good: ${failureText(kind)}`
    case 'unknown':
      return 'not confirmed: it may have arrived'
    case 'attempted':
      return 'being tried now'
    default:
      return attempts.length === 0
        ? 'waiting'
        : `to be tried again, ${plural(maxAttempts - attempts.length, 'attempt')} left`
  }
}
