import { expect } from 'vitest'
import { closing } from '../../ledger/closing.ts'
import type { EventRow } from '../../ledger/codec.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { isLost } from '../../ledger/lost.ts'
import { createReader } from '../../ledger/reader.ts'
import { verifyChain } from '../../ledger/verify.ts'
import type { Salvaged } from '../../scripts/lib/salvage.ts'

/** All rows of a sound ledger. */
export function rowsIn(directory: string): EventRow[] {
  using db = closing(openLedgerReadOnly(directory))
  return createReader(db).rowsAfter(0, 1_000_000)
}

/** Facts about the salvage, which come after the events of the damaged ledger. */
const ADDED = new Set(['ledger.salvaged', 'erased'])

/**
 * Expects that the chain holds, that each event is either the original one or reported as missing, and nothing else.
 * Returns the seqs of the missing ones.
 */
export function expectHonest(
  directory: string,
  original: readonly EventRow[],
  { missing, saved }: Pick<Salvaged, 'missing' | 'saved'>,
): number[] {
  using db = closing(openLedgerReadOnly(directory))
  const reader = createReader(db)
  const head = verifyChain(reader)
  const reported = missing.flatMap(({ firstSeq, lastSeq }) =>
    Array.from({ length: lastSeq - firstSeq + 1 }, (_, index) => firstSeq + index),
  )
  const rows = reader.rowsAfter(0, 1_000_000)
  const lost = rows.filter(isLost).map(({ seq }) => seq)
  expect(reported).toEqual(lost)
  const kept = rows.slice(0, original.length).filter((row) => !isLost(row))
  expect(kept.length).toBe(saved)
  expect(kept.length + lost.length).toBe(original.length)
  for (const row of kept) expect(row).toEqual(withErasure(original[row.seq - 1], row))
  const added = rows.slice(original.length)
  expect(added.filter(({ type }) => !ADDED.has(type))).toEqual([])
  expect(added[0]?.type).toBe('ledger.salvaged')
  expect(head.seq).toBe(rows.length)
  return lost
}

/** A backup may bring words back only if their erasure is lost. */
function withErasure(row: EventRow | undefined, { body, salt }: EventRow): EventRow | undefined {
  return row?.body === null && body !== null ? { ...row, body, salt } : row
}
