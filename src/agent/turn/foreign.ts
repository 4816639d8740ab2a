import type { AnyEvent, LedgerReader } from '../../../ledger/reader.ts'

export type IsForeign = (event: AnyEvent) => boolean

/**
 * Whether an event may hold words of others: notes, texts, callers, tasks, or a model that has read any. Only
 * what the owner types into the chat is surely theirs, and what a model made from nothing else.
 */
export function createIsForeign(ledger: LedgerReader): IsForeign {
  /** Cached for good, because facts don't change. */
  const verdicts = new Map<number, boolean>()
  const readOne = (seq: number | null) => (seq === null ? undefined : ledger.readSeqs([seq])[0])
  /** What a tool made is foreign if its call was. */
  const madeByForeignCall = ({ causedBy }: AnyEvent) => {
    const cause = readOne(causedBy)
    return cause?.type !== 'tool.called' || cause.facts.foreign !== false
  }

  /** Either foreign by itself, or the seqs of its sources, which decide. */
  function sourcesOf(event: AnyEvent): 'foreign' | readonly number[] {
    switch (event.type) {
      case 'chat.message.received':
        return event.facts.spoken === true || (event.facts.pasted ?? []).length > 0 ? 'foreign' : []
      case 'chat.reply.sent':
      case 'chat.reply.stopped':
      case 'context.compaction.succeeded':
      case 'tool.called':
      case 'tool.returned':
        return event.facts.foreign === false ? [] : 'foreign'
      // The owner may paste anything into the fields of a page.
      case 'timer.set':
      case 'timer.changed':
      case 'task.dispatched':
        return event.facts.by === 'owner' || madeByForeignCall(event) ? 'foreign' : event.derivedFrom
      case 'note.created':
      case 'note.updated':
        return event.facts.source === 'owner' || madeByForeignCall(event) ? 'foreign' : event.derivedFrom
      case 'memory.stored':
        // Without sources, the owner wrote it on the page.
        return event.facts.pasted ? 'foreign' : [...event.facts.sourceSeqs, ...event.derivedFrom]
      // The service's words wrap those of the sources.
      case 'timer.fired':
      case 'timer.missed':
      case 'signal.raised':
        return event.derivedFrom.length === 0 ? 'foreign' : event.derivedFrom
      // Only the service's own words.
      case 'turn.failed':
        return []
      case 'reply.redacted':
        return [event.facts.replySeq]
      default:
        return 'foreign'
    }
  }

  /** Follows the sources to the end, without recursion: the history of a list can be long. */
  function holdsForeignWords(event: AnyEvent): boolean {
    const met = new Set([event.seq])
    const open: (AnyEvent | undefined)[] = [event]
    while (open.length > 0) {
      const next = open.pop()
      const found = next === undefined ? 'foreign' : sourcesOf(next)
      if (found === 'foreign' || found.some((seq) => verdicts.get(seq))) return true
      const fresh = found.filter((seq) => !verdicts.has(seq) && !met.has(seq))
      for (const seq of fresh) {
        met.add(seq)
        open.push(readOne(seq))
      }
    }
    return false
  }

  return (event) => {
    const known = verdicts.get(event.seq)
    if (known !== undefined) return known
    const isForeign = holdsForeignWords(event)
    verdicts.set(event.seq, isForeign)
    return isForeign
  }
}
