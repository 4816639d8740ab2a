import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'

export type IsForeign = (event: AnyEvent) => boolean

/**
 * Whether an event may hold words of others: of notes, texts, callers, tasks, or of a model that had read any. Only
 * what the owner types into the chat is theirs for sure, and what a model made that was given nothing else.
 */
export function createIsForeign(ledger: LedgerReader): IsForeign {
  /** Facts do not change, so each is judged once. */
  const judged = new Map<number, boolean>()
  const readOne = (seq: number | null) => (seq === null ? undefined : ledger.readSeqs([seq])[0])
  /** What a tool made is as the call was. */
  const madeByForeignCall = ({ causedBy }: AnyEvent) => {
    const cause = readOne(causedBy)
    return cause?.type !== 'tool.called' || cause.facts.foreign !== false
  }

  /** Foreign by itself, or as foreign as the facts that it repeats words of. */
  function lookAt(event: AnyEvent): 'foreign' | readonly number[] {
    switch (event.type) {
      case 'chat.message.received':
        return event.facts.spoken === true ? 'foreign' : []
      case 'chat.reply.sent':
      case 'chat.reply.stopped':
      case 'tool.called':
      case 'tool.returned':
        return event.facts.foreign === false ? [] : 'foreign'
      // The owner may paste anything into the fields of a page.
      case 'timer.set':
      case 'task.dispatched':
        return event.facts.by === 'owner' || madeByForeignCall(event) ? 'foreign' : event.derivedFrom
      case 'note.created':
      case 'note.updated':
        return event.facts.source === 'owner' || madeByForeignCall(event) ? 'foreign' : event.derivedFrom
      case 'memory.stored':
        return [...event.facts.sourceSeqs, ...event.derivedFrom]
      // The service's own words around those of others.
      case 'timer.fired':
      case 'timer.missed':
      case 'signal.raised':
        return event.derivedFrom.length === 0 ? 'foreign' : event.derivedFrom
      case 'reply.redacted':
        return [event.facts.replySeq]
      default:
        return 'foreign'
    }
  }

  /** Looks through everything that it derives from; a list that grew line by line goes back far. */
  function holdsForeignWords(event: AnyEvent): boolean {
    const met = new Set([event.seq])
    const open: (AnyEvent | undefined)[] = [event]
    while (open.length > 0) {
      const next = open.pop()
      const found = next === undefined ? 'foreign' : lookAt(next)
      if (found === 'foreign' || found.some((seq) => judged.get(seq))) return true
      const fresh = found.filter((seq) => !judged.has(seq) && !met.has(seq))
      for (const seq of fresh) {
        met.add(seq)
        open.push(readOne(seq))
      }
    }
    return false
  }

  return (event) => {
    const known = judged.get(event.seq)
    if (known !== undefined) return known
    const isForeign = holdsForeignWords(event)
    judged.set(event.seq, isForeign)
    return isForeign
  }
}
