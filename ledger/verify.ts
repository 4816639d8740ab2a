import { bodyDigest, chainHash, type EventRow } from './codec.ts'
import { LedgerDamaged } from './errors.ts'
import type { Head, LedgerReader } from './reader.ts'

const CHUNK_ROWS = 500

/**
 * Verifies the chain after `fromSeq`: no gaps in `seq`, every hash, every body against its digest, and an
 * `erased` fact for every missing body. Returns the head. Throws LedgerDamaged with the first damaged seq.
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
  for (;;) {
    const rows = reader.rowsAfter(head.seq, CHUNK_ROWS)
    if (rows.length === 0) return
    for (const row of rows) {
      head = verifyLink(head, row)
      if (row.body === null && row.bodyDigest !== null && !reader.isErased(row.seq))
        throw new LedgerDamaged(`event ${row.seq} has lost its body, and no erased fact names it`, {
          seq: row.seq,
        })
    }
    yield rows
  }
}

/** Verifies one event against its predecessor and returns the new head. Throws LedgerDamaged. */
export function verifyLink(previous: Head, row: EventRow): Head {
  const expectedSeq = previous.seq + 1
  if (row.seq !== expectedSeq)
    throw new LedgerDamaged(`event ${expectedSeq} is missing`, { seq: expectedSeq })
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
