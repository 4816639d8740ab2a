import { statSync } from 'node:fs'
import { closing } from '../../ledger/closing.ts'
import { isDamage, LedgerDamaged } from '../../ledger/errors.ts'
import { viewsFile } from '../../ledger/files.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { describeLoss, findLoss, readHeadNote, type Witness } from '../../ledger/witness.ts'
import { witnessOf } from '../../projections/checkpoints.ts'
import { openViewsReadOnly } from '../../projections/views.ts'

/** The witnesses beside the ledger. Read them before the ledger if the service may be running. */
export function readWitnesses(directory: string): Witness[] {
  return [readHeadNote(directory), readViewsWitness(directory)].filter((witness) => witness !== null)
}

/** Throws LedgerDamaged if the ledger lacks events that the witnesses know. */
export function requireWitnessed(ledger: LedgerReader, witnesses: readonly Witness[]): void {
  const loss = findLoss(ledger, witnesses)
  if (loss) throw new LedgerDamaged(describeLoss(loss), { seq: loss.missing?.firstSeq ?? null })
}

/** Null if the views are absent or damaged. */
function readViewsWitness(directory: string): Witness | null {
  if (!statSync(viewsFile(directory), { throwIfNoEntry: false })?.isFile()) return null
  try {
    using views = closing(openViewsReadOnly(directory))
    return witnessOf(views, directory)
  } catch (error) {
    if (isDamage(error)) return null
    throw error
  }
}
