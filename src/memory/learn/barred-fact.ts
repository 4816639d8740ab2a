import type { NewEvent } from '../../../ledger/event.ts'

/** What the owner asks not to keep is out of recall, search and the context from then on. */
export function barredFact(sourceSeqs: readonly number[]): NewEvent {
  return {
    type: 'memory.sources.barred',
    actor: 'service',
    channel: 'inner',
    facts: { sourceSeqs: [...sourceSeqs], by: 'owner' },
  }
}
