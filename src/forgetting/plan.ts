import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import { createContextQueries } from '../../projections/context.ts'
import { createDerivationsQuery } from '../../projections/derivations.ts'
import type { Sources } from '../storage/function-thread.ts'
import { familyOf, roleOf } from './kinds.ts'
import { quotableWords, withoutWords, wordsOfEvent } from './quotation.ts'

/** Where an erasure begins. */
export type ErasureRoot = {
  readonly seq: number
  /** The words that are to go, as `quotableWords` has them; null for all that the event says. */
  readonly words: readonly string[] | null
  /** Whether the event itself keeps its words: the owner's message that a forgotten memory was learned from. */
  readonly stays: boolean
}

/** A reply that quotes erased words, as it reads without them. */
export type Redaction = {
  readonly seq: number
  /** The reply in whose place it stands; `seq` itself unless that is a redacted copy. */
  readonly replySeq: number
  readonly text: string
}

export type ErasurePlan = {
  /** The events that lose their words, ascending: the roots, their copies and what was learned from them. */
  readonly seqs: readonly number[]
  /** Of these, the replies that also say something else. */
  readonly redactions: readonly Redaction[]
  /** Timers, notes, tasks and messages that quote the words and keep them, ascending. */
  readonly stays: readonly number[]
  /** The roots with their words, so that the plan can be made again once these are erased. */
  readonly roots: readonly ErasureRoot[]
}

const NOTHING: ReadonlySet<string> = new Set()

/**
 * Plans an erasure from what the ledger records: an event is affected only if its `derivedFrom` names an affected event
 * and it repeats words from there that none of its other sources accounts for. Everything else keeps its words. Its cost
 * follows the number of derived events, not the length of the ledger.
 */
export function createErasurePlan({ views, wholeLedger }: Pick<Sources, 'views' | 'wholeLedger'>) {
  const derivedFrom = createDerivationsQuery(views)
  const { keptAfter } = createContextQueries(views)

  /**
   * Reasoning items that a model service kept for the rest of a turn, opaque and made of all the conversation before:
   * they go with anything that was said before them there.
   */
  function keptSince(seqs: readonly number[]): number[] {
    const [first] = seqs
    const kept = first === undefined ? [] : keptAfter(first)
    if (kept.length === 0) return []
    const places = new Set(wholeLedger.readSeqs(seqs).map(({ conversationId }) => conversationId))
    return kept.filter(({ conversationId }) => places.has(conversationId)).map(({ seq }) => seq)
  }

  return (roots: readonly ErasureRoot[]): ErasurePlan => {
    const plan = planFrom(roots, wholeLedger, derivedFrom)
    return { ...plan, seqs: ascending(new Set([...plan.seqs, ...keptSince(plan.seqs)])) }
  }
}

function planFrom(
  asked: readonly ErasureRoot[],
  ledger: LedgerReader,
  derivedFrom: (sourceSeq: number) => readonly number[],
): ErasurePlan {
  const read = cached((seq): AnyEvent | undefined => ledger.readSeqs([seq])[0])
  const wordsAt = cached((seq): ReadonlySet<string> => {
    const event = read(seq)
    return event ? wordsOfEvent(event) : NOTHING
  })
  const roots = asked.map((root) => ({ ...root, words: root.words ?? [...wordsAt(root.seq)] }))
  /** The words that each affected event loses. */
  const gone = new Map<number, ReadonlySet<string>>(roots.map(({ seq, words }) => [seq, new Set(words)]))
  const erased = new Set(roots.filter(({ stays }) => !stays).map(({ seq }) => seq))
  const redactions = new Map<number, Redaction>()
  const stays = new Set(roots.filter(({ stays }) => stays).map(({ seq }) => seq))

  /** The words that an event repeats of its affected sources, and of no other. */
  function quotedBy(event: AnyEvent): Set<string> {
    const lost = lostTo(event)
    const sources = event.derivedFrom.filter((seq) => !isWholly(seq))
    const isAccounted = (word: string) =>
      sources.some((seq) => wordsAt(seq).has(word) && gone.get(seq)?.has(word) !== true)
    return new Set([...wordsAt(event.seq)].filter((word) => lost.has(word) && !isAccounted(word)))
  }

  /** The words that the affected sources of an event lose. */
  function lostTo({ derivedFrom: sources }: AnyEvent): ReadonlySet<string> {
    const [first, ...others] = sources.flatMap((seq) => gone.get(seq) ?? [])
    return others.reduce((all, each) => all.union(each), first ?? NOTHING)
  }

  const isWholly = (seq: number) => erased.has(seq) && !redactions.has(seq)

  /** The words that an event loses; null where it is not affected. */
  function lossOf(event: AnyEvent): ReadonlySet<string> | null {
    const { seq } = event
    switch (roleOf(event)) {
      case 'said':
        return null
      case 'summary':
        // It covers its sources, whatever words it uses.
        erased.add(seq)
        return wordsAt(seq).intersection(lostTo(event))
      case 'memory':
        // Learned from words that are gone altogether. A message that stays may have taught several.
        if (!event.derivedFrom.some(isWholly)) return null
        erased.add(seq)
        return wordsAt(seq)
      case 'thing': {
        const isOwn = event.derivedFrom.some((source) => {
          const origin = isWholly(source) ? read(source) : undefined
          return origin !== undefined && familyOf(origin) === familyOf(event)
        })
        if (!isOwn) {
          if (quotedBy(event).size > 0) stays.add(seq)
          return null
        }
        erased.add(seq)
        return wordsAt(seq)
      }
      case 'step':
      case 'reply': {
        if (event.type === 'reply.redacted' && isWholly(event.facts.replySeq)) {
          erased.add(seq)
          return wordsAt(seq)
        }
        const quoted = quotedBy(event)
        if (quoted.size === 0) return null
        erased.add(seq)
        const redaction = redact(event, quoted)
        if (redaction) redactions.set(seq, redaction)
        return quoted
      }
    }
  }

  /** Null where the event is no reply, or says nothing else. */
  function redact(event: AnyEvent, quoted: ReadonlySet<string>): Redaction | null {
    if (event.type === 'unknown' || roleOf(event) !== 'reply' || !event.body || !('text' in event.body))
      return null
    const replySeq = event.type === 'reply.redacted' ? event.facts.replySeq : event.seq
    // While the reply itself can be read, a copy from an undone erasure is not shown.
    if (replySeq !== event.seq && read(replySeq)?.erased === false) return null
    const text = withoutWords(event.body.text, quoted)
    return text === null ? null : { seq: event.seq, replySeq, text }
  }

  // Sources come before what derives from them, so in their order each event is looked at once.
  const pending = createQueue()
  for (const seq of gone.keys()) pending.add(derivedFrom(seq))
  for (let seq = pending.next(); seq !== undefined; seq = pending.next()) {
    const event = gone.has(seq) ? undefined : read(seq)
    if (!event || event.type === 'unknown') continue
    // Of an event erased before nobody knows what it repeated; what was made from it may repeat the same.
    const loss = event.erased ? lostTo(event) : event.body && lossOf(event)
    if (!loss) continue
    gone.set(seq, loss)
    pending.add(derivedFrom(seq))
  }
  return { seqs: ascending(erased), redactions: [...redactions.values()], stays: ascending(stays), roots }
}

/** Numbers in ascending order, each once. */
function createQueue() {
  const waiting: number[] = []
  return {
    add(seqs: readonly number[]) {
      for (const seq of seqs) {
        let low = 0
        for (let high = waiting.length; low < high; ) {
          const middle = (low + high) >> 1
          // Descending, so that the next one is taken off the end.
          if ((waiting[middle] ?? 0) > seq) low = middle + 1
          else high = middle
        }
        if (waiting[low] !== seq) waiting.splice(low, 0, seq)
      }
    },
    next: () => waiting.pop(),
  }
}

function cached<T>(make: (seq: number) => T): (seq: number) => T {
  const made = new Map<number, T>()
  return (seq) => {
    const known = made.get(seq)
    if (known !== undefined) return known
    const value = make(seq)
    made.set(seq, value)
    return value
  }
}

function ascending(seqs: ReadonlySet<number>): number[] {
  return [...seqs].sort((a, b) => a - b)
}

/** The words by which quotations of a statement are recognised. */
export function wordsOfTexts(texts: readonly (string | null)[]): string[] {
  return [...quotableWords(texts.filter((text) => text !== null).join('\n'))]
}
