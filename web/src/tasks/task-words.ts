import type { Delivery, Task } from '../../../src/http/contract/tasks.ts'
import { plural, wordsText } from '../design/format.ts'
import type { IconName } from '../design/icon.ts'

/** Text for the states, channels and failures of tasks and deliveries. */

const channels: Readonly<Record<string, string>> = {
  chat: 'in the chat',
  sms: 'by text message',
  webhook: 'by webhook',
}

export const channelText = (channel: string): string => channels[channel] ?? `by ${channel}`

type StatusText = { readonly text: string; readonly icon: IconName; readonly tone: string }

const statuses: Readonly<Record<Task['status'], StatusText>> = {
  queued: { text: 'Waiting', icon: 'timer', tone: '' },
  running: { text: 'Running', icon: 'tool', tone: 'live' },
  finished: { text: 'Finished', icon: 'done', tone: 'good' },
  failed: { text: 'Failed', icon: 'warning', tone: 'bad' },
  cancelled: { text: 'Cancelled', icon: 'close', tone: '' },
}

export const statusOf = ({ status }: Task): StatusText => statuses[status]

const reasons: Readonly<Record<string, string>> = {
  callback: 'The assistant reported an error',
  exit: 'The program exited with an error',
  timeout: 'The task timed out',
  spawn: 'The program could not be started',
  interrupted: 'Delegate stopped while the task was running',
  not_configured: 'No coding assistant is set up',
  isolation: 'The program could not be isolated, so it was not started',
}

export function reasonText({ kind, exitCode }: Task): string {
  const reason = reasons[kind ?? ''] ?? 'Unknown reason'
  return kind === 'exit' && exitCode !== null ? `${reason} (exit code ${exitCode})` : reason
}

const isolations: Readonly<Record<NonNullable<Task['isolation']>, string>> = {
  bubblewrap: 'isolated by bubblewrap',
  user: 'isolated in its own account',
  none: 'not isolated',
}

/** What keeps the program of a task from the data; empty if unknown. */
export const isolationText = ({ isolation }: Task): string =>
  isolation === null ? '' : isolations[isolation]

const refusals: Readonly<Record<string, string>> = {
  not_configured: 'not set up',
  refused: 'refused',
  opted_out: 'the number opted out of texts',
  budget: 'daily text limit reached',
  rate_limited: 'rate limited',
  unavailable: 'unreachable',
  erased: 'its text was erased',
}

export const failureText = (kind: string | null): string =>
  kind === null ? '' : (refusals[kind] ?? wordsText(kind))

/** The delivery state of a task in one line; empty if there is no delivery. */
export function deliveryText(task: Task): string {
  const chosen = task.deliveries.findLast(({ channel }) => channel === task.notify)
  const attempts = chosen?.attempts.length ?? 0
  const after = attempts > 1 ? ` after ${attempts} attempts` : ''
  switch (task.deliveryState) {
    case 'delivered':
      return `Delivered ${channelText(task.notify)}${after}`
    case 'pending':
      return `Being delivered ${channelText(task.notify)}`
    case 'fallback':
      return `Not delivered ${channelText(task.notify)} (${failureText(chosen?.kind ?? null)}); delivered in the chat instead`
    case 'unknown':
      return `Delivery ${channelText(task.notify)} is unconfirmed`
    case 'failed':
      return `Not delivered ${channelText(task.notify)}`
    default:
      return ''
  }
}

/** The state of one delivery. */
export function outcomeText({ status, kind, attempts, maxAttempts }: Delivery): string {
  switch (status) {
    case 'delivered':
      return 'delivered'
    case 'failed':
      return `failed for good: ${failureText(kind)}`
    case 'unknown':
      return 'unconfirmed, may have arrived'
    case 'attempted':
      return 'in progress'
    default:
      return attempts.length === 0
        ? 'waiting'
        : `will be retried, ${plural(maxAttempts - attempts.length, 'attempt')} left`
  }
}
