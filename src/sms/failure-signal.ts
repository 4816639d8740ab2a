import type { NewEvent } from '../../ledger/event.ts'
import { signalFact } from '../lib/signals.ts'

/** Informs the delegate in its next turn about a text that did not arrive. */
export function failureSignal(
  failed: {
    readonly to: string
    readonly text: string
    /** The fact that holds these words. */
    readonly seq: number
    readonly what: 'was not sent' | 'may not have been sent' | 'did not arrive'
  },
  signalId: string,
): NewEvent {
  const { to, text, seq, what } = failed
  return signalFact(
    {
      kind: 'text_failed',
      mode: 'next-turn',
      priority: 4,
      dedupKey: `text-failed:${seq}`,
      text: `The text to ${to} ${what}: "${text}"`,
      causedBy: seq,
      derivedFrom: [seq],
    },
    signalId,
  )
}
