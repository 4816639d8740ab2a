import type { LedgerReader } from '../../ledger/reader.ts'
import { causeOfTimer } from '../lib/cause-of-timer.ts'
import { oneLine, shorten } from '../lib/shorten.ts'
import { typedWords } from '../text/pasted.ts'

const MAX_REQUEST_CHARS = 120

type Ledger = Pick<LedgerReader, 'readSeqs'>

/**
 * Whether the title of a timer consists of the owner's words alone: typed, or set by a call that had read no words of
 * others. `seq` is of the fact with the title.
 */
export function isOwnTitle(ledger: Ledger, seq: number): boolean {
  const [event] = ledger.readSeqs([seq])
  // What else it derives from was read by the call.
  if (event?.type !== 'timer.set' && event?.type !== 'timer.changed') return true
  const { by, pasted = false } = event.facts
  const [cause] = by === 'owner' || event.causedBy === null ? [] : ledger.readSeqs([event.causedBy])
  const isTyped = by === 'owner' ? !pasted : cause?.type === 'tool.called' && cause.facts.foreign === false
  return isTyped && event.derivedFrom.every((source) => isOwnTitle(ledger, source))
}

/**
 * What the owner typed, or texted from their number, to ask for a timer. Null if nothing. It stands in for a title that
 * others may have worded. `seq` is of the fact with the title.
 */
export function requestFor(ledger: Ledger, seq: number): string | null {
  const message = causeOfTimer(ledger, seq)
  const isTyped = message?.type === 'chat.message.received' && message.facts.spoken !== true
  const isTexted = message?.type === 'sms.received' && message.facts.party === 'owner'
  const words = isTyped ? typedWords(message) : isTexted ? (message.body?.text ?? '') : ''
  return words === '' ? null : shorten(oneLine(words), MAX_REQUEST_CHARS)
}
