import type { EventOf } from '../../ledger/event.ts'
import { NoAnswer } from '../model/port.ts'

export type TurnFailureKind = EventOf<'turn.failed'>['facts']['kind']

/** The one honest sentence that the owner is told when a turn came to nothing. */
export const failureText: Readonly<Record<TurnFailureKind, string>> = {
  interrupted: 'I was interrupted by a restart before I could answer. Please ask again.',
  stopped: 'I stopped before I had said anything.',
  auth: 'The model service refused my key. Check OPENAI_API_KEY under Settings.',
  quota: 'The model service says that its quota is used up. Check the billing of your account there.',
  rate_limited: 'The model service is limiting my requests right now. Please try again in a minute.',
  unavailable:
    'I got no answer from the model service. Please try again in a moment; if it stays so, test the connection under Settings.',
  timeout: 'The model service did not answer in time. Please try again.',
  malformed: 'The model service answered in a way that I could not make sense of. Please try again.',
  refused: 'The model declined to answer that.',
  context_too_long:
    'Our conversation has grown too long for the model. Compact it, or end it and start a new one.',
  too_many_rounds: 'I went round in circles with my tools and stopped. Please ask in smaller steps.',
  budget:
    'I have used all the tokens that I may in a day (DAILY_TOKENS), so I answer no more for now. What was used a day ago makes room again.',
  internal: 'Something went wrong on my side; the log says what. Please try again.',
}

/** The same for an error; where the model service did not answer in time, it says for how long the turn waited. */
export function failureTextOf(kind: TurnFailureKind, error: unknown): string {
  return error instanceof NoAnswer
    ? `${error.message} Please try again. If it stays so, test the connection under Settings.`
    : failureText[kind]
}

const modelFailures: readonly string[] = [
  'auth',
  'quota',
  'rate_limited',
  'unavailable',
  'timeout',
  'malformed',
] satisfies TurnFailureKind[]

/** Whether a turn failed for the model service, not for what it was asked or for ourselves. */
export function isModelFailure(kind: string | null): boolean {
  return kind !== null && modelFailures.includes(kind)
}
