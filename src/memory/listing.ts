import { createImportQueries } from '../../projections/imports.ts'
import {
  createMemoryQueries,
  isKept,
  type MemoryRow,
  searchMemories,
} from '../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import type { Sources } from '../storage/function-thread.ts'
import { kindNamed } from './learn/candidate.ts'
import { strengthOf } from './learn/strength.ts'

export type MemoryListQuery = {
  /** Words to search for; null for all memories. */
  readonly q: string | null
  /** Pinned memories only, or only the others; null for all. */
  readonly pinned: boolean | null
  readonly limit: number
  readonly beforeSeq: number | null
  readonly nowMs: number
  readonly halfLifeDays: number
}

/** Older uses change the strength too little to show. */
const STRENGTH_USES = 64
const SHOWN_SOURCES = 50

/** Presents memories for the routes. Reading one here is not a use. */
export function createMemoryPresenter({ views, ledger }: Pick<Sources, 'views' | 'ledger'>) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)
  const imports = createImportQueries(views)

  /** No view has them. */
  function detailsOf({ storedSeq }: MemoryRow): { readonly keywords?: string[]; readonly pasted?: true } {
    const [event] = ledger.readSeqs([storedSeq])
    if (event?.type !== 'memory.stored') return {}
    const keywords = event.body?.keywords
    return { ...(keywords?.length ? { keywords } : {}), ...(event.facts.pasted ? { pasted: true } : {}) }
  }

  return (row: MemoryRow, { nowMs, halfLifeDays }: Pick<MemoryListQuery, 'nowMs' | 'halfLifeDays'>) => {
    const kind = kindNamed(row.kind)
    const uses = queries.uses(row.memoryId, STRENGTH_USES).map(({ at }) => Date.parse(at))
    const sourceSeqs = queries.sources(row.memoryId).slice(0, SHOWN_SOURCES)
    return {
      id: row.memoryId,
      text: row.text ?? '',
      kind,
      status: isKept(row.status) ? row.status : ('active' as const),
      subject: row.subject ?? '',
      slot: row.slot ?? '',
      value: row.value ?? '',
      quote: row.quote ?? '',
      ...detailsOf(row),
      ...(row.pinnedSeq === null ? {} : { pinned: true }),
      ...(row.byHand === 1 ? { by: 'owner' as const } : {}),
      strength: row.pinnedSeq === null ? strengthOf(uses, { kind, nowMs, halfLifeDays }) : 1,
      reinforcements: row.reinforcements,
      createdAt: row.createdAt,
      lastReinforcedAt: row.lastReinforcedAt,
      lastSurfacedAt: row.lastSurfacedAt,
      eventTime: row.eventTime,
      validFrom: row.validFrom,
      validUntil: row.validUntil,
      contestedWith: queries.contestedWith(row.memoryId),
      sources: sourceSeqs.map((seq) => {
        const part = imports.partAt(seq)
        return {
          seq,
          conversationId: utterances.bySeq(seq)?.conversationId ?? null,
          ...(part === undefined ? {} : { importedId: part.id }),
        }
      }),
    }
  }
}

/** Memories for the routes, newest first. Runs in the query thread, because it counts thousands of them. */
export function createMemoryListing(sources: Pick<Sources, 'views' | 'ledger'>) {
  const { views } = sources
  const queries = createMemoryQueries(views)
  const present = createMemoryPresenter(sources)

  return (query: MemoryListQuery) => {
    const { q, pinned, limit, beforeSeq } = query
    const words = q?.trim() ?? ''
    const { rows, count } =
      words === ''
        ? {
            rows: queries.shown({
              beforeSeq: beforeSeq ?? Number.MAX_SAFE_INTEGER,
              limit: limit + 1,
              pinned,
            }),
            count: queries.count(pinned),
          }
        : searchMemories(views, { query: words, limit: limit + 1, beforeSeq, pinned })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      memories: page.map((row) => present(row, query)),
      count,
      nextCursor: rows.length > limit && last ? String(last.storedSeq) : null,
    }
  }
}
