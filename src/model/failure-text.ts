import type { EventOf } from '../../ledger/event.ts'
import { english } from '../language/message.ts'
import { ModelError, NoAnswer, UnknownModel } from './port.ts'

export type TurnFailureKind = EventOf<'turn.failed'>['facts']['kind']

/** What the owner is told when a turn fails. */
export const failureText: Readonly<Record<TurnFailureKind, string>> = {
  interrupted: english`A restart interrupted me before I could answer. Please ask again.`,
  stopped: english`I was stopped before I could answer.`,
  auth: english`The model service rejected the API key. Check the key in Settings.`,
  quota: english`Your quota at the model service is used up. Check the billing of your account there.`,
  rate_limited: english`The model service is limiting my requests. Please try again in a minute.`,
  unavailable: english`The model service is unavailable. Please try again in a moment. If this keeps happening, test the connection in Settings.`,
  timeout: english`The model service did not answer in time. Please try again.`,
  malformed: english`I could not read the response of the model service. Please try again.`,
  refused: english`The model declined to answer that.`,
  context_too_long: english`Our conversation is too long for the model. Compact it, or end it and start a new one.`,
  too_many_rounds: english`I called too many tools without finishing, so I stopped. Please ask in smaller steps.`,
  budget: english`I have reached the daily token limit (DAILY_TOKENS). Try again later: usage older than 24 hours no longer counts.`,
  allowance: english`The allowance is used up. Allow more, and I go on.`,
  internal: english`Something went wrong on my side. Please try again. The log has the details.`,
}

/** The same for an error: how long the turn waited, or how long the service asks to wait. */
export function failureTextOf(kind: TurnFailureKind, error: unknown): string {
  if (error instanceof NoAnswer)
    return english`${error.message} Please try again. If this keeps happening, test the connection in Settings.`
  if (error instanceof UnknownModel) return error.message
  const waitMs = error instanceof ModelError && kind === 'rate_limited' ? error.retryAfterMs : null
  return waitMs === null ? failureText[kind] : limitedText(Math.ceil(waitMs / 1000))
}

/** Times are never one, so that they need no singular. */
function limitedText(seconds: number): string {
  if (seconds < 100)
    return english`The model service is limiting my requests. Please try again in ${Math.max(2, seconds)} seconds.`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 100
    ? english`The model service is limiting my requests. Please try again in ${minutes} minutes.`
    : english`The model service is limiting my requests. Please try again in ${Math.ceil(minutes / 60)} hours.`
}

const modelFailures: readonly string[] = [
  'auth',
  'quota',
  'rate_limited',
  'unavailable',
  'timeout',
  'malformed',
] satisfies TurnFailureKind[]

/** Whether the model service caused the failure, rather than the request or this service. */
export function isModelFailure(kind: string | null): boolean {
  return kind !== null && modelFailures.includes(kind)
}
