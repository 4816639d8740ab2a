import { closing } from '../../ledger/closing.ts'
import { newSalt, toDraft } from '../../ledger/codec.ts'
import { ledgerFile } from '../../ledger/files.ts'
import { createIds } from '../../ledger/ids.ts'
import { inspectLedger } from '../../ledger/inspect.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import type { Loss } from '../../ledger/witness.ts'
import { readWitness } from '../../projections/checkpoints.ts'
import { removeViews } from '../../projections/views.ts'
import { Refused } from './command.ts'

/** The number of missing events that the operator must enter; "unknown" if the ledger was replaced. */
export function countOf({ missing }: Loss): string {
  return missing === null ? 'unknown' : String(missing.lastSeq - missing.firstSeq + 1)
}

/**
 * Records a loss as a fact once `confirm` resolves, and lets the next start rebuild the views. Returns the
 * loss. Throws Refused if nothing is lost, or PostgreSQL has it, and LedgerLocked if the service is running.
 */
export async function acceptLoss(dataDir: string, confirm: (loss: Loss) => Promise<void>): Promise<Loss> {
  const lock = lockDirectory(dataDir)
  try {
    const readViews = () => readWitness(dataDir)
    const { isCopy, loss } = inspectLedger(dataDir, readViews)
    if (loss === null)
      throw new Refused(`No event is missing in ${ledgerFile(dataDir)}. Nothing was changed.`)
    if (isCopy)
      throw new Refused(
        `PostgreSQL has the events that are missing in ${dataDir}. Start Delegate, which brings them back. If it ` +
          'refuses to start, move ledger.* and views.* away from there first. If PostgreSQL is lost for good, run ' +
          'npm run engine:detach -- --without-postgres first.',
      )
    await confirm(loss)
    const newId = createIds(Date.now)
    using ledger = closing(openLedger(dataDir, newId, { readViews, acceptLoss: true }))
    const { witness, missing } = loss
    const fact = {
      type: 'ledger.loss.accepted',
      actor: 'owner',
      channel: 'system',
      // The command is run again if it is interrupted after this.
      key: `ledger.loss.accepted:${witness.hash}`,
      facts: {
        fromSeq: missing?.firstSeq ?? null,
        toSeq: witness.seq,
        knownHash: witness.hash,
        knownLedgerId: witness.ledgerId,
      },
    } as const
    const at = new Date().toISOString()
    ledger.commit([[toDraft(fact, { newId, newSalt, at })]])
    removeViews(dataDir)
    return loss
  } finally {
    lock.release()
  }
}
