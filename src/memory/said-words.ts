import type { AnyEvent } from '../../ledger/reader.ts'

/** What an event says aloud; null once it is erased, and for one that says nothing. */
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
