import type { LimitFunction } from 'p-limit'
import type { Append, NewEvent } from '../../ledger/event.ts'
import { isHidden, isKept, type MemoryQueries, type MemoryRow } from '../../projections/memory-queries.ts'
import { BY_HAND } from './learn/facts.ts'
import type { LearningThread } from './learn/learning-functions.ts'
import type { Written } from './learn/written.ts'
import type { Pinned } from './recall/pinned.ts'

/** The words of the owner, as the page sends them. */
export type ByHandWords = Pick<Written, 'text' | 'kind' | 'isPasted'>

export type ByHandChange = {
  /** Undefined leaves it as it is. */
  readonly text?: string | undefined
  readonly kind?: NonNullable<Written['kind']> | undefined
  readonly pinned?: boolean | undefined
  readonly isPasted: boolean
}

export type ByHandRefusal =
  | 'unknown'
  /** It is superseded or retired. */
  | 'outdated'
  /** Only what is taken as a fact can be pinned. */
  | 'unconfirmed'
  | 'pins_full'

export type ByHandOutcome = { readonly memory: MemoryRow } | { readonly refused: ByHandRefusal }

/**
 * What the owner does to memories on the page, all of it by facts of the owner. An edit or a merge stores a new memory
 * in place of the old ones, so nothing is lost and each can be restored.
 */
export function createByHand(options: {
  readonly append: Append
  readonly queries: MemoryQueries
  readonly thread: LearningThread
  readonly pinned: Pick<Pinned, 'hasRoomFor'>
  /** Shared with learning, so that neither comes between the other's steps. */
  readonly lock: LimitFunction
  readonly timezone: () => string
  readonly newId: () => string
  readonly nowMs: () => number
}) {
  const { append, queries, lock, pinned } = options

  const write = (words: ByHandWords, replacedIds: readonly string[]) =>
    options.thread.ask('write', {
      ...words,
      replacedIds,
      memoryId: options.newId(),
      at: new Date(options.nowMs()).toISOString(),
      timezone: options.timezone(),
    })

  function currentOf(memoryId: string): { readonly row: MemoryRow } | { readonly refused: ByHandRefusal } {
    const row = queries.byId(memoryId)
    if (!row || isHidden(row)) return { refused: 'unknown' }
    return isKept(row.status) ? { row } : { refused: 'outdated' }
  }

  async function appended(facts: readonly NewEvent[], memoryId: string): Promise<{ memory: MemoryRow }> {
    if (facts.length > 0) await append(facts)
    const memory = queries.byId(memoryId)
    if (!memory) throw new Error('a memory is missing from the views after its fact was appended')
    return { memory }
  }

  /** Writes one memory in place of others. It is pinned if `isPinned`. */
  async function replace(
    words: ByHandWords,
    rows: readonly [MemoryRow, ...MemoryRow[]],
    isPinned: boolean,
  ): Promise<ByHandOutcome> {
    const replacedIds = rows.map(({ memoryId }) => memoryId)
    if (isPinned && !pinned.hasRoomFor({ ...rows[0], text: words.text }, replacedIds))
      return { refused: 'pins_full' }
    const { facts, memoryId } = await write(words, replacedIds)
    return appended([...facts, ...(isPinned ? [pinFact(memoryId, true)] : [])], memoryId)
  }

  return {
    /** Stores a new memory, or strengthens the one that already says it (`isNew` is false). */
    add: (words: ByHandWords) =>
      lock(async () => {
        const { facts, memoryId } = await write(words, [])
        const { memory } = await appended(facts, memoryId)
        return { memory, isNew: facts.some(({ type }) => type === 'memory.stored') }
      }),

    /** Edits and pins. Changed words make a new memory, with another id. */
    change: (memoryId: string, { text, kind, pinned: asked, isPasted }: ByHandChange) =>
      lock(async (): Promise<ByHandOutcome> => {
        const current = currentOf(memoryId)
        if ('refused' in current) return current
        const { row } = current
        const wasPinned = row.pinnedSeq !== null
        const isPinned = asked ?? wasPinned
        const isEdited = (text ?? row.text) !== row.text || (kind ?? row.kind) !== row.kind
        if (isEdited) {
          const words = { text: text ?? row.text ?? '', kind: kind ?? null, isPasted }
          return replace(words, [row], isPinned)
        }
        if (isPinned === wasPinned) return { memory: row }
        if (isPinned && row.status === 'provisional') return { refused: 'unconfirmed' }
        if (isPinned && !pinned.hasRoomFor(row, [])) return { refused: 'pins_full' }
        return appended([pinFact(memoryId, isPinned)], memoryId)
      }),

    /** Merges memories into one with these words, which is pinned if one of them was. */
    merge: (memoryIds: readonly string[], words: ByHandWords) =>
      lock(async (): Promise<ByHandOutcome> => {
        const rows: MemoryRow[] = []
        for (const memoryId of memoryIds) {
          const current = currentOf(memoryId)
          if ('refused' in current) return current
          rows.push(current.row)
        }
        const [first, ...others] = rows
        if (!first) return { refused: 'unknown' }
        return replace(
          words,
          [first, ...others],
          rows.some(({ pinnedSeq }) => pinnedSeq !== null),
        )
      }),
  }
}

function pinFact(memoryId: string, pinned: boolean): NewEvent {
  return { type: 'memory.pinned', ...BY_HAND, facts: { memoryId, pinned } }
}
