import { workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { closing } from '../../ledger/closing.ts'
import { findDamage } from '../../ledger/damage.ts'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader, type Head } from '../../ledger/reader.ts'
import { verifiedRows } from '../../ledger/verify.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { serveCalls } from './serve-calls.ts'

/** How far the chain is verified, or what is wrong with the ledger. */
export type VerifiedPart =
  | { readonly status: 'sound'; readonly head: Head; readonly isWhole: boolean }
  | { readonly status: 'damaged'; readonly seq: number | null; readonly message: string }

const directoryOf = (): string => workerData.directory

function damageOfViews(): string | null {
  using views = closing(openViewsReadOnly(directoryOf()))
  return findDamage(views)
}

/** Verifies the next events of the chain. After the last one, also examines the file. */
function verifyAfter(head: Head): VerifiedPart {
  using ledger = closing(openLedgerReadOnly(directoryOf()))
  try {
    const [rows] = verifiedRows(createReader(ledger), head.seq)
    const last = rows?.at(-1)
    if (last) return { status: 'sound', head: { seq: last.seq, hash: last.hash }, isWhole: false }
    const damage = findDamage(ledger)
    if (damage === null) return { status: 'sound', head, isWhole: true }
    return { status: 'damaged', seq: null, message: `ledger.sqlite is damaged: ${damage}` }
  } catch (error) {
    if (!(error instanceof LedgerDamaged || error instanceof Database.SqliteError)) throw error
    const seq = error instanceof LedgerDamaged ? error.seq : null
    return { status: 'damaged', seq, message: error.message }
  }
}

const functions = { damageOfViews, verifyAfter }
export type VerifyFunctions = { [Name in keyof typeof functions]: () => (typeof functions)[Name] }

serveCalls(functions)
