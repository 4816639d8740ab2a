import type { Append, NewEvent } from '../../ledger/event.ts'
import type { MemoryQueries, MemoryRow, MemorySearch } from '../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../projections/utterances.ts'
import type { Accepted } from './assess.ts'
import type { Assessor } from './assessor.ts'
import { canonicalKey } from './canonical-key.ts'
import type { MemoryCounters } from './counters.ts'
import { createForgetting, type Forgetting } from './forgetting.ts'
import type { Rejection } from './gates.ts'
import { contentWords, hasWord, indexWords } from './language/words.ts'
import { createLearning } from './learning.ts'
import type { Lock } from './lock.ts'
import { requestFrom } from './request.ts'
import type { WindowReader } from './window.ts'

/** Where a memory operation comes from, for its facts. */
export type MemoryOrigin = {
  readonly by: 'owner' | 'tool'
  readonly channel: 'chat' | 'voice' | 'sms' | 'inner' | 'system'
  readonly conversationId?: string | null
  readonly spanId?: string | null
  readonly turnId?: string | null
  readonly causedBy?: number
  /** The owner's message that asks for it; null where there is none. */
  readonly messageSeq?: number | null
}

export type RememberOutcome =
  | { readonly status: 'kept'; readonly memory: MemoryRow; readonly isNew: boolean }
  | { readonly status: 'refused'; readonly reason: Rejection }

export type Memories = Forgetting & {
  /** Keeps what the owner asks to be remembered, if it is the owner's words; the same statement again reinforces. */
  remember(
    text: string,
    key: string,
    origin: MemoryOrigin & { readonly messageSeq: number },
  ): Promise<RememberOutcome>
  /** Memories whose words match, the best first; the newest ones for an empty query. */
  find(query: string | null, limit: number): Promise<MemoryRow[]>
  /** Makes it active again, and undoes what took its place; `current` where there is nothing to undo. */
  restore(memoryId: string, origin: MemoryOrigin): Promise<'restored' | 'unknown' | 'current'>
}

export type MemoriesOptions = {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
  readonly windows: WindowReader
  readonly assessor: Assessor
  readonly near: (words: readonly string[], limit: number) => Promise<readonly MemoryRow[]>
  readonly search: (
    query: MemorySearch,
  ) => Promise<{ readonly rows: readonly MemoryRow[]; readonly count: number }>
  /** Where something was spoken of; for barring all of it. */
  readonly mentions: (words: readonly string[], numbers: readonly string[]) => Promise<readonly number[]>
  readonly turnEventSeqs: (turnId: string) => readonly number[]
  readonly erase: (seqs: readonly number[], reason: 'memory_forgotten') => Promise<unknown>
  readonly counters: MemoryCounters
  readonly lock: Lock
  readonly timezone: () => string
  readonly newId: () => string
}

const NEAR = 40
/** A memory that a search by likeness may answer with has at least this part of the words looked for. */
const FIND_COVERAGE = 0.5

/** What the owner wants kept, found and forgotten. */
export function createMemories(options: MemoriesOptions): Memories {
  const { append, queries, lock } = options

  async function accept(text: string, messageSeq: number): Promise<Accepted | Rejection> {
    const request = requestFrom(text, messageSeq, options)
    if (!request) return 'unsupported'
    const court = {
      quotables: [request.quotable],
      shown: [request.quotable.utterance],
      offered: [],
      timezone: options.timezone(),
    }
    const [judged] = await options.assessor.assess({
      ...court,
      candidates: [request.candidate],
      isRequest: true,
    })
    if (!judged) return 'unsupported'
    if (judged.outcome === 'rejected') return judged.reason
    // Rules may tell what kind of statement it is; then it takes the place of what it corrects.
    const read = await options.assessor.assess({
      ...court,
      quotables: [{ ...request.quotable, text, agreed: false, next: null }],
      candidates: null,
    })
    const typed = read.find(
      (each) => each.outcome === 'accepted' && each.accepted.canonicalKey === canonicalKey(text),
    )
    if (typed?.outcome !== 'accepted') return judged.accepted
    const {
      kind,
      subject,
      slot,
      value,
      singleValued,
      eventTime,
      validUntil,
      slotKey,
      statementKey,
      isNegated,
    } = typed.accepted
    return {
      ...judged.accepted,
      kind,
      subject,
      slot,
      value,
      singleValued,
      eventTime,
      validUntil,
      slotKey,
      statementKey,
      isNegated,
    }
  }

  return {
    ...createForgetting(options),

    async remember(text, key, origin) {
      const accepted = await accept(text, origin.messageSeq)
      if (typeof accepted === 'string') return { status: 'refused', reason: accepted }
      const [nearest] = await options.near(accepted.words, 1)
      return lock(async () => {
        const place = placeOf(origin)
        const { facts, memoryId } = createLearning(options).learn(
          accepted,
          nearest?.memoryId ?? null,
          place,
          'owner',
        )
        const [first, ...rest] = facts
        if (!first) throw new Error('learning came to no fact')
        const appended = await append([{ ...first, key }, ...rest])
        // Run again after a crash: the first run has it.
        const existing =
          appended.status === 'duplicate' && 'facts' in appended.existing ? appended.existing : null
        const id = existing && 'memoryId' in existing.facts ? existing.facts.memoryId : memoryId
        const memory = id === null ? undefined : queries.byId(id)
        if (!memory) throw new Error('a memory is not in the views right after its fact')
        return { status: 'kept', memory, isNew: first.type === 'memory.stored' }
      })
    },

    async find(query, limit) {
      if (query === null || query.trim() === '') return queries.current(Number.MAX_SAFE_INTEGER, limit)
      const byId = queries.byId(query.trim())
      if (byId && (byId.status === 'active' || byId.status === 'contested')) return [byId]
      const words = contentWords(query)
      const [exact, near] = await Promise.all([
        options.search({ query, limit, beforeSeq: null }),
        options.near(words, NEAR),
      ])
      const scored = [
        ...new Map([...exact.rows, ...near].map((row) => [row.memoryId, row] as const)).values(),
      ].map((row) => {
        const index = indexWords(row.text ?? '', row.subject ?? '', row.slot ?? '', row.quote ?? '')
        const held = words.filter((word) => hasWord(index, word)).length
        return { row, score: words.length === 0 ? 1 : held / words.length }
      })
      return scored
        .filter(({ score }) => score >= FIND_COVERAGE)
        .sort((a, b) => b.score - a.score || b.row.storedSeq - a.row.storedSeq)
        .slice(0, limit)
        .map(({ row }) => row)
    },

    async restore(memoryId, origin) {
      return lock(async () => {
        const memory = queries.byId(memoryId)
        if (!memory) return 'unknown'
        if (memory.status === 'active') return 'current'
        const envelope = {
          actor: origin.by === 'owner' ? 'owner' : 'service',
          channel: origin.channel,
          ...placeOf(origin),
        } as const
        const successor = memory.supersededBy === null ? undefined : queries.byId(memory.supersededBy)
        const isReplaced = successor?.status === 'active' || successor?.status === 'contested'
        const undone: NewEvent[] = isReplaced
          ? [
              {
                type: 'memory.retired',
                ...envelope,
                facts: { memoryId: successor.memoryId, reason: 'restored' },
              },
            ]
          : []
        await append([...undone, { type: 'memory.restored', ...envelope, facts: { memoryId } }])
        return 'restored'
      })
    },
  }
}

function placeOf({ conversationId, spanId, turnId, causedBy }: MemoryOrigin) {
  return { conversationId, spanId, turnId, causedBy }
}
