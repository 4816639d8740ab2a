import { isDeepStrictEqual } from 'node:util'
import type { EventRow } from './codec.ts'
import type { Head, LedgerReader, SeqRange } from './reader.ts'

/** Stands for the hash of a lost event if it is unknown. */
export const UNKNOWN_HASH = '0'.repeat(64)

export const HASH = /^[0-9a-f]{64}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * The row that stands in for a lost event, so that `seq` has no gap. Its hash is the lost event's own, if known, and
 * not that of this row: the next event still follows from it.
 */
export function lostRow(seq: number, at: string, hash: string): EventRow {
  return {
    seq,
    id: `lost-${seq}`,
    key: null,
    type: 'ledger.event.lost',
    version: 1,
    at,
    conversationId: null,
    spanId: null,
    turnId: null,
    causedBy: null,
    derivedFrom: null,
    channel: 'system',
    actor: 'service',
    facts: '{}',
    body: null,
    salt: null,
    bodyDigest: null,
    hash,
  }
}

/** Whether the row is exactly such a row: it has room for no other words. */
export function isLost(row: EventRow): boolean {
  if (row.type !== 'ledger.event.lost' || !TIME.test(row.at) || !HASH.test(row.hash)) return false
  return isDeepStrictEqual({ ...row }, lostRow(row.seq, row.at, row.hash))
}

/** Events that a `ledger.salvaged` fact names as lost, and the hash of the event before them. */
export type NamedGap = SeqRange & { readonly hashBefore: string; readonly namedBy: number }

/** Every gap that was ever acknowledged, in the order of the facts. Reads the type of every event. */
export function namedGaps(reader: LedgerReader): NamedGap[] {
  return reader
    .readOfTypes(new Set(['ledger.salvaged']), { firstSeq: 1, lastSeq: reader.head().seq })
    .flatMap((event) =>
      event.type === 'ledger.salvaged' ? event.facts.gaps.map((gap) => ({ ...gap, namedBy: event.seq })) : [],
    )
}

/** Whether the gap begins after this event. */
export function beginsAfter({ firstSeq, hashBefore }: NamedGap, { seq, hash }: Head): boolean {
  return firstSeq === seq + 1 && hashBefore === hash
}

/**
 * The events that are missing from a verified ledger, and the first fact that vouches for the event before them. Reads
 * the type of every event twice.
 */
export function openGaps(reader: LedgerReader): (SeqRange & { readonly namedBy: number })[] {
  const ranges = rangesOf(reader.seqsOf(['ledger.event.lost'], { firstSeq: 1, lastSeq: reader.head().seq }))
  const named = ranges.length === 0 ? [] : namedGaps(reader)
  return ranges.map((range) => {
    const seq = range.firstSeq - 1
    const hash = reader.hashAt(seq) ?? ''
    return { ...range, namedBy: named.find((gap) => beginsAfter(gap, { seq, hash }))?.namedBy ?? 0 }
  })
}

/** The ranges of ascending seqs. */
function rangesOf(seqs: readonly number[]): SeqRange[] {
  const starts = seqs.filter((seq, index) => seqs[index - 1] !== seq - 1)
  const ends = seqs.filter((seq, index) => seqs[index + 1] !== seq + 1)
  return starts.map((firstSeq, index) => ({ firstSeq, lastSeq: ends[index] ?? firstSeq }))
}
