import type { Kysely } from 'kysely'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { ErasureTargetKind } from '../../projections/erasures.ts'
import type { MemoryQueries } from '../../projections/memory-queries.ts'
import { noteRevisions } from '../../projections/note-queries.ts'
import type { ViewsTables } from '../../projections/tables.ts'
import { giveWay } from '../give-way.ts'

/** What the owner names to be erased. */
export type ErasureTarget =
  | { readonly kind: Exclude<ErasureTargetKind, 'period'>; readonly id: string }
  | { readonly kind: 'period'; readonly from: string; readonly to: string }

export type Named =
  | { readonly status: 'ok'; readonly seqs: readonly number[] }
  /** There is no such thing, or no words of it are left. */
  | { readonly status: 'unknown' }
  | { readonly status: 'too_much'; readonly limit: number }

/** More than this at once would keep the search waiting for minutes. */
const MAX_NAMED_EVENTS = 2000
/** Rows looked at before the event loop has its turn. */
const SLICE_ROWS = 300

/** Finds the events that hold the words of what the owner names. */
export function createTargets(options: {
  readonly ledger: LedgerReader
  readonly views: Kysely<ViewsTables>
  readonly memories: Pick<MemoryQueries, 'byId' | 'predecessors'>
  readonly spanSeqs: (spanId: string) => readonly number[]
  readonly adaptationSeqs: (id: string) => readonly number[]
}) {
  const { ledger, memories } = options

  /** With every version that it took the place of: those are seen by nobody and would stay behind. */
  function memorySeqs(memoryId: string): number[] {
    const memory = memories.byId(memoryId)
    if (!memory) return []
    const versions = new Map([[memory.memoryId, memory] as const])
    for (const { memoryId: id } of versions.values()) {
      for (const older of memories.predecessors(id)) versions.set(older.memoryId, older)
    }
    return [...versions.values()].map(({ storedSeq }) => storedSeq)
  }

  /** By their own time, not by their place: clocks are set back, and order is by seq. */
  async function periodSeqs(from: string, to: string): Promise<number[]> {
    const found: number[] = []
    let last = 0
    for (;;) {
      const rows = ledger.rowsAfter(last, SLICE_ROWS)
      for (const { seq, at, body } of rows) if (body !== null && at >= from && at < to) found.push(seq)
      const next = rows.at(-1)
      if (!next || rows.length < SLICE_ROWS) return found
      last = next.seq
      await giveWay()
    }
  }

  async function seqsOf(target: ErasureTarget): Promise<readonly number[]> {
    switch (target.kind) {
      case 'memory':
        return memorySeqs(target.id)
      case 'note': {
        const revisions = await noteRevisions(options.views, target.id)
        return revisions.flatMap(({ titleSeq, contentSeq }) => [titleSeq, contentSeq])
      }
      case 'adaptation':
        return options.adaptationSeqs(target.id)
      case 'message':
        return /^\d{1,15}$/.test(target.id) ? [Number(target.id)] : []
      case 'span':
        return options.spanSeqs(target.id)
      case 'period':
        return periodSeqs(target.from, target.to)
    }
  }

  return async (target: ErasureTarget): Promise<Named> => {
    const seqs = [...new Set(await seqsOf(target))].sort((a, b) => a - b)
    const present = ledger.readSeqs(seqs).filter((event) => hasWords(event))
    if (present.length === 0) return { status: 'unknown' }
    if (present.length > MAX_NAMED_EVENTS) return { status: 'too_much', limit: MAX_NAMED_EVENTS }
    return { status: 'ok', seqs: present.map(({ seq }) => seq) }
  }
}

function hasWords(event: ReturnType<LedgerReader['readSeqs']>[number]): boolean {
  return event.type === 'unknown' ? !event.erased : event.body !== null
}
