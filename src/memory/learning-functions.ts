import type { NewEvent } from '../../ledger/event.ts'
import { createMemoryQueries } from '../../projections/memory-queries.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import type { FunctionThread, Sources, ThreadFunctions } from '../storage/function-thread.ts'
import { type Accepted, type Assessment, type AssessRequest, assess } from './assess.ts'
import type { CountedEnd } from './counters.ts'
import type { Offered, Rejection } from './gates.ts'
import { contentWords, hasWord, indexWords } from './language/words.ts'
import { createLearning, type MemoryPlace } from './learning.ts'
import { createNearMemories } from './recall/near.ts'
import { citationsIn, retractionsIn } from './remarks.ts'
import { acceptRequest } from './request.ts'
import { createWindowReader, type Window } from './window.ts'

/** Memories that a model is asked about: near ones, then those whose slot could be filled anew, then the latest. */
const OFFERED_NEAR = 16
const OFFERED_SINGLE = 16
const OFFERED_LATEST = 8
const OFFERED_WORDS = 64
const MAX_DISCARDED_FACTS = 10
/** Enough of its words in common to be linked. */
const LINK_COVERAGE = 0.5

export type OfferedMemory = Offered & { readonly since: string }

/** The next window to be read, with the memories that a model is asked about. */
export type ToRead = { readonly window: Window; readonly offered: readonly OfferedMemory[] }

/** Facts to be appended, and what is to be counted for them. */
export type Conclusion = {
  readonly facts: readonly NewEvent[]
  readonly accepted: number
  readonly counts: readonly CountedEnd[]
}

export type ConcludeArgs = {
  readonly window: Window
  readonly assessments: readonly Assessment[]
  readonly method: 'model' | 'rules'
  /** For new memories; one for each that was accepted. */
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

/** What learning reads and decides, over the stores of a data directory. */
function createCourt({ views, ledger }: Sources) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)
  const turns = createTurnQueries(views)
  const near = createNearMemories(views)
  const windows = createWindowReader({ ledger, utterances, isBarred: queries.isBarred })

  /** The memory to link to; none where too few words are the same. */
  function nearestTo(words: readonly string[]): string | null {
    const [nearest] = words.length === 0 ? [] : near({ words, limit: 1 })
    if (!nearest?.text) return null
    const index = indexWords(nearest.text)
    return words.filter((word) => hasWord(index, word)).length >= words.length * LINK_COVERAGE
      ? nearest.memoryId
      : null
  }

  /** What a turn was given of what is remembered, and what it said. */
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
        if (id === undefined) throw new Error('more was learned than was accepted')
        return id
      },
      count: (end) => void counts.push(end),
    })
  }

  return { queries, windows, near, nearestTo, recalledIn, learningWith }
}

/** What the learning thread can be asked. It decides over the views as they are; who asks appends before asking again. */
export const learningFunctions = {
  assess: (_sources: Sources) => (request: AssessRequest) => assess(request),

  /** The next window of at most `limit` utterances; null where there is nothing to read. */
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

  /** What a window comes to: everything that was accepted, taken back or cited. */
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
        // Forgotten while the model was thinking: what rests on it is not learned.
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

  /** What the owner asks to be remembered, judged and weighed against what is known. */
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

/** Asks the learning thread. */
export type LearningThread = FunctionThread<typeof learningFunctions>

function discardedFact({ readSeqs }: Window, reason: string): NewEvent {
  return {
    type: 'memory.discarded',
    actor: 'service',
    channel: 'inner',
    facts: { reason, sourceSeqs: [...readSeqs] },
  }
}
