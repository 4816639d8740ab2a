import type { NewEvent } from '../../../ledger/event.ts'
import { createMemoryQueries } from '../../../projections/memory-queries.ts'
import { createTurnQueries } from '../../../projections/turns.ts'
import { createUtteranceQueries } from '../../../projections/utterances.ts'
import type { FunctionThread, Sources, ThreadFunctions } from '../../storage/function-thread.ts'
import { contentWords, hasWord, indexWords } from '../../text/words.ts'
import type { CountedEnd } from '../counters.ts'
import { createNearMemories } from '../recall/near.ts'
import { type Accepted, type Assessment, type AssessRequest, assess } from './assess.ts'
import type { Offered, Rejection } from './gates.ts'
import { createLearning, type MemoryPlace } from './learning.ts'
import { citationsIn, retractionsIn } from './remarks.ts'
import { acceptRequest } from './request.ts'
import { createWindowReader, type Window } from './window.ts'

/** Memories offered to the model: similar ones, then single-valued ones, then the latest. */
const OFFERED_NEAR = 16
const OFFERED_SINGLE = 16
const OFFERED_LATEST = 8
const OFFERED_WORDS = 64
const MAX_DISCARDED_FACTS = 10
/** Share of common words needed for a link. */
const LINK_COVERAGE = 0.5

export type OfferedMemory = Offered & { readonly since: string }

/** The next window to read, with the memories to offer to the model. */
export type ToRead = { readonly window: Window; readonly offered: readonly OfferedMemory[] }

/** Facts to append, and counters to increase. */
export type Conclusion = {
  readonly facts: readonly NewEvent[]
  readonly accepted: number
  readonly counts: readonly CountedEnd[]
}

export type ConcludeArgs = {
  readonly window: Window
  readonly assessments: readonly Assessment[]
  readonly method: 'model' | 'rules'
  /** One id per accepted assessment. */
  readonly ids: readonly string[]
}

export type RememberArgs = {
  readonly text: string
  readonly messageSeq: number
  readonly timezone: string
  readonly memoryId: string
  readonly place: MemoryPlace
}

export type Remembered =
  | { readonly outcome: 'refused'; readonly reason: Rejection }
  | (Omit<Conclusion, 'accepted'> & { readonly outcome: 'kept'; readonly memoryId: string | null })

/** The queries and decisions of learning, over one data directory. */
function createCourt({ views, ledger }: Sources) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)
  const turns = createTurnQueries(views)
  const near = createNearMemories(views)
  const windows = createWindowReader({ ledger, utterances, isBarred: queries.isBarred })

  /** The memory to link to; null if too few words match. */
  function nearestTo(words: readonly string[]): string | null {
    const [nearest] = words.length === 0 ? [] : near({ words, limit: 1 })
    if (!nearest?.text) return null
    const index = indexWords(nearest.text)
    return words.filter((word) => hasWord(index, word)).length >= words.length * LINK_COVERAGE
      ? nearest.memoryId
      : null
  }

  /** The memories a turn was given, and its reply. */
  function recalledIn(turnId: string) {
    const events = ledger.readSeqs(turns.eventSeqs(turnId))
    const reply = events.findLast(
      (event) =>
        event.type === 'chat.reply.sent' || event.type === 'sms.sent' || event.type === 'call.reply.spoken',
    )
    return {
      ids: events.flatMap((event) => (event.type === 'memory.recalled' ? event.facts.ids : [])),
      replySeq: reply?.seq ?? null,
      reply: reply?.body?.text ?? '',
    }
  }

  function learningWith(ids: readonly string[], counts: CountedEnd[]) {
    const left = [...ids]
    return createLearning({
      queries,
      newId: () => {
        const id = left.shift()
        if (id === undefined) throw new Error('learning stored more memories than it was given ids')
        return id
      },
      count: (end) => void counts.push(end),
    })
  }

  return { queries, windows, near, nearestTo, recalledIn, learningWith }
}

/** Functions of the learning thread. They read the current views: append the facts before the next call. */
export const learningFunctions = {
  assess: (_sources: Sources) => (request: AssessRequest) => assess(request),

  /** The next window of at most `limit` utterances; null if nothing is unread. */
  nextToRead: (sources: Sources) => {
    const { queries, windows, near } = createCourt(sources)
    return ({ limit, offers }: { readonly limit: number; readonly offers: boolean }): ToRead | null => {
      const window = windows.next(limit)
      if (!window || !offers || window.quotables.length === 0) return window && { window, offered: [] }
      const words = [...new Set(window.quotables.flatMap(({ text }) => contentWords(text)))]
      const rows = [
        ...near({ words: words.slice(0, OFFERED_WORDS), limit: OFFERED_NEAR }),
        ...queries.singleValued(OFFERED_SINGLE),
        ...queries.current(Number.MAX_SAFE_INTEGER, OFFERED_LATEST),
      ]
      const distinct = new Map(rows.map((row) => [row.memoryId, row] as const))
      const offered = [...distinct.values()].flatMap(({ memoryId, text, storedSeq, validFrom }) =>
        text === null ? [] : [{ memoryId, text, storedSeq, since: validFrom }],
      )
      return { window, offered }
    }
  },

  /** The facts of a window: memories learned, retracted and cited. */
  conclude: (sources: Sources) => {
    const { queries, windows, nearestTo, recalledIn, learningWith } = createCourt(sources)
    return ({ window, assessments, method, ids }: ConcludeArgs): Conclusion => {
      const counts: CountedEnd[] = []
      const facts: NewEvent[] = []
      const learning = learningWith(ids, counts)
      let accepted = 0
      let discarded = 0
      for (const assessment of assessments) {
        if (assessment.outcome === 'rejected') {
          counts.push('candidates', 'discarded')
          discarded += 1
          if (discarded <= MAX_DISCARDED_FACTS) facts.push(discardedFact(window, assessment.reason))
          continue
        }
        const { saidSeq, sourceSeqs, words } = assessment.accepted
        const said = windows.utteranceAt(saidSeq)
        // Skip it if its source was forgotten while the model was working.
        if (!said || sourceSeqs.some((seq) => !windows.utteranceAt(seq))) continue
        accepted += 1
        const { conversationId, spanId, turnId, seq } = said
        const place = { conversationId, spanId, turnId, causedBy: seq }
        const nearestId = method === 'rules' ? nearestTo(words) : null
        facts.push(...learning.learn(assessment.accepted, nearestId, place, 'extraction').facts)
      }
      facts.push(
        ...retractionsIn(window, { windows, queries }),
        ...citationsIn(window, { queries, recalledIn }),
      )
      return { facts, accepted, counts }
    }
  },

  /** Judges and consolidates what the owner asks to remember. */
  remember: (sources: Sources) => {
    const { windows, near, learningWith } = createCourt(sources)
    return ({ text, messageSeq, timezone, memoryId, place }: RememberArgs): Remembered => {
      const accepted: Accepted | Rejection = acceptRequest(text, messageSeq, { windows, timezone })
      if (typeof accepted === 'string') return { outcome: 'refused', reason: accepted }
      const counts: CountedEnd[] = []
      const [nearest] = near({ words: accepted.words, limit: 1 })
      const learning = learningWith([memoryId], counts)
      const learned = learning.learn(accepted, nearest?.memoryId ?? null, place, 'owner')
      return { outcome: 'kept', facts: learned.facts, memoryId: learned.memoryId, counts }
    }
  },
} as const satisfies ThreadFunctions

export type LearningThread = FunctionThread<typeof learningFunctions>

function discardedFact({ readSeqs }: Window, reason: string): NewEvent {
  return {
    type: 'memory.discarded',
    actor: 'service',
    channel: 'inner',
    facts: { reason, sourceSeqs: [...readSeqs] },
  }
}
