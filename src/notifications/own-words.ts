import type { LedgerReader } from '../../ledger/reader.ts'

/**
 * Whether the title of a timer consists of the owner's words alone: typed, or set by a call that had read no words of
 * others. `seq` is of the fact with the title.
 */
export function isOwnTitle(ledger: Pick<LedgerReader, 'readSeqs'>, seq: number): boolean {
  const [event] = ledger.readSeqs([seq])
  // What else it derives from was read by the call.
  if (event?.type !== 'timer.set' && event?.type !== 'timer.changed') return true
  const { by, pasted = false } = event.facts
  const [cause] = by === 'owner' || event.causedBy === null ? [] : ledger.readSeqs([event.causedBy])
  const isTyped = by === 'owner' ? !pasted : cause?.type === 'tool.called' && cause.facts.foreign === false
  return isTyped && event.derivedFrom.every((source) => isOwnTitle(ledger, source))
}
