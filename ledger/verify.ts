import { bodyDigest, chainHash, type EventRow } from './codec.ts'
import { LedgerDamaged } from './errors.ts'
import { beginsAfter, isLost, type NamedGap, namedGaps } from './lost.ts'
import type { Head, LedgerReader } from './reader.ts'

const CHUNK_ROWS = 500

/**
 * Verifies the chain after `fromSeq`: no gaps in `seq`, every hash, every body against its digest, an `erased` fact for
 * every missing body, and a `ledger.salvaged` fact for every lost event. Returns the head. Throws LedgerDamaged with the
 * first damaged seq.
 */
export function verifyChain(reader: LedgerReader, fromSeq = 0, onProgress?: (seq: number) => void): Head {
  let head: Head = { seq: fromSeq, hash: reader.hashAt(fromSeq) ?? '' }
  for (const rows of verifiedRows(reader, fromSeq)) {
    head = rows.at(-1) ?? head
    onProgress?.(head.seq)
  }
  return { seq: head.seq, hash: head.hash }
}

/** Yields the rows after `fromSeq` in chunks, each verified like in `verifyChain`. Throws LedgerDamaged. */
export function* verifiedRows(reader: LedgerReader, fromSeq: number): Generator<EventRow[]> {
  const start = reader.hashAt(fromSeq)
  if (start === null) throw new LedgerDamaged(`event ${fromSeq} is missing`, { seq: fromSeq })
  let head: Head = { seq: fromSeq, hash: start }
  let gaps: readonly NamedGap[] | undefined
  let previousRow = reader.rowAt(fromSeq)
  for (;;) {
    const rows = reader.rowsAfter(head.seq, CHUNK_ROWS)
    if (rows.length === 0) return
    for (const row of rows) {
      const previous = head
      head = verifyLink(previous, row)
      if (isLost(row)) {
        gaps ??= namedGaps(reader)
        verifyGap(gaps, previous, { seq: row.seq, isFirst: !previousRow || !isLost(previousRow) })
      }
      previousRow = row
      if (row.body === null && row.bodyDigest !== null && !reader.isErased(row.seq))
        throw new LedgerDamaged(`event ${row.seq} has lost its body, and no erased fact names it`, {
          seq: row.seq,
        })
    }
    yield rows
  }
}

/**
 * Without the hash before the gap, the head would vouch for nothing before it. The missing events must begin where a
 * fact says, or forged ones could fill the beginning of the gap.
 */
function verifyGap(
  gaps: readonly NamedGap[],
  previous: Head,
  { seq, isFirst }: { readonly seq: number; readonly isFirst: boolean },
): void {
  const named = gaps.filter(({ firstSeq, lastSeq }) => firstSeq <= seq && seq <= lastSeq)
  if (named.length === 0)
    throw new LedgerDamaged(`event ${seq} is lost, and no ledger.salvaged fact names it`, { seq })
  if (!named.some((gap) => (isFirst ? beginsAfter(gap, previous) : gap.firstSeq < seq)))
    throw new LedgerDamaged(`event ${previous.seq} is not the one that was before the lost event ${seq}`, {
      seq: previous.seq,
    })
}

/**
 * Verifies one event against its predecessor and returns the new head. A lost event passes: whether it is acknowledged
 * is known only later. Throws LedgerDamaged.
 */
export function verifyLink(previous: Head, row: EventRow): Head {
  const expectedSeq = previous.seq + 1
  if (row.seq !== expectedSeq)
    throw new LedgerDamaged(`event ${expectedSeq} is missing`, { seq: expectedSeq })
  if (isLost(row)) return { seq: row.seq, hash: row.hash }
  if (row.hash !== chainHash(previous.hash, row.seq, row)) {
    throw new LedgerDamaged(`event ${row.seq} is not what was written: its hash does not match the chain`, {
      seq: row.seq,
    })
  }
  const digestHolds =
    row.body === null
      ? row.salt === null
      : row.salt !== null && row.bodyDigest === bodyDigest(row.salt, row.body)
  if (!digestHolds)
    throw new LedgerDamaged(`event ${row.seq} is not what was written: its body was changed`, {
      seq: row.seq,
    })
  return { seq: row.seq, hash: row.hash }
}
