import type { LimitFunction } from 'p-limit'
import type { Append, NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { isHidden, isKept, type MemoryQueries, type MemoryRow } from '../../projections/memory-queries.ts'
import type { MemoryCounters } from './counters.ts'
import type { Rejection } from './learn/checks.ts'
import type { LearningThread } from './learn/learning-functions.ts'
import { keptKey } from './learn/window.ts'

export type MemoryOrigin = {
  readonly by: 'owner' | 'tool'
  readonly channel: 'chat' | 'voice' | 'sms' | 'inner' | 'system'
  readonly conversationId?: string | null
  readonly spanId?: string | null
  readonly turnId?: string | null
  readonly causedBy?: number
  /** The owner's message that asks for it; null if there is none. */
  readonly messageSeq?: number | null
}

export type RememberOutcome =
  | { readonly status: 'kept'; readonly memory: MemoryRow; readonly isNew: boolean }
  | { readonly status: 'refused'; readonly reason: Rejection }

export type Memories = {
  /** Keeps what the owner asks to remember, if it is in the owner's words. Reinforces a known statement. */
  remember(
    text: string,
    key: string,
    origin: MemoryOrigin & { readonly messageSeq: number },
  ): Promise<RememberOutcome>
  /**
   * Makes a memory active, in place of its successor and of its predecessor: undoes a replacement, and confirms
   * a provisional memory. `current` if it is active already.
   */
  restore(memoryId: string, origin: MemoryOrigin): Promise<'restored' | 'unknown' | 'current'>
  /**
   * Keeps a message after all that was barred because the owner asked not to keep it. What was forgotten stays
   * barred. False if it was not barred for that reason. Idempotent.
   */
  keep(seq: number): Promise<boolean>
}

export type MemoriesOptions = {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly ledger: Pick<LedgerReader, 'rowByKey'>
  readonly thread: LearningThread
  /** Waits a short time for the indexes to catch up. */
  readonly indexed: () => Promise<unknown>
  readonly counters: MemoryCounters
  readonly lock: LimitFunction
  readonly timezone: () => string
  readonly newId: () => string
}

/** Remembers and restores memories at the owner's request. Forgetting is an erasure. */
export function createMemories(options: MemoriesOptions): Memories {
  const { append, queries, lock } = options

  return {
    async remember(text, key, origin) {
      await options.indexed()
      return lock(async () => {
        const learned = await options.thread.ask('remember', {
          text,
          messageSeq: origin.messageSeq,
          timezone: options.timezone(),
          memoryId: options.newId(),
          place: placeOf(origin),
        })
        if (learned.outcome === 'refused') return { status: 'refused', reason: learned.reason }
        for (const end of learned.counts) options.counters.add(end)
        const [first, ...rest] = learned.facts
        if (!first) throw new Error('learning produced no facts')
        const appended = await append([{ ...first, key }, ...rest])
        // A retry after a crash: the first run already appended the fact.
        const existing =
          appended.status === 'duplicate' && 'facts' in appended.existing ? appended.existing : null
        const id = existing && 'memoryId' in existing.facts ? existing.facts.memoryId : learned.memoryId
        const memory = id === null ? undefined : queries.byId(id)
        if (!memory) throw new Error('a memory is missing from the views after its fact was appended')
        return { status: 'kept', memory, isNew: first.type === 'memory.stored' }
      })
    },

    async restore(memoryId, origin) {
      return lock(async () => {
        const memory = queries.byId(memoryId)
        // A hidden memory comes back only by undoing its erasure.
        if (!memory || isHidden(memory)) return 'unknown'
        if (memory.status === 'active') return 'current'
        const envelope = {
          actor: origin.by === 'owner' ? 'owner' : 'service',
          channel: origin.channel,
          ...placeOf(origin),
        } as const
        const successor = memory.supersededBy === null ? undefined : queries.byId(memory.supersededBy)
        const successorRetired: NewEvent[] =
          successor && isKept(successor.status)
            ? [
                {
                  type: 'memory.retired',
                  ...envelope,
                  facts: { memoryId: successor.memoryId, reason: 'restored' },
                },
              ]
            : []
        const predecessor = memory.supersedes === null ? undefined : queries.byId(memory.supersedes)
        // The predecessor may have been restored since. Override it again, or both would be active.
        const predecessorOverridden: NewEvent[] =
          predecessor && isKept(predecessor.status)
            ? [
                {
                  type: 'memory.overridden',
                  ...envelope,
                  facts: { memoryId: predecessor.memoryId, byId: memoryId, validUntil: memory.validFrom },
                },
              ]
            : []
        await append([
          ...successorRetired,
          { type: 'memory.restored', ...envelope, facts: { memoryId } },
          ...predecessorOverridden,
        ])
        return 'restored'
      })
    },

    keep: (seq) =>
      lock(async () => {
        const key = keptKey(seq)
        if (!queries.isSecret(seq)) return options.ledger.rowByKey(key) !== undefined
        const facts = { sourceSeqs: [seq] }
        await append([{ type: 'memory.sources.kept', actor: 'owner', channel: 'system', key, facts }])
        return true
      }),
  }
}

function placeOf({ conversationId, spanId, turnId, causedBy }: MemoryOrigin) {
  return { conversationId, spanId, turnId, causedBy }
}
