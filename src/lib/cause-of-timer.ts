import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'

/**
 * What led to a call that set or changed a timer: a message of the owner, or an activation. `seq` is of the fact with
 * the title. Undefined if the timer comes from a page.
 */
export function causeOfTimer(ledger: Pick<LedgerReader, 'readSeqs'>, seq: number): AnyEvent | undefined {
  const causeOf = (event: AnyEvent) => (event.causedBy === null ? [] : ledger.readSeqs([event.causedBy]))
  const [set] = ledger.readSeqs([seq])
  if (set?.type !== 'timer.set' && set?.type !== 'timer.changed') return undefined
  const [call] = causeOf(set)
  return call?.type === 'tool.called' ? causeOf(call)[0] : undefined
}
