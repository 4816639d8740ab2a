import type { AnyEvent } from '../../../ledger/reader.ts'
import { SAID, type Said } from '../../../projections/said.ts'
import { typedWords } from '../../text/pasted.ts'

const isSaid = (event: AnyEvent): event is Extract<AnyEvent, Pick<Said, 'type'>> =>
  SAID.some((type) => type === event.type)

/** The spoken or written text of an event; null if it has none or is erased. */
export function saidWords(event: AnyEvent): string | null {
  return isSaid(event) ? (event.body?.text ?? null) : null
}

/** The same without the pasted parts of a message. */
export function ownSaidWords(event: AnyEvent): string | null {
  return event.type === 'chat.message.received' && event.body ? typedWords(event) : saidWords(event)
}
