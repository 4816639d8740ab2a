import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { createDerivationsQuery } from '../../../projections/derivations.ts'
import { createMemoryQueries, isKept } from '../../../projections/memory-queries.ts'
import { TRAIT } from '../../../projections/recall-traits.ts'
import { contentWords, coverage, indexWords } from '../../text/words.ts'
import { canonicalKey } from '../learn/canonical-key.ts'
import { createWorth } from '../recall/answer.ts'
import { createEntryQueries } from '../recall/entry-queries.ts'
import type { Cue } from '../recall/query.ts'
import type { Hit, RecallRanker } from '../recall/ranker.ts'
import { createRecollections } from '../recall/recollections.ts'
import { type Chosen, createForgettable } from './forgettable.ts'

export type FindCandidates = Pick<Cue, 'nowMs' | 'timezone' | 'isRead'> & {
  /** Words or the id of a memory. */
  readonly query: string
  /** The message that asks to forget. It is no candidate itself. */
  readonly askedSeq: number
}

/** A memory, or a message of the owner, that a request to forget may mean. */
export type Candidate = {
  /** `memory:` and its id, or `message:` and its seq. */
  readonly ref: string
  /** The fact with its words. */
  readonly seq: number
  readonly text: string
  readonly at: string
  readonly match: Match
}

/** The owner is offered at most this many. One more is returned, to tell that there are more. */
export const MAX_CANDIDATES = 20
/** `same`: the same statement or id; `whole`: all the words; `partial`: some of them. */
type Match = 'same' | 'whole' | 'partial'

/** What has a smaller share of the words matches weakly. */
const MIN_COVERAGE = 0.5
/** What recall considers to tell this much of what is asked matches in part, whatever its words. */
const RELEVANT = 0.5
const BY_MATCH: Readonly<Record<Match, number>> = { same: 0, whole: 1, partial: 2 }

export const isMemory = ({ ref }: Candidate) => ref.startsWith('memory:')

type Ranked = Candidate & { readonly isWeak: boolean; readonly isQuestion: boolean }

/**
 * Finds what a request to forget may mean: memories and the owner's messages, best match first, then as recall
 * ranks them. Leaves out a message that a better candidate takes along, earlier requests to forget, and
 * questions if anything is stated. What matches only weakly is listed if nothing matches better. Runs in the
 * query thread.
 */
export function createForgetCandidates(options: {
  readonly views: Database
  readonly ledger: LedgerReader
  readonly ranker: RecallRanker
}) {
  const { views, ledger, ranker } = options
  const queries = createMemoryQueries(views)
  const forgettable = createForgettable(views, ledger)
  const recollect = createRecollections({ views, ledger })
  const entries = createEntryQueries(views)
  const derivedFrom = createDerivationsQuery(views)

  /** A request derives from what recall showed beside it, too, so only its cause asked. */
  function isRequest(seq: number): boolean {
    return ledger
      .readSeqs(derivedFrom(seq))
      .some(
        (event) => event.type === 'tool.called' && event.facts.tool === 'forget' && event.causedBy === seq,
      )
  }

  function memoriesIn(hits: readonly Hit[], query: string, words: readonly string[]): Ranked[] {
    const key = canonicalKey(query)
    const named = queries.byId(query.trim())
    const same = [...(named && isKept(named.status) ? [named] : []), ...queries.byCanonicalKey(key)]
    const relevance = new Map(hits.map((hit) => [hit.seq, hit.relevance]))
    const ranked = hits.flatMap(({ seq, kind }) =>
      kind === 'memory' ? (queries.byStoredSeq(seq) ?? []) : [],
    )
    const rows = new Map([...same, ...ranked].map((row) => [row.storedSeq, row]))
    return [...rows.values()].map((memory) => {
      const { text, subject, slot, quote } = memory
      const covered = coverage(indexWords(text ?? '', subject ?? '', slot ?? '', quote ?? ''), words)
      const isSame = same.some(({ memoryId }) => memoryId === memory.memoryId)
      return {
        ref: `memory:${memory.memoryId}`,
        seq: memory.storedSeq,
        text: text ?? '',
        at: memory.validFrom,
        match: isSame ? 'same' : covered === 1 ? 'whole' : 'partial',
        isWeak: !isSame && covered < MIN_COVERAGE && (relevance.get(memory.storedSeq) ?? 0) < RELEVANT,
        isQuestion: false,
      } satisfies Ranked
    })
  }

  function messagesIn(hits: readonly Hit[], query: string, words: readonly string[]): Ranked[] {
    const key = canonicalKey(query)
    const own = hits.filter(({ kind, speaker }) => kind === 'turn' && speaker === 'owner')
    const traits = new Map(
      entries.bySeqs(own.map(({ seq }) => seq)).map((entry) => [entry.seq, entry.traits]),
    )
    return recollect(own).flatMap(({ seq, text, atMs, relevance }) => {
      const covered = coverage(indexWords(text), words)
      const isRelevant = relevance >= RELEVANT
      if (covered === 0 && !isRelevant) return []
      const isQuestion = ((traits.get(seq) ?? 0) & TRAIT.endsAsking) !== 0
      // A question about something does not state it.
      const isWhole = covered === 1 && !isQuestion
      const match = canonicalKey(text) === key ? 'same' : isWhole ? 'whole' : 'partial'
      return {
        ref: `message:${seq}`,
        seq,
        text,
        at: new Date(atMs).toISOString(),
        match,
        isWeak: covered < MIN_COVERAGE && !isRelevant,
        isQuestion,
      } satisfies Ranked
    })
  }

  return ({ query, askedSeq, ...cue }: FindCandidates): readonly Candidate[] => {
    const hits = ranker.recall({
      ...cue,
      text: query,
      asker: 'owner',
      beforeSeq: Number.MAX_SAFE_INTEGER,
      excludedSeqs: [askedSeq],
    })
    const words = contentWords(query)
    const worth = createWorth(hits)
    const worthOf = new Map(hits.map((hit) => [hit.seq, worth(hit)]))
    const all = [...memoriesIn(hits, query, words), ...messagesIn(hits, query, words)]
      .filter(({ isWeak }, _index, each) => !isWeak || each.every((other) => other.isWeak))
      .filter(({ isQuestion }, _index, each) => !isQuestion || each.every((other) => other.isQuestion))
      .sort(
        (a, b) =>
          BY_MATCH[a.match] - BY_MATCH[b.match] || (worthOf.get(b.seq) ?? 0) - (worthOf.get(a.seq) ?? 0),
      )
    const taken = takenBy(all.filter(isMemory))
    const kept: Candidate[] = []
    for (const { isWeak: _weak, isQuestion: _question, ...candidate } of all) {
      if (!isMemory(candidate)) {
        const isTaken = BY_MATCH[candidate.match] >= (taken.get(candidate.seq) ?? Number.POSITIVE_INFINITY)
        if (isTaken || isRequest(candidate.seq)) continue
        for (const [seq, match] of takenBy([candidate])) taken.set(seq, taken.get(seq) ?? match)
      }
      kept.push(candidate)
      if (kept.length > MAX_CANDIDATES) break
    }
    return kept
  }

  /** The messages that forgetting these takes along, with the best match of those that do. */
  function takenBy(candidates: readonly Candidate[]): Map<number, number> {
    const taken = new Map<number, number>()
    // Best match last, so that it is kept.
    for (const { ref, match } of candidates.toReversed())
      for (const seq of forgettable(chosenIn([ref]))?.barredSeqs ?? []) taken.set(seq, BY_MATCH[match])
    return taken
  }
}

/** The memories and messages that candidates name. */
export function chosenIn(refs: readonly string[]): Chosen {
  const of = (kind: string) =>
    refs.flatMap((ref) => (ref.startsWith(`${kind}:`) ? [ref.slice(kind.length + 1)] : []))
  return { memoryIds: of('memory'), messageSeqs: of('message').map(Number) }
}

/**
 * The one candidate that a request means without doubt; null if the owner must choose. It is the only one that
 * says the same as the request, or else the only one that has all its words. A message that has them is in
 * doubt as soon as a memory has some, because the request may mean that fact.
 */
export function meantBy(candidates: readonly Candidate[]): Candidate | null {
  const same = candidates.filter(({ match }) => match === 'same')
  const [only, ...others] = same.length > 0 ? same : candidates.filter(({ match }) => match === 'whole')
  if (!only || others.length > 0) return null
  const isDoubtful = !isMemory(only) && only.match === 'whole' && candidates.some(isMemory)
  return isDoubtful ? null : only
}
