import type { Database } from 'better-sqlite3'
import type { Append } from '../../ledger/event.ts'
import { createMemoryQueries, type MemoryRow } from '../../projections/memories.ts'
import { searchTimeline } from '../../projections/search.ts'
import { toIndexed } from '../../projections/search-text.ts'

/** Where a memory operation comes from, for its facts. */
export type MemoryOrigin = {
  readonly by: 'owner' | 'tool'
  readonly channel: 'chat' | 'voice' | 'sms' | 'inner' | 'system'
  readonly conversationId?: string | null
  readonly spanId?: string | null
  readonly turnId?: string | null
  readonly causedBy?: number
}

export type Memories = {
  /** Keeps what the owner asked to be remembered; the same statement again reinforces the first. */
  remember(text: string, sourceSeqs: readonly number[], key: string, origin: MemoryOrigin): Promise<MemoryRow>
  /** Memories whose words match, or the newest ones for an empty query. */
  find(query: string | null, limit: number): Promise<MemoryRow[]>
  /** Memories that share any of the words, the closest first. */
  findAny(words: readonly string[], limit: number): Promise<MemoryRow[]>
  /** Forgets for good: the memory, what derives from it, its index entries. False where there is none. */
  forget(memoryId: string, origin: MemoryOrigin): Promise<boolean>
}

/** What the owner wants kept, in its first form: explicit requests only. */
export function createMemories(options: {
  readonly append: Append
  readonly views: Database
  readonly erase: (seqs: readonly number[], reason: 'memory_forgotten') => Promise<unknown>
  readonly catchUpSearch: () => Promise<void>
  readonly newId: () => string
}): Memories {
  const { append, views, erase, newId } = options
  const queries = createMemoryQueries(views)
  const byAnyWord = views.prepare<[string, number], MemoryRow>(
    `SELECT memories.* FROM search_index JOIN memories ON memories.storedSeq = search_index.rowid
     WHERE search_index MATCH ? AND memories.status IN ('active', 'contested') ORDER BY rank LIMIT ?`,
  )

  return {
    async remember(text, sourceSeqs, key, origin) {
      const { by: _by, ...place } = origin
      const canonicalKey = canonicalise(text)
      const known = queries.byCanonicalKey(canonicalKey)
      if (known?.status === 'active') {
        await append([
          {
            type: 'memory.reinforced',
            actor: 'delegate',
            ...place,
            key,
            derivedFrom: sourceSeqs,
            facts: { memoryId: known.memoryId, use: 'restatement', sourceSeqs: [...sourceSeqs] },
          },
        ])
        return queries.byId(known.memoryId) ?? known
      }
      const memoryId = newId()
      const result = await append([
        {
          type: 'memory.stored',
          actor: 'delegate',
          ...place,
          key,
          derivedFrom: sourceSeqs,
          facts: {
            memoryId,
            kind: 'episode',
            sourceSeqs: [...sourceSeqs],
            supersedes: null,
            linkedTo: null,
            singleValued: false,
            eventTime: null,
            validUntil: null,
            by: 'owner',
          },
          body: { text, subject: 'owner', slot: '', value: text, quote: text, canonicalKey },
        },
      ])
      const event = result.status === 'appended' ? result.events.at(-1) : result.existing
      const stored = event?.type === 'memory.stored' ? queries.byId(event.facts.memoryId) : undefined
      if (!stored) throw new Error('a memory is not in the views right after its fact')
      return stored
    },
    async find(query, limit) {
      if (query === null || query.trim() === '') return queries.active(Number.MAX_SAFE_INTEGER, limit)
      await options.catchUpSearch()
      const found: MemoryRow[] = []
      let beforeSeq: number | null = null
      // Memories are a small part of what the index holds: walk the hits until enough of them are memories.
      for (let page = 0; page < MAX_PAGES && found.length < limit; page += 1) {
        const hits = searchTimeline(views, { query, limit: PAGE_HITS, beforeSeq })
        for (const { seq } of hits) {
          const memory = queries.byStoredSeq(seq)
          if (memory && found.length < limit) found.push(memory)
        }
        beforeSeq = hits.at(-1)?.seq ?? null
        if (hits.length < PAGE_HITS) break
      }
      return found
    },
    async findAny(words, limit) {
      const match = words.map((word) => `"${toIndexed(word)}"`).join(' OR ')
      if (match === '') return []
      await options.catchUpSearch()
      return byAnyWord.all(match, limit)
    },
    async forget(memoryId, origin) {
      const memory = queries.byId(memoryId)
      if (!memory) return false
      const { by, ...place } = origin
      await append([
        {
          type: 'memory.deleted',
          actor: by === 'owner' ? 'owner' : 'delegate',
          ...place,
          key: `memory-deleted:${memoryId}`,
          facts: { memoryId, sourceSeqs: queries.sources(memoryId), by },
        },
      ])
      await erase([memory.storedSeq], 'memory_forgotten')
      return true
    },
  }
}

const PAGE_HITS = 200
const MAX_PAGES = 10

/** Equal for statements that differ in case, width, spacing or punctuation alone. */
export function canonicalise(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}
