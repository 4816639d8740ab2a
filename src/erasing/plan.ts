import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import { createContextQueries } from '../../projections/context.ts'
import { createDerivationsQuery } from '../../projections/derivations.ts'
import type { Sources } from '../storage/function-thread.ts'
import { familyOf, roleOf } from './kinds.ts'
import { quotableWords, withoutWords, wordsOfEvent } from './quotation.ts'

export type ErasureRoot = {
  readonly seq: number
  /** The words to erase, as `quotableWords` returns them; null for all words of the event. */
  readonly words: readonly string[] | null
  /** The event itself keeps its words, like the source message of a forgotten memory. */
  readonly stays: boolean
}

/** A reply without the erased words that it quotes. */
export type Redaction = {
  readonly seq: number
  /** The original reply; equals `seq` unless that is a redacted copy. */
  readonly replySeq: number
  readonly text: string
}

export type ErasurePlan = {
  /** The erased events, ascending: roots, their copies, and what was learned from them. */
  readonly seqs: readonly number[]
  /** Copies of those replies in `seqs` that also say something else. */
  readonly redactions: readonly Redaction[]
  /** Timers, notes, tasks and messages that quote the words but keep them, ascending. */
  readonly stays: readonly number[]
  /** The roots with their words, to plan again after they are erased. */
  readonly roots: readonly ErasureRoot[]
}

const NOTHING: ReadonlySet<string> = new Set()

/**
 * Plans an erasure from recorded sources. An event is affected only if its `derivedFrom` names an affected
 * event and it repeats words from it that none of its other sources contains. Reads only derived events.
 */
export function createErasurePlan({ views, wholeLedger }: Pick<Sources, 'views' | 'wholeLedger'>) {
  const derivedFrom = createDerivationsQuery(views)
  const { keptAfter } = createContextQueries(views)

  /** Opaque reasoning items may repeat anything said before, so they go with any earlier event. */
  function keptSince(seqs: readonly number[]): number[] {
    const [first] = seqs
    const kept = first === undefined ? [] : keptAfter(first)
    if (kept.length === 0) return []
    const conversations = new Set(wholeLedger.outlinesOf(seqs).map(({ conversationId }) => conversationId))
    return kept.filter(({ conversationId }) => conversations.has(conversationId)).map(({ seq }) => seq)
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
  const lostWords = new Map<number, ReadonlySet<string>>(roots.map(({ seq, words }) => [seq, new Set(words)]))
  const erased = new Set(roots.filter(({ stays }) => !stays).map(({ seq }) => seq))
  const redactions = new Map<number, Redaction>()
  const stays = new Set(roots.filter(({ stays }) => stays).map(({ seq }) => seq))

  /** The words that an event repeats only from affected sources. */
  function quotedBy(event: AnyEvent): Set<string> {
    const lost = lostTo(event)
    const sources = standingSources(event)
    const isExplained = (word: string) =>
      sources.some((seq) => wordsAt(seq).has(word) && lostWords.get(seq)?.has(word) !== true)
    return new Set([...wordsAt(event.seq)].filter((word) => lost.has(word) && !isExplained(word)))
  }

  /** The sources of an event that stay. The sources of a tool's result stand in for it once it loses words. */
  function standingSources(event: AnyEvent, met = new Set<number>()): number[] {
    return event.derivedFrom.flatMap((seq) => {
      if (met.has(seq)) return []
      met.add(seq)
      const source = lostWords.has(seq) ? read(seq) : undefined
      if (source?.type === 'tool.returned') return standingSources(source, met)
      return isWholly(seq) ? [] : [seq]
    })
  }

  /** The words that the affected sources of an event lose. */
  function lostTo({ derivedFrom: sources }: AnyEvent): ReadonlySet<string> {
    const [first, ...others] = sources.flatMap((seq) => lostWords.get(seq) ?? [])
    return others.reduce((all, each) => all.union(each), first ?? NOTHING)
  }

  const isWholly = (seq: number) => erased.has(seq) && !redactions.has(seq)

  /** The words that an event loses; null if it is not affected. */
  function lossOf(event: AnyEvent): ReadonlySet<string> | null {
    const { seq } = event
    switch (roleOf(event)) {
      case 'said':
        return null
      case 'summary':
        // A summary covers its sources in other words.
        erased.add(seq)
        return wordsAt(seq).intersection(lostTo(event))
      case 'memory':
        // Goes only with a source that is erased whole: a message that stays may have other memories.
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

  /** Null if the event is not a reply, or says nothing else. */
  function redact(event: AnyEvent, quoted: ReadonlySet<string>): Redaction | null {
    if (event.type === 'unknown' || roleOf(event) !== 'reply' || !event.body || !('text' in event.body))
      return null
    const replySeq = event.type === 'reply.redacted' ? event.facts.replySeq : event.seq
    // This copy is from an undone erasure and is not shown.
    if (replySeq !== event.seq && read(replySeq)?.erased === false) return null
    const text = withoutWords(event.body.text, quoted)
    return text === null ? null : { seq: event.seq, replySeq, text }
  }

  const pending = new Set([...lostWords.keys()].flatMap(derivedFrom))
  const headSeq = ledger.head().seq
  // Sources precede what derives from them, so ascending order visits each event once.
  for (let seq = 1; seq <= headSeq; seq += 1) {
    if (!pending.has(seq) || lostWords.has(seq)) continue
    const event = read(seq)
    if (!event || event.type === 'unknown') continue
    // An event erased earlier may have repeated any lost word, and so may events that derive from it.
    const loss = event.erased ? lostTo(event) : event.body && lossOf(event)
    if (!loss) continue
    lostWords.set(seq, loss)
    for (const derived of derivedFrom(seq)) pending.add(derived)
  }
  return { seqs: ascending(erased), redactions: [...redactions.values()], stays: ascending(stays), roots }
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

/** The words that identify quotations of these texts. */
export function wordsOfTexts(texts: readonly (string | null)[]): string[] {
  return [...quotableWords(texts.filter((text) => text !== null).join('\n'))]
}
