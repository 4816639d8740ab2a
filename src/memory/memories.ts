import type { LimitFunction } from 'p-limit'
import type { Append, NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { isHidden, type MemoryQueries, type MemoryRow } from '../../projections/memory-queries.ts'
import type { MemoryCounters } from './counters.ts'
import type { Rejection } from './learn/checks.ts'
import { BY_HAND, type MemoryPlace, retiredFact } from './learn/facts.ts'
import type { LearningThread } from './learn/learning-functions.ts'
import { keptKey } from './learn/window.ts'

export type Memories = ReturnType<typeof createMemories>

/** Remembers and restores memories at the owner's request. Forgetting is an erasure. */
export function createMemories(options: {
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
}) {
  const { append, queries, lock } = options

  /** What cannot be true beside a memory: its earlier and later versions, and others of a slot with one value. */
  function rivalsOf(memory: MemoryRow): MemoryRow[] {
    const rivals = new Map<string, MemoryRow>()
    for (const link of ['supersedes', 'supersededBy'] as const) {
      let version = queries.byId(memory[link] ?? '')
      while (version && !rivals.has(version.memoryId)) {
        rivals.set(version.memoryId, version)
        version = queries.byId(version[link] ?? '')
      }
    }
    const beside = memory.singleValued === 1 ? queries.bySlotKey(memory.slotKey ?? '') : []
    for (const other of beside) if (other.singleValued === 1) rivals.set(other.memoryId, other)
    rivals.delete(memory.memoryId)
    return [...rivals.values()]
  }

  return {
    /**
     * Keeps what the owner asks to remember in the message at `messageSeq`, if it is in the owner's words. Reinforces a
     * known statement.
     */
    async remember(
      text: string,
      key: string,
      { messageSeq, ...place }: MemoryPlace & { readonly messageSeq: number },
    ): Promise<
      | { readonly status: 'kept'; readonly memory: MemoryRow; readonly isNew: boolean }
      | { readonly status: 'refused'; readonly reason: Rejection }
    > {
      await options.indexed()
      return lock(async () => {
        const learned = await options.thread.ask('remember', {
          text,
          messageSeq,
          timezone: options.timezone(),
          newId: options.newId(),
          place,
        })
        if (learned.outcome === 'refused') return { status: 'refused', reason: learned.reason }
        options.counters.note(learned.facts)
        const [first, ...rest] = learned.facts
        if (!first) throw new Error('learning produced no facts')
        const appended = await append([{ ...first, key }, ...rest])
        // A retry after a crash: the first run already appended the fact.
        const existing =
          appended.status === 'duplicate' && 'facts' in appended.existing ? appended.existing : null
        const id = existing && 'memoryId' in existing.facts ? existing.facts.memoryId : learned.memoryId
        const memory = queries.byId(id)
        if (!memory) throw new Error('a memory is missing from the views after its fact was appended')
        return { status: 'kept', memory, isNew: first.type === 'memory.stored' }
      })
    },

    /**
     * Makes a memory active, in place of its rivals: undoes replacements, and confirms a provisional memory. Later
     * rivals retire; earlier ones end where it begins. `current` if it is active already.
     */
    restore: (memoryId: string): Promise<'restored' | 'unknown' | 'current'> =>
      lock(async () => {
        const memory = queries.byId(memoryId)
        // A hidden memory comes back only by undoing its erasure.
        if (!memory || isHidden(memory)) return 'unknown'
        if (memory.status === 'active') return 'current'
        const rivals = rivalsOf(memory).filter(({ status }) => status === 'active' || status === 'contested')
        const facts = rivals.map(
          (rival): NewEvent =>
            rival.storedSeq > memory.storedSeq
              ? retiredFact(rival.memoryId, 'restored', BY_HAND)
              : {
                  type: 'memory.overridden',
                  ...BY_HAND,
                  facts: { memoryId: rival.memoryId, byId: memoryId, validUntil: memory.validFrom },
                },
        )
        await append([{ type: 'memory.restored', ...BY_HAND, facts: { memoryId } }, ...facts])
        return 'restored'
      }),

    /**
     * Keeps a message after all that was barred because the owner asked not to keep it. What was forgotten stays
     * barred. False if it was not barred for that reason. Idempotent.
     */
    keep: (seq: number): Promise<boolean> =>
      lock(async () => {
        const key = keptKey(seq)
        if (!queries.isSecret(seq)) return options.ledger.rowByKey(key) !== undefined
        await append([{ type: 'memory.sources.kept', ...BY_HAND, key, facts: { sourceSeqs: [seq] } }])
        return true
      }),
  }
}
