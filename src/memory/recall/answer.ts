import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { createMemoryQueries } from '../../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../../projections/utterances.ts'
import { contentWords, coverage, hasWord, indexWords } from '../../text/words.ts'
import { createWindowReader } from '../learn/window.ts'
import { BESIDE, composeInjection, type SuppressionReason } from './injection.ts'
import { memoriesFirst } from './memories-first.ts'
import type { Hit, RecallRanker } from './ranker.ts'
import type { LateHit, RecallAnswer, RecallQuestion } from './recall-port.ts'
import { createRecollections, type Recollection, sourcesOf } from './recollections.ts'

/** Hits considered for the lines. */
const MAX_HITS = 40

type Ends = Readonly<Record<'kept' | 'duplicate' | 'irrelevant', LateHit[]>>

/**
 * Answers recall questions: finds, reads and chooses in one transaction over the views, so that nothing
 * surfaces that is already erased, barred or superseded. Synchronous, so run it in a worker thread.
 */
export function createRecallAnswers(options: {
  readonly views: Database
  readonly ledger: LedgerReader
  readonly ranker: RecallRanker
}) {
  const { views, ledger, ranker } = options
  const { repeatsBarred } = createMemoryQueries(views)
  const windows = createWindowReader({
    ledger,
    utterances: createUtteranceQueries(views),
    isHidden: repeatsBarred,
  })
  const recollect = createRecollections({ views, ledger })
  const idsAt = views
    .prepare<[string], [seq: number, memoryId: string]>(
      'SELECT storedSeq, memoryId FROM memories WHERE storedSeq IN (SELECT value FROM json_each(?))',
    )
    .raw()

  function find(question: RecallQuestion): readonly Hit[] {
    const { conversationId, inContextSeqs, toldSeqs = [], contextTurns, near = [], ...cue } = question
    // Earlier messages explain the cue, and are excluded from the results.
    const earlier =
      contextTurns === 0 ? [] : windows.ownersBefore(conversationId, cue.beforeSeq, contextTurns)
    const context = earlier.map(({ text }) => text).join('\n')
    const excludedSeqs = [...inContextSeqs, ...toldSeqs, ...earlier.map(({ seq }) => seq)]
    const hits = ranker.recall({ ...cue, context, excludedSeqs, near })
    // Many repetitions of the same words rank alike, and must not crowd out the memory of them.
    const worthOf = createWorth(hits)
    return hits.toSorted((a, b) => worthOf(b) - worthOf(a)).slice(0, MAX_HITS)
  }

  function choose(question: RecallQuestion & { readonly hits: readonly Hit[] }): RecallAnswer {
    const { staged, text, config, timezone } = question
    const hits = named(question.hits)
    const inContext = new Set(question.inContextSeqs)
    const all = new Map(
      recollect([...hits, ...staged.filter(({ seq }) => !hits.some((hit) => hit.seq === seq))]).map(
        (recollection) => [recollection.seq, recollection] as const,
      ),
    )
    const isNews = ({ seq, memory }: Recollection) =>
      !inContext.has(seq) && !memory?.sourceSeqs.some((source) => inContext.has(source))
    const news = new Map([...all].filter(([, recollection]) => isNews(recollection)))
    const withWords = (some: readonly Hit[]): Recollection[] =>
      some.flatMap((hit) => {
        const recollection = news.get(hit.seq)
        return recollection ? [{ ...recollection, ...hit }] : []
      })

    const ends = endsOf(question, all, news)
    const { relevanceThreshold } = config
    const ordered = memoriesFirst(inOrder(withWords([...hits, ...ends.kept]), text, relevanceThreshold))
    const injection = composeInjection(ordered, { ...config, cue: text, timezone })
    const late = new Set(ends.kept.map(({ seq }) => seq))
    const endOf = ({ seq, kind, memoryId }: Hit, isLate = late.has(seq)) => ({ seq, kind, memoryId, isLate })
    const ended = (reason: SuppressionReason, some: readonly Hit[]) =>
      some.map((hit) => ({ ...endOf(hit, true), reason }))
    return {
      hits,
      text: injection.text,
      shown: injection.included.map((each) => ({ ...endOf(each), tokens: each.tokens })),
      shownSeqs: injection.included.flatMap(sourcesOf),
      left: [
        ...ended('duplicate', ends.duplicate),
        ...ended('irrelevant', ends.irrelevant),
        ...injection.suppressed.map(({ hit, reason }) => ({ ...endOf(hit), reason })),
      ],
      judged: question.withWords
        ? withWords(hits.filter(({ relevance }) => relevance >= relevanceThreshold))
        : [],
    }
  }

  function named(hits: readonly Hit[]): Hit[] {
    const ids = new Map(idsAt.all(JSON.stringify(hits.map(({ seq }) => seq))))
    return hits.map((hit) => ({ ...hit, memoryId: ids.get(hit.seq) }))
  }

  return {
    recall: views.transaction(
      (question: RecallQuestion): RecallAnswer => choose({ ...question, hits: find(question) }),
    ),
    choose: views.transaction(choose),
  }
}

/** What a line is worth, apart from its relevance: its rank among all, and telling of somebody whom the cue names. */
const OF_RANK = 0.15
const OF_SUBJECT = 0.1

/** Ranks hits, so that neither repetitions nor neighbours of a memory crowd it out. */
export function createWorth(hits: readonly Hit[]): (hit: Hit) => number {
  const best = Math.max(Number.MIN_VALUE, ...hits.map(({ score }) => score))
  return ({ relevance, score }) => relevance + (OF_RANK * score) / best
}

/** Best first. What else is known of somebody whom the cue names may stand beside a line that answers. */
function inOrder(
  recollections: readonly Recollection[],
  cue: string,
  threshold: number,
): readonly Recollection[] {
  const words = indexWords(cue)
  const isNamed = ({ memory }: Recollection) => {
    const subject = memory === null || memory.subject === 'owner' ? [] : contentWords(memory.subject)
    return subject.length > 0 && subject.every((word) => hasWord(words, word))
  }
  const named = new Set(recollections.filter(isNamed).map(({ seq }) => seq))
  const worth = createWorth(recollections)
  const worthOf = (each: Recollection) => worth(each) + (named.has(each.seq) ? OF_SUBJECT : 0)
  return recollections
    .toSorted((a, b) => worthOf(b) - worthOf(a))
    .map((each) =>
      named.has(each.seq) ? { ...each, relevance: Math.max(each.relevance, BESIDE * threshold) } : each,
    )
}

/** Sorts the staged hits: still relevant, repeated, or irrelevant to the current cue. */
function endsOf(
  { text, hits, staged, config }: RecallQuestion & { readonly hits: readonly Hit[] },
  all: ReadonlyMap<number, Recollection>,
  news: ReadonlyMap<number, Recollection>,
): Ends {
  const ends: Ends = { kept: [], duplicate: [], irrelevant: [] }
  if (staged.length === 0) return ends
  const words = contentWords(text)
  const known = new Set(hits.map(({ seq }) => seq))
  const texts = hits.flatMap(({ seq }) => {
    const fresh = all.get(seq)
    return fresh ? [indexWords(fresh.text)] : []
  })
  for (const hit of staged) {
    const recollection = news.get(hit.seq)
    const own = recollection ? contentWords(recollection.text) : []
    const isRepeat =
      !recollection ||
      known.has(hit.seq) ||
      texts.some((index) => coverage(index, own) >= config.duplicateThreshold)
    const relevance = recollection && words.length > 0 ? relevanceNow(hit, recollection, words) : 0
    if (isRepeat) ends.duplicate.push(hit)
    else if (relevance === 0 || relevance < config.relevanceThreshold) ends.irrelevant.push(hit)
    else ends.kept.push({ ...hit, relevance })
    known.add(hit.seq)
  }
  return ends
}

/**
 * Relevance to the current cue by the hit's own words. For a hit found by embeddings, also its earlier
 * relevance, scaled by how much of that cue recurs.
 */
function relevanceNow(hit: LateHit, { text }: Recollection, words: readonly string[]): number {
  const own = coverage(indexWords(text), words)
  return hit.foundFor === undefined
    ? own
    : Math.max(own, hit.relevance * coverage(indexWords(hit.foundFor), words))
}
