import { createSalts, toDraft } from '../../ledger/codec.ts'
import { ledgerFile } from '../../ledger/files.ts'
import { createIds } from '../../ledger/ids.ts'
import { inspectLedger } from '../../ledger/inspect.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import type { Loss } from '../../ledger/witness.ts'
import { readWitness } from '../../projections/checkpoints.ts'
import { removeViews } from '../../projections/views.ts'
import { Refused } from './command.ts'

/** How many events are missing, as the operator has to say it: nobody can count those of a ledger that was replaced. */
export function countOf({ missing }: Loss): string {
  return missing === null ? 'unknown' : String(missing.lastSeq - missing.firstSeq + 1)
}

/**
 * Goes on without what is lost, once `confirm` has resolved: records it as a fact, and makes the views anew at the next
 * start. Returns what was lost. Throws Refused where nothing is, and LedgerLocked where the service runs.
 */
export async function acceptLoss(dataDir: string, confirm: (loss: Loss) => Promise<void>): Promise<Loss> {
  const lock = lockDirectory(dataDir)
  try {
    const readViews = () => readWitness(dataDir)
    const { loss } = inspectLedger(dataDir, readViews)
    if (loss === null)
      throw new Refused(`No event is missing in ${ledgerFile(dataDir)}; nothing was changed.`)
    await confirm(loss)
    const newId = createIds(Date.now)
    const ledger = openLedger(dataDir, newId, { readViews, acceptLoss: true })
    try {
      const { witness, missing } = loss
      const fact = {
        type: 'ledger.loss.accepted',
        actor: 'owner',
        channel: 'system',
        // Cut short after this, the command is run again.
        key: `ledger.loss.accepted:${witness.hash}`,
        facts: {
          fromSeq: missing?.firstSeq ?? null,
          toSeq: witness.seq,
          knownHash: witness.hash,
          knownLedgerId: witness.ledgerId,
        },
      } as const
      const at = new Date().toISOString()
      ledger.commit([[toDraft(fact, { newId, newSalt: createSalts(), at })]])
    } finally {
      ledger.close()
    }
    removeViews(dataDir)
    return loss
  } finally {
    lock.release()
  }
}
