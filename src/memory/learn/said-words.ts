import type { AnyEvent } from '../../../ledger/reader.ts'
import { typedWords } from '../../text/pasted.ts'

/** The spoken or written text of an event; null if it has none or is erased. */
export function saidWords(event: AnyEvent): string | null {
  switch (event.type) {
    case 'chat.message.received':
    case 'chat.reply.sent':
    case 'chat.reply.stopped':
    case 'sms.received':
    case 'sms.sent':
    case 'call.utterance.heard':
    case 'call.reply.spoken':
      return event.body?.text ?? null
    default:
      return null
  }
}

/** The same without the pasted parts of a message. */
export function ownSaidWords(event: AnyEvent): string | null {
  return event.type === 'chat.message.received' && event.body ? typedWords(event) : saidWords(event)
}
