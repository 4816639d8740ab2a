import { closing } from '../../ledger/closing.ts'
import { LedgerDamaged } from '../../ledger/errors.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { describeLoss, findLoss, readHeadNote, type Witness } from '../../ledger/witness.ts'
import { readWitness } from '../../projections/checkpoints.ts'
import { openViewsReadOnly } from '../../projections/views.ts'

/** The witnesses beside the ledger. Read them before the ledger if the service may be running. */
export function readWitnesses(directory: string): Witness[] {
  // In place: unlike the service, commands have no lock.
  const views = readWitness(directory, (_file, look) => {
    using db = closing(openViewsReadOnly(directory))
    return look(db)
  })
  return [readHeadNote(directory), views].filter((witness) => witness !== null)
}

/** Throws LedgerDamaged if the ledger lacks events that the witnesses know. */
export function requireWitnessed(ledger: LedgerReader, witnesses: readonly Witness[]): void {
  const loss = findLoss(ledger, witnesses)
  if (loss) throw new LedgerDamaged(describeLoss(loss), { seq: loss.missing?.firstSeq ?? null })
}
