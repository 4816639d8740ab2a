import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'

export type IsForeign = (event: AnyEvent) => boolean

/**
 * Whether an event may hold words of others: of notes, texts, callers, tasks, or of a model that had read any. Only
 * what the owner types in the browser is theirs for sure, and what a model made that was given nothing else.
 */
export function createIsForeign(ledger: LedgerReader): IsForeign {
  const readOne = (seq: number | null) => (seq === null ? undefined : ledger.readSeqs([seq])[0])
  /** What a tool made is as the call was. */
  const madeByForeignCall = ({ causedBy }: AnyEvent) => {
    const cause = readOne(causedBy)
    return cause?.type !== 'tool.called' || cause.facts.foreign !== false
  }

  const isForeignAt = (seq: number) => {
    const event = readOne(seq)
    return event === undefined || isForeign(event)
  }

  function isForeign(event: AnyEvent): boolean {
    switch (event.type) {
      case 'chat.message.received':
        return event.facts.spoken === true
      case 'chat.reply.sent':
      case 'chat.reply.stopped':
      case 'tool.called':
      case 'tool.returned':
        return event.facts.foreign !== false
      case 'timer.set':
        return event.facts.by === 'delegate' && madeByForeignCall(event)
      case 'task.dispatched':
        return event.facts.by === 'delegate' && madeByForeignCall(event)
      // The owner may paste anything into a note, and into nothing else that a model is given.
      case 'note.created':
      case 'note.updated':
        return event.facts.source === 'owner' || madeByForeignCall(event)
      case 'memory.stored':
        return event.facts.sourceSeqs.some(isForeignAt)
      // The service's own words around those of others.
      case 'timer.fired':
      case 'timer.missed':
      case 'signal.raised':
        return event.derivedFrom.length === 0 || event.derivedFrom.some(isForeignAt)
      case 'reply.redacted':
        return isForeignAt(event.facts.replySeq)
      default:
        return true
    }
  }

  return isForeign
}
