import type { Database } from 'better-sqlite3'
import type { LedgerEvent } from '../ledger/event.ts'
import { REPLACED, SECRECY } from './memory-fold.ts'
import { toIndexed, toMatch } from './search-text.ts'

export type MemoryStatus =
  | 'active'
  | 'provisional'
  | 'superseded'
  | 'contested'
  | 'retired'
  | 'deleted'
  | `hidden:${string}`

export type MemoryRow = {
  storedSeq: number
  memoryId: string
  kind: string
  status: MemoryStatus
  supersedes: string | null
  supersededBy: string | null
  linkedTo: string | null
  /** 0 or 1. */
  singleValued: number
  learnedBy: 'owner' | 'extraction'
  /** Whether the owner wrote it on the page: 0 or 1. */
  byHand: number
  /** The event that pinned it; null if it is not pinned. */
  pinnedSeq: number | null
  eventTime: string | null
  validFrom: string
  /** When it ceases to be true; null if no end is known. */
  validUntil: string | null
  /** Null once erased, like the other words below. */
  text: string | null
  subject: string | null
  slot: string | null
  value: string | null
  quote: string | null
  canonicalKey: string | null
  slotKey: string | null
  statementKey: string | null
  createdAt: string
  lastReinforcedAt: string | null
  lastSurfacedAt: string | null
  reinforcements: number
}

/** A memory, and what the owner wrote in its place. */
export type ReplacedRow = MemoryRow & { readonly successorId: string; readonly successorSeq: number }

export type MemoryUse = { readonly seq: number; readonly at: string; readonly use: string }
/** A change to memories that the delegate has not been signalled yet. */
export type MemoryOutcome = {
  readonly seq: number
  readonly kind: 'consolidated' | 'conflicted' | 'overridden'
  readonly memoryId: string
  readonly otherId: string
}

export type MemoryCount = { readonly status: MemoryStatus; readonly kind: string; readonly count: number }

const CURRENT = "status IN ('active', 'contested', 'provisional')"
const IS_PINNED_AS_ASKED = '(@pinned IS NULL OR (pinnedSeq IS NOT NULL) = @pinned)'
const HIDDEN = "status LIKE 'hidden:%'"
const SAME_SLOT_LIMIT = 50

/** Whether a memory is current or waits to be confirmed. */
export function isKept(status: MemoryStatus): status is 'active' | 'contested' | 'provisional' {
  return status === 'active' || status === 'contested' || status === 'provisional'
}

/** Whether it waits to be erased. Only undoing the erasure brings it back. */
export const isHidden = ({ status }: Pick<MemoryRow, 'status'>): boolean => status.startsWith('hidden:')

/** Queries over memories. Unless stated otherwise, each is a point read or bounded by its limit. */
export function createMemoryQueries(views: Database) {
  const byId = views.prepare<[string], MemoryRow>(
    "SELECT * FROM memories WHERE memoryId = ? AND status <> 'deleted'",
  )
  const current = views.prepare<[number, number], MemoryRow>(
    `SELECT * FROM memories WHERE ${CURRENT} AND storedSeq < ? ORDER BY storedSeq DESC LIMIT ?`,
  )
  const shown = views.prepare<[{ beforeSeq: number; limit: number; pinned: number | null }], MemoryRow>(
    `SELECT * FROM memories WHERE ${CURRENT} AND storedSeq < @beforeSeq AND ${IS_PINNED_AS_ASKED}
     ORDER BY storedSeq DESC LIMIT @limit`,
  )
  const pinned = views.prepare<[], MemoryRow>(
    `SELECT * FROM memories WHERE pinnedSeq IS NOT NULL AND status IN ('active', 'contested') ORDER BY pinnedSeq`,
  )
  const replacedByHand = views.prepare<
    [{ seq: number; canonicalKey: string; statementKey: string }],
    ReplacedRow
  >(
    `SELECT memories.*, successor.memoryId AS successorId, successor.storedSeq AS successorSeq
     FROM memories JOIN memories AS successor ON successor.memoryId = memories.supersededBy
     WHERE memories.status = 'superseded' AND successor.byHand = 1 AND successor.status <> 'deleted'
       AND successor.canonicalKey IS NOT memories.canonicalKey
       AND (memories.canonicalKey = @canonicalKey
         OR (memories.statementKey <> '' AND memories.statementKey = @statementKey)
         OR memories.memoryId IN (SELECT memoryId FROM memory_sources WHERE seq = @seq))
     ORDER BY memories.storedSeq`,
  )
  const single = views.prepare<[number], MemoryRow>(
    `SELECT * FROM memories WHERE singleValued = 1 AND ${CURRENT} ORDER BY storedSeq DESC LIMIT ?`,
  )
  const byKey = views.prepare<[string], MemoryRow>(
    `SELECT * FROM memories WHERE canonicalKey = ? AND ${CURRENT}`,
  )
  const byStatement = views.prepare<[string], MemoryRow>(
    `SELECT * FROM memories WHERE statementKey = ? AND statementKey <> '' AND ${CURRENT}`,
  )
  const bySlot = views.prepare<[string], MemoryRow>(
    `SELECT * FROM memories WHERE slotKey = ? AND slotKey <> '' AND ${CURRENT} ORDER BY storedSeq DESC LIMIT ${SAME_SLOT_LIMIT}`,
  )
  const byStoredSeq = views.prepare<[number], MemoryRow>(
    `SELECT * FROM memories WHERE storedSeq = ? AND ${CURRENT}`,
  )
  const bySource = views.prepare<[number], MemoryRow>(
    `SELECT memories.* FROM memory_sources JOIN memories USING (memoryId) WHERE seq = ? AND ${CURRENT}`,
  )
  const editedFrom = views.prepare<[number], MemoryRow>(
    `SELECT memories.* FROM memory_sources JOIN memories USING (memoryId)
     JOIN memories AS successor ON successor.memoryId = memories.supersededBy AND successor.byHand = 1
     WHERE seq = ? AND memories.status = 'superseded'`,
  )
  const predecessors = views.prepare<[string], MemoryRow>(
    "SELECT * FROM memories WHERE supersededBy = ? AND status <> 'deleted'",
  )
  const ended = views.prepare<[string, number], MemoryRow>(
    `SELECT * FROM memories WHERE validUntil IS NOT NULL AND ${CURRENT} AND validUntil <= ? ORDER BY validUntil LIMIT ?`,
  )
  const nextEnd = views.prepare<[], { validUntil: string | null }>(
    `SELECT min(validUntil) AS validUntil FROM memories WHERE validUntil IS NOT NULL AND ${CURRENT}`,
  )
  const uses = views.prepare<[string, number], MemoryUse>(
    'SELECT seq, at, use FROM memory_uses WHERE memoryId = ? ORDER BY seq DESC LIMIT ?',
  )
  const sources = views.prepare<[string], { seq: number }>(
    'SELECT seq FROM memory_sources WHERE memoryId = ? ORDER BY seq',
  )
  const contests = views.prepare<[string], { withId: string }>(
    'SELECT withId FROM memory_contests WHERE memoryId = ? ORDER BY withId',
  )
  const outcomes = views.prepare<[], MemoryOutcome>('SELECT * FROM memory_outcomes ORDER BY seq LIMIT 100')
  const barred = views.prepare<[number], { seq: number }>(
    'SELECT seq FROM memory_barred_sources WHERE seq = ?',
  )
  const secret = views.prepare<[number], { seq: number }>(
    `SELECT seq FROM memory_barred_sources WHERE seq = ? AND causeId = '${SECRECY}'`,
  )
  const replaced = views.prepare<[number], { seq: number }>(
    `SELECT seq FROM memory_barred_sources WHERE seq = ? AND causeId = '${REPLACED}'`,
  )
  const hiddenSource = views.prepare<[number], { seq: number }>(
    `SELECT seq FROM memory_sources JOIN memories USING (memoryId) WHERE seq = ? AND ${HIDDEN} LIMIT 1`,
  )
  const allForgotten = views.prepare<[], { seq: number }>(
    `SELECT seq FROM memory_barred_sources
     UNION SELECT seq FROM memories JOIN memory_sources USING (memoryId) WHERE ${HIDDEN}`,
  )
  const barredCount = views.prepare<[], { count: number }>(
    'SELECT count(*) AS count FROM memory_barred_sources',
  )
  const latestEvents = views.prepare<[number], { seq: number }>(
    'SELECT seq FROM memory_events ORDER BY seq DESC LIMIT ?',
  )
  const counts = views.prepare<[], MemoryCount>(
    'SELECT status, kind, count(*) AS count FROM memories GROUP BY kind, status',
  )
  const count = views.prepare<[{ pinned: number | null }], { count: number }>(
    `SELECT count(*) AS count FROM memories WHERE ${CURRENT} AND ${IS_PINNED_AS_ASKED}`,
  )
  const isBarred = (seq: number) => barred.get(seq) !== undefined
  const isForgotten = (seq: number) => isBarred(seq) || hiddenSource.get(seq) !== undefined
  return {
    byId: (memoryId: string) => byId.get(memoryId),
    /** Current and provisional memories stored before `beforeSeq`, newest first. */
    current: (beforeSeq: number, limit: number) => current.all(beforeSeq, limit),
    /** Pinned ones only, or only the others, if `pinned` is not null; newest first. */
    shown: (asked: { beforeSeq: number; limit: number; pinned: boolean | null }) =>
      shown.all({ ...asked, pinned: asNumber(asked.pinned) }),
    /** Those that every turn of the owner is given, in the order in which they were pinned. */
    pinned: () => pinned.all(),
    /** Superseded memories in whose place the owner wrote other words: with this source, or the same statement. */
    replacedByHand: (said: { seq: number; canonicalKey: string; statementKey: string }) =>
      replacedByHand.all(said),
    /** Those whose slot holds one value at a time. */
    singleValued: (limit: number) => single.all(limit),
    byCanonicalKey: (key: string) => byKey.all(key),
    byStatementKey: (key: string) => byStatement.all(key),
    bySlotKey: (key: string) => bySlot.all(key),
    byStoredSeq: (seq: number) => byStoredSeq.get(seq),
    /** Memories with this event as a source. */
    bySource: (seq: number) => bySource.all(seq),
    /** Superseded memories with this event as a source, in whose place the owner wrote others. */
    editedFrom: (seq: number) => editedFrom.all(seq),
    /** The memories that it superseded. */
    predecessors: (memoryId: string) => predecessors.all(memoryId),
    endedBy: (at: string, limit: number) => ended.all(at, limit),
    nextEnd: () => nextEnd.get()?.validUntil ?? null,
    /** Newest first. */
    uses: (memoryId: string, limit: number) => uses.all(memoryId, limit),
    sources: (memoryId: string) => sources.all(memoryId).map(({ seq }) => seq),
    contestedWith: (memoryId: string) => contests.all(memoryId).map(({ withId }) => withId),
    outcomes: () => outcomes.all(),
    isBarred,
    /** Whether it is barred because the owner asked not to keep it. */
    isSecret: (seq: number) => secret.get(seq) !== undefined,
    /** Whether another message took its place. */
    isReplaced: (seq: number) => replaced.get(seq) !== undefined,
    /**
     * Whether the delegate must not look at the event: it, or one it derives from, is barred or is a source
     * of a hidden memory. Undoing an erasure reveals the latter again.
     */
    repeatsBarred: ({ seq, derivedFrom }: Pick<LedgerEvent, 'seq' | 'derivedFrom'>) =>
      isForgotten(seq) || derivedFrom.some(isForgotten),
    /** All events that are barred or are a source of a hidden memory. Scans the memories. */
    forgottenSeqs: (): ReadonlySet<number> => new Set(allForgotten.all().map(({ seq }) => seq)),
    /** If this changed, something was barred or unbarred. */
    barredCount: () => barredCount.get()?.count ?? 0,
    latestEventSeqs: (limit: number) => latestEvents.all(limit).map(({ seq }) => seq),
    /** `counts` and `count` scan all memories: use them in the query thread. */
    counts: () => counts.all(),
    count: (pinned: boolean | null) => count.get({ pinned: asNumber(pinned) })?.count ?? 0,
  }
}

export type MemoryQueries = ReturnType<typeof createMemoryQueries>

const asNumber = (is: boolean | null) => (is === null ? null : Number(is))

export type MemorySearch = {
  readonly query: string
  readonly limit: number
  readonly beforeSeq: number | null
  /** Pinned memories only, or only the others; null for all. */
  readonly pinned: boolean | null
}

/**
 * Memories that match all words of a query, newest first, and the number of matches. Scans the search index,
 * which also covers the timeline: use it in the query thread, after the index has caught up.
 */
export function searchMemories(
  views: Database,
  { query, limit, beforeSeq, pinned }: MemorySearch,
): { rows: MemoryRow[]; count: number } {
  const match = toMatch(query)
  if (match === null) return { rows: [], count: 0 }
  const asked = {
    match,
    limit,
    beforeSeq: beforeSeq ?? Number.MAX_SAFE_INTEGER,
    pinned: asNumber(pinned),
  }
  const found = `FROM search_index JOIN memories ON memories.storedSeq = search_index.rowid
    WHERE search_index MATCH @match AND ${CURRENT} AND ${IS_PINNED_AS_ASKED}`
  const rows = views
    .prepare<[typeof asked], MemoryRow>(
      `SELECT memories.* ${found} AND search_index.rowid < @beforeSeq ORDER BY search_index.rowid DESC LIMIT @limit`,
    )
    .all(asked)
  const counted = views
    .prepare<[typeof asked], { count: number }>(`SELECT count(*) AS count ${found}`)
    .get(asked)
  return { rows, count: counted?.count ?? 0 }
}

const quoted = (word: string) => `"${toIndexed(word).replaceAll('"', '')}"`

/** Utterances that contain all the words or one of the numbers, newest first. For the query thread. */
export function mentionsOf(
  views: Database,
  args: { readonly words: readonly string[]; readonly numbers: readonly string[]; readonly limit: number },
): number[] {
  const all = args.words.length < 2 ? [] : [`(${args.words.map(quoted).join(' AND ')})`]
  const match = [...all, ...args.numbers.map(quoted)].join(' OR ')
  if (match === '') return []
  return views
    .prepare<[string, number], { seq: number }>(
      `SELECT search_index.rowid AS seq FROM search_index JOIN utterances ON utterances.seq = search_index.rowid
       WHERE search_index MATCH ? ORDER BY search_index.rowid DESC LIMIT ?`,
    )
    .all(`text : (${match})`, args.limit)
    .map(({ seq }) => seq)
}
