import Database from 'better-sqlite3'
import { findDamage } from './damage.ts'
import { isDamage, isRefusedByDisk, LedgerDamaged } from './errors.ts'
import { checkFormat } from './files.ts'
import { checkGuards } from './inspect.ts'
import { createReader, type Head, type LedgerReader } from './reader.ts'
import { verifyChain, verifyLink } from './verify.ts'

/**
 * Verifies a ledger in full: format, every link of the chain, guards, and the file's structure. Read-only and
 * safe while the service runs. Returns the head. Throws LedgerDamaged with the first damaged event, if known.
 */
export function examineLedger(
  db: Database.Database,
  file: string,
  options: {
    readonly onProgress?: ((seq: number) => void) | undefined
    /** Compares a sound chain with what is known elsewhere. Throws LedgerDamaged. */
    readonly compare?: (ledger: LedgerReader) => void
  } = {},
): Head & { readonly ledgerId: string } {
  let reached = 0
  try {
    checkFormat(db, file)
    const reader = createReader(db)
    const head = verifyChain(reader, 0, (seq) => {
      reached = seq
      options.onProgress?.(seq)
    })
    options.compare?.(reader)
    // After the chain, which names the event that was changed where a guard is missing.
    checkGuards(db, file)
    const damage = findDamage(db)
    if (damage !== null) throw new LedgerDamaged(`${file} is damaged: ${damage}`)
    return { ...head, ledgerId: reader.id() }
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError) || isRefusedByDisk(cause)) throw cause
    // A missing table is not a damaged event.
    if (!isDamage(cause)) checkGuards(db, file)
    const seq = firstUnreadable(db, reached)
    const where = seq === null ? `${file} is damaged` : `event ${seq} cannot be read`
    throw new LedgerDamaged(`${where}: ${cause.message}`, { cause, seq })
  }
}

/** The first event after `seq` that SQLite cannot read; null if unknown. */
function firstUnreadable(db: Database.Database, seq: number): number | null {
  let at = seq
  try {
    const reader = createReader(db)
    const hash = reader.hashAt(seq)
    if (hash === null) return null
    let head: Head = { seq, hash }
    for (;;) {
      const [row] = reader.rowsAfter(head.seq, 1)
      if (!row) return null
      head = verifyLink(head, row)
      at = head.seq
    }
  } catch (error) {
    if (error instanceof LedgerDamaged) return error.seq
    if (error instanceof Database.SqliteError) return at + 1
    throw error
  }
}
