import type { Delivery, Task } from '../../../src/http/contract/tasks.ts'
import { plural, wordsText } from '../design/format.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'

/** Text for the states, channels and failures of tasks and deliveries. */

const channels: Readonly<Record<string, string>> = {
  chat: msg`in the chat`,
  sms: msg`by text message`,
  webhook: msg`by webhook`,
}

export const channelText = (channel: string): string => channels[channel] ?? msg`by ${channel}`

type StatusText = { readonly text: string; readonly icon: IconName; readonly tone: string }

const statuses: Readonly<Record<Task['status'], StatusText>> = {
  queued: { text: msg`Waiting`, icon: 'timer', tone: '' },
  running: { text: msg`Running`, icon: 'tool', tone: 'live' },
  finished: { text: msg`Finished`, icon: 'done', tone: 'good' },
  failed: { text: msg`Failed`, icon: 'warning', tone: 'bad' },
  cancelled: { text: msg`Cancelled`, icon: 'close', tone: '' },
}

export const statusOf = ({ status }: Task): StatusText => statuses[status]

const reasons: Readonly<Record<string, string>> = {
  callback: msg`The assistant reported an error`,
  exit: msg`The program exited with an error`,
  timeout: msg`The task timed out`,
  spawn: msg`The program could not be started`,
  interrupted: msg`Delegate stopped while the task was running`,
  not_configured: msg`No coding assistant is set up`,
  isolation: msg`The program could not be isolated, so it was not started`,
}

export function reasonText({ kind, exitCode }: Task): string {
  const reason = reasons[kind ?? ''] ?? msg`Unknown reason`
  return kind === 'exit' && exitCode !== null ? msg`${reason} (exit code ${exitCode})` : reason
}

const isolations: Readonly<Record<NonNullable<Task['isolation']>, string>> = {
  bubblewrap: msg`isolated by bubblewrap`,
  user: msg`isolated in its own account`,
  none: msg`not isolated`,
}

/** What keeps the program of a task from the data; empty if unknown. */
export const isolationText = ({ isolation }: Task): string =>
  isolation === null ? '' : isolations[isolation]

const refusals: Readonly<Record<string, string>> = {
  not_configured: msg`not set up`,
  refused: msg`refused`,
  opted_out: msg`the number opted out of texts`,
  budget: msg`daily text limit reached`,
  rate_limited: msg`rate limited`,
  unavailable: msg`unreachable`,
  erased: msg`its text was erased`,
}

export const failureText = (kind: string | null): string =>
  kind === null ? '' : (refusals[kind] ?? wordsText(kind))

/** The delivery state of a task in one line; empty if there is no delivery. */
export function deliveryText(task: Task): string {
  const chosen = task.deliveries.findLast(({ channel }) => channel === task.notify)
  const attempts = chosen?.attempts.length ?? 0
  const after = attempts > 1 ? msg` after ${attempts} attempts` : ''
  switch (task.deliveryState) {
    case 'delivered':
      return msg`Delivered ${channelText(task.notify)}${after}`
    case 'pending':
      return msg`Being delivered ${channelText(task.notify)}`
    case 'fallback':
      return msg`Not delivered ${channelText(task.notify)} (${failureText(chosen?.kind ?? null)}); delivered in the chat instead`
    case 'unknown':
      return msg`Delivery ${channelText(task.notify)} is unconfirmed`
    case 'failed':
      return msg`Not delivered ${channelText(task.notify)}`
    default:
      return ''
  }
}

/** The state of one delivery. */
export function outcomeText({ status, kind, attempts, maxAttempts }: Delivery): string {
  switch (status) {
    case 'delivered':
      return msg`delivered`
    case 'failed':
      return msg`failed for good: ${failureText(kind)}`
    case 'unknown':
      return msg`unconfirmed, may have arrived`
    case 'attempted':
      return msg`in progress`
    default:
      return attempts.length === 0
        ? msg`waiting`
        : msg`will be retried, ${plural(maxAttempts - attempts.length, msg`attempt`, msg`attempts`)} left`
  }
}
