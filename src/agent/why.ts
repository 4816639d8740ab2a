import type { AnyEvent } from '../../ledger/reader.ts'

/** Where the wish for something comes from that the owner has to confirm, in words for them. */
export function whyOf(cause: AnyEvent | undefined, read: ReadonlySet<string>): string {
  if (cause?.type === 'sms.received')
    return `Asked for by text message from ${cause.body?.from ?? 'your number'}.`
  if (cause?.type === 'activation.started') return 'You did not ask for this: a signal set it off.'
  if (cause?.type === 'chat.message.received' && cause.facts.spoken)
    return 'Asked for by voice, through a device.'
  if (read.size > 0) return `Your assistant wanted this after it had read ${[...read].join(' and ')}.`
  return 'Your assistant wanted this in a conversation that also holds texts, calls or things it has read.'
}
