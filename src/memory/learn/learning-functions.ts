import type { NewEvent } from '../../../ledger/event.ts'
import { createMemoryQueries, type MemoryRow } from '../../../projections/memory-queries.ts'
import { createTurnQueries } from '../../../projections/turns.ts'
import { createUtteranceQueries } from '../../../projections/utterances.ts'
import type { FunctionThread, Sources, ThreadFunctions } from '../../storage/function-thread.ts'
import { createRecallRanker } from '../recall/ranker.ts'
import type { Candidate, Offered } from './candidate.ts'
import { type Checked, type Context, check } from './checks.ts'
import { BY_SERVICE, barredFact, placeOf, retiredFact } from './facts.ts'
import { createLearning, type Learning } from './learning.ts'
import { readPlainly } from './patterns.ts'
import { citationsIn, retractionsIn } from './remarks.ts'
import { createRetiring } from './replaced.ts'
import { acceptRequest } from './request.ts'
import { createWindowReader, type Quotable, type Window } from './window.ts'
import { addingFacts, type Replaced, replacingFacts, type Written, type Wrote } from './written.ts'

/** Memories offered to the model: similar ones, then single-valued ones, then the latest. */
const OFFERED_NEAR = 16
const OFFERED_SINGLE = 16
const OFFERED_LATEST = 8
/** Upper bound for one model answer; the rest is dropped. */
const MAX_CANDIDATES = 50
/** Further ones are only counted. */
const MAX_DISCARDED_FACTS = 10

/** The next window to read, with the memories to offer to the model. */
export type ToRead = { readonly window: Window; readonly offered: readonly Offered[] }

/** The queries and decisions of learning, over one data directory. */
function createLibrary({ views, ledger }: Sources) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)
  const turns = createTurnQueries(views)
  const ranker = createRecallRanker({ views })
  const windows = createWindowReader({ ledger, utterances, isHidden: queries.repeatsBarred })

  /** Current memories that share words with what is said, most relevant first. */
  function memoriesNear(quotables: readonly Quotable[]): MemoryRow[] {
    const hits = quotables.flatMap(({ text, utterance }) =>
      ranker.recall({
        text,
        asker: 'owner',
        nowMs: Date.parse(utterance.at),
        timezone: 'UTC',
        isRead: true,
        beforeSeq: Number.MAX_SAFE_INTEGER,
        excludedSeqs: [],
      }),
    )
    return hits
      .filter(({ kind }) => kind === 'memory')
      .sort((a, b) => b.relevance - a.relevance)
      .flatMap(({ seq }) => queries.byStoredSeq(seq) ?? [])
  }

  const eventsOf = (turnId: string) => ledger.readSeqs(turns.eventSeqs(turnId))

  /** Whether a memory was learned in the conversation that the window shows. */
  function isRecent(memoryId: string, { shown }: Window): boolean {
    const memory = queries.byId(memoryId)
    const sources = queries.sources(memoryId)
    return memory !== undefined && shown.some(({ seq }) => sources.includes(seq))
  }

  const retiring = createRetiring({ queries, utterances })

  return { queries, windows, memoriesNear, isRecent, retiring, eventsOf }
}

/** Functions of the learning thread. They read the current views: append the facts before the next call. */
export const learningFunctions = {
  /** Checks the evidence of candidates, at most MAX_CANDIDATES of them. */
  check:
    (_sources: Sources) =>
    ({
      candidates,
      ...context
    }: Context & {
      /** Candidates from a model; null to read plain statements without one. */
      readonly candidates: readonly Candidate[] | null
    }): Checked[] => {
      const { quotables, timezone } = context
      const read = (): Candidate[] =>
        quotables.flatMap(({ text, utterance }) => readPlainly(text, { at: utterance.at, timezone }))
      return (candidates ?? read()).slice(0, MAX_CANDIDATES).map((candidate) => check(candidate, context))
    },

  /** The next window of at most `limit` utterances; null if nothing is unread. */
  nextToRead: (sources: Sources) => {
    const { queries, windows, memoriesNear } = createLibrary(sources)
    return ({ limit, offers }: { readonly limit: number; readonly offers: boolean }): ToRead | null => {
      const window = windows.next(limit)
      if (!window || !offers || window.quotables.length === 0) return window && { window, offered: [] }
      const near = new Map(memoriesNear(window.quotables).map((row) => [row.memoryId, row] as const))
      const rows = [
        ...[...near.values()].slice(0, OFFERED_NEAR),
        ...queries.singleValued(OFFERED_SINGLE),
        ...queries.current(Number.MAX_SAFE_INTEGER, OFFERED_LATEST),
      ]
      const distinct = new Map(rows.map((row) => [row.memoryId, row] as const))
      const offered = [...distinct.values()].flatMap(
        ({ memoryId, storedSeq: seq, text, subject, slot, validFrom: since }) =>
          text === null ? [] : [{ memoryId, seq, text, subject: subject ?? '', slot: slot ?? '', since }],
      )
      return { window, offered }
    }
  },

  /** The facts of a window: memories learned, retracted and cited. */
  conclude: (sources: Sources) => {
    const { queries, windows, isRecent, retiring, eventsOf } = createLibrary(sources)
    return ({
      window,
      checked,
    }: {
      readonly window: Window
      /** Each with the id of the memory that it may become. */
      readonly checked: readonly (Checked & { readonly newId: string })[]
    }) => {
      const facts: NewEvent[] = []
      const learning = createLearning(queries)
      const hidden = checked.flatMap((each) => (each.outcome === 'secret' ? each.sourceSeqs : []))
      const secretSeqs = [...new Set(hidden)]
      if (secretSeqs.length > 0) facts.push(barredFact(secretSeqs), ...retiring(secretSeqs, 'retracted'))
      let accepted = 0
      let discarded = 0
      for (const each of checked) {
        if (each.outcome === 'rejected') {
          discarded += 1
          if (discarded <= MAX_DISCARDED_FACTS) facts.push(discardedFact(window, each.reason))
          continue
        }
        if (each.outcome === 'secret') continue
        const { saidSeq, sourceSeqs } = each.outcome === 'ended' ? each : each.accepted
        const said = windows.utteranceAt(saidSeq)
        // Skip it if its source is not to be kept, or was forgotten while the model was working.
        if (!said || sourceSeqs.some((seq) => secretSeqs.includes(seq) || !windows.utteranceAt(seq))) continue
        if (each.outcome === 'ended') {
          if (isRecent(each.memoryId, window))
            facts.push(retiredFact(each.memoryId, 'retracted', placeOf(said)))
          continue
        }
        accepted += 1
        const how = { newId: each.newId, place: placeOf(said), by: 'extraction' } as const
        facts.push(...learning.learn(each.accepted, how).facts)
      }
      facts.push(...retractionsIn(window, { windows, queries }), ...citationsIn(window, queries, eventsOf))
      return { facts, accepted, unrecorded: Math.max(0, discarded - MAX_DISCARDED_FACTS) }
    }
  },

  /** Judges and consolidates what the owner asks to remember. */
  remember: (sources: Sources) => {
    const { queries, windows } = createLibrary(sources)
    return ({
      text,
      messageSeq,
      timezone,
      ...how
    }: {
      readonly text: string
      readonly messageSeq: number
      readonly timezone: string
    } & Omit<Learning, 'by'>) => {
      const accepted = acceptRequest(text, messageSeq, { windows, timezone })
      if (typeof accepted === 'string') return { outcome: 'refused' as const, reason: accepted }
      const learned = createLearning(queries).learn(accepted, { ...how, by: 'owner' })
      return { outcome: 'kept' as const, ...learned }
    }
  },

  /** What the owner writes by hand: a new memory, or one in place of those that it names. */
  write: ({ views, ledger }: Sources) => {
    const queries = createMemoryQueries(views)
    const replacedOf = (memoryId: string): Replaced[] => {
      const row = queries.byId(memoryId)
      const [event] = row ? ledger.readSeqs([row.storedSeq]) : []
      return row && event?.type === 'memory.stored' ? [{ row, keywords: event.body?.keywords ?? [] }] : []
    }
    return ({
      memoryId,
      replacedIds,
      ...written
    }: Written & {
      readonly memoryId: string
      /** None for a new memory. */
      readonly replacedIds: readonly string[]
    }): Wrote => {
      const [first, ...others] = replacedIds.flatMap(replacedOf)
      return first
        ? { facts: replacingFacts(written, [first, ...others], memoryId), memoryId }
        : addingFacts(written, memoryId, queries)
    }
  },
} as const satisfies ThreadFunctions

export type LearningThread = FunctionThread<typeof learningFunctions>

function discardedFact({ readSeqs }: Window, reason: string): NewEvent {
  return { type: 'memory.discarded', ...BY_SERVICE, facts: { reason, sourceSeqs: [...readSeqs] } }
}
