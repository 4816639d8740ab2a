import { closing } from '../../ledger/closing.ts'
import { readHeadNote, type Witness } from '../../ledger/witness.ts'
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
