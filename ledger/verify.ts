import { bodyDigest, chainHash, type EventRow } from './codec.ts'
import { LedgerDamaged } from './errors.ts'
import type { Head, LedgerReader } from './reader.ts'

const CHUNK_ROWS = 500

/**
 * Walks the chain of hashes from just after `fromSeq` to the head and checks every link, every body that is
 * still there against its digest, that a fact erased the others, and that no seq is missing. Returns the head that
 * it reached. Throws LedgerDamaged with the first seq that does not fit.
 */
export function verifyChain(reader: LedgerReader, fromSeq = 0, onProgress?: (seq: number) => void): Head {
  const start = reader.hashAt(fromSeq)
  if (start === null) throw new LedgerDamaged(`event ${fromSeq} is missing`, { seq: fromSeq })
  let head: Head = { seq: fromSeq, hash: start }
  for (;;) {
    const rows = reader.rowsAfter(head.seq, CHUNK_ROWS)
    if (rows.length === 0) return head
    for (const row of rows) {
      head = verifyLink(head, row)
      if (row.body === null && row.bodyDigest !== null && !reader.isErased(row.seq))
        throw new LedgerDamaged(`event ${row.seq} has lost its body, and no erased fact names it`, {
          seq: row.seq,
        })
    }
    onProgress?.(head.seq)
  }
}

/** Checks one event against the one before it, and returns the new head. Throws LedgerDamaged. */
export function verifyLink(previous: Head, row: EventRow): Head {
  const expectedSeq = previous.seq + 1
  if (row.seq !== expectedSeq)
    throw new LedgerDamaged(`event ${expectedSeq} is missing`, { seq: expectedSeq })
  if (row.hash !== chainHash(previous.hash, row.seq, row)) {
    throw new LedgerDamaged(
      `event ${row.seq} is not what was written: its hash does not follow from the chain`,
      {
        seq: row.seq,
      },
    )
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
