import type { AnyEvent } from '../../../ledger/reader.ts'

/** Tells the owner where a deed that needs confirmation comes from. */
export function whyOf(cause: AnyEvent | undefined, read: ReadonlySet<string>): string {
  if (cause?.type === 'sms.received')
    return `Asked for by text message from ${cause.body?.from ?? 'your number'}.`
  if (cause?.type === 'activation.started') return 'You did not ask for this: a signal triggered it.'
  if (cause?.type === 'chat.message.received' && cause.facts.spoken) return 'Asked for by voice on a device.'
  if (read.size > 0) return `Your assistant suggested this after reading ${[...read].join(' and ')}.`
  return 'Your assistant suggested this in a conversation that also contains text from other sources.'
}
