import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { catalogue } from '../../ledger/events/catalogue.ts'
import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import type { ErasureTargetKind } from '../../projections/erasures.ts'
import { noteRevisions } from '../../projections/note-queries.ts'
import type { ViewsTables } from '../../projections/tables.ts'
import type { ErasureRoot } from './plan.ts'

export type ErasureTarget =
  | { readonly kind: Exclude<ErasureTargetKind, 'period' | 'words'>; readonly id: string }
  | { readonly kind: 'period'; readonly from: string; readonly to: string }
  /** Memories, and messages of the owner that stay but are no longer used. */
  | ({ readonly kind: 'words' } & Chosen)
  /** The messages that the erasure with this id has left on the timeline. */
  | { readonly kind: 'messages'; readonly id: string }

export type Chosen = { readonly memoryIds: readonly string[]; readonly messageSeqs: readonly number[] }

/** Where forgetting begins. */
export type Forgettable = {
  /** All versions of the memories. */
  readonly memoryIds: readonly string[]
  /** The chosen messages. */
  readonly messageSeqs: readonly number[]
  readonly roots: readonly ErasureRoot[]
  /** Source events: they stay on the timeline but are barred. */
  readonly barredSeqs: readonly number[]
}

export type Named =
  | ({ readonly status: 'ok' } & Forgettable)
  /** It does not exist, or is erased already. */
  | { readonly status: 'unknown' }
  | { readonly status: 'too_much'; readonly limit: number }

/** More at once would keep the query thread busy for seconds. */
const MAX_NAMED_EVENTS = 20_000
/** Rows to read before yielding to the event loop. */
const SLICE_ROWS = 300
/** Events to read before that. */
const SLICE_EVENTS = 100

/** Finds the events with the words of a target. */
export function createTargets(options: {
  readonly ledger: LedgerReader
  readonly kysely: Kysely<ViewsTables>
  /** Null if nothing of it is left. `askedSeq` is the message that asks to forget it. */
  readonly forgettable: (chosen: Chosen, askedSeq: number | null) => Promise<Forgettable | null>
  /** The owner's messages that an erasure has left on the timeline. */
  readonly leftBy: (erasureId: string) => readonly number[]
  /** The redacted copies of a reply, and the same message before and after the owner asked it again. */
  readonly copiesOf: (replySeq: number) => readonly number[]
  readonly spanSeqs: (spanId: string) => readonly number[]
  readonly adaptationSeqs: (id: string) => readonly number[]
  /** The events of an import, or of an imported conversation. */
  readonly importedSeqs: (kind: 'import' | 'imported', id: string) => readonly number[]
}) {
  const { ledger } = options

  /** Scans the timeline's events: times need not ascend with seqs, since clocks jump. */
  async function periodSeqs(from: string, to: string): Promise<number[]> {
    const found: number[] = []
    let last = 0
    for (;;) {
      const rows = ledger.rowsAfter(last, SLICE_ROWS)
      for (const { seq, at, body, type } of rows)
        if (body !== null && at >= from && at < to && !isOfImport(type)) found.push(seq)
      const next = rows.at(-1)
      if (!next || rows.length < SLICE_ROWS) return found
      last = next.seq
      await setImmediate()
    }
  }

  async function seqsOf(target: ErasureTarget): Promise<readonly number[]> {
    switch (target.kind) {
      case 'note': {
        const revisions = await noteRevisions(options.kysely, target.id)
        return revisions.flatMap(({ titleSeq, contentSeq }) => [titleSeq, contentSeq])
      }
      case 'adaptation':
        return options.adaptationSeqs(target.id)
      case 'import':
      case 'imported':
        return options.importedSeqs(target.kind, target.id)
      case 'message':
        return /^\d{1,15}$/.test(target.id) ? [Number(target.id)] : []
      case 'span':
        return options.spanSeqs(target.id)
      case 'period':
        return periodSeqs(target.from, target.to)
      case 'messages':
        return options.leftBy(target.id)
      default:
        return []
    }
  }

  return async (target: ErasureTarget, askedSeq: number | null): Promise<Named> => {
    if (target.kind === 'memory' || target.kind === 'words') {
      const chosen = target.kind === 'words' ? target : { memoryIds: [target.id], messageSeqs: [] }
      const found = await options.forgettable(chosen, askedSeq)
      return found === null ? { status: 'unknown' } : { status: 'ok', ...found }
    }
    const named = await seqsOf(target)
    // What shows or says the same goes too.
    const copies = named.flatMap(options.copiesOf)
    const seqs = [...new Set([...named, ...copies])].sort((a, b) => a - b)
    const present = (await outlinesOf(ledger, seqs)).filter(hasWords)
    if (present.length === 0) return { status: 'unknown' }
    if (present.length > MAX_NAMED_EVENTS) return { status: 'too_much', limit: MAX_NAMED_EVENTS }
    const roots = present.map(({ seq, type }) => ({ seq, words: isOfImport(type) ? [] : null, stays: false }))
    return { status: 'ok', memoryIds: [], messageSeqs: [], roots, barredSeqs: [] }
  }
}

function hasWords(event: AnyEvent): boolean {
  return !event.erased && (event.type === 'unknown' || catalogue[event.type].body !== null)
}

/** Only what names them as its source repeats their words: memories, and candidates for those. */
const isOfImport = (type: string): boolean => type.startsWith('import.')

/** Events without bodies. Yields to the event loop, because there may be thousands. */
export async function outlinesOf(ledger: LedgerReader, seqs: readonly number[]): Promise<AnyEvent[]> {
  const found: AnyEvent[] = []
  for (let from = 0; from < seqs.length; from += SLICE_EVENTS) {
    if (from > 0) await setImmediate()
    found.push(...ledger.outlinesOf(seqs.slice(from, from + SLICE_EVENTS)))
  }
  return found
}
