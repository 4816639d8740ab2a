import type { Draft } from '../../ledger/codec.ts'
import { parseRow } from '../../ledger/codec.ts'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import { type CommitOutcome, type Ledger, openLedger, truncateLog } from '../../ledger/ledger.ts'
import { projections } from '../../projections/all.ts'
import { createProjector, type FoldTrace } from '../../projections/projector.ts'
import { openViewsForWriting } from '../../projections/views.ts'
import type { StorageStatus } from './messages.ts'

export type WriterOptions = {
  readonly directory: string
  readonly newId: () => string
  readonly warn: (message: string, fields: Record<string, unknown>) => void
  readonly trace?: FoldTrace | undefined
  readonly onProgress?: ((projection: string, seq: number, headSeq: number) => void) | undefined
}

/**
 * The ledger and its views under one hand: a commit, then its fold. Synchronous; the service runs it in the
 * storage thread, so that neither a slow disk nor a rebuild ever holds up the event loop; scripts run it as is.
 */
export type Writer = {
  readonly ledger: Ledger
  /** Durable on return, and in the views. Throws LedgerUnavailable: then nothing of it was kept. */
  commit(batches: readonly (readonly Draft[])[]): CommitOutcome[]
  /**
   * Appends `erased` facts, takes the words out of the views and their indexes, then nulls the bodies and empties
   * both logs, so that no byte is left in any file. A crash in between is made good at the next start.
   */
  erase(erased: readonly Draft[]): void
  catchUpLagging(maxEvents: number): boolean
  status(): StorageStatus
  close(): void
}

const LAGGING_BATCH_EVENTS = 1000

/** Opens both stores and catches the views up. Throws LedgerDamaged. */
export function openWriter(options: WriterOptions): Writer {
  const ledger = openLedger(options.directory, options.newId)
  const views = openViewsForWriting(options.directory)
  const projector = createProjector({ ...options, db: views, ledger, projections })
  let viewsError: string | null = null

  /** A fact that is on disk is acknowledged even if the views cannot take it now: they are behind, and say so. */
  function inViews(work: () => void): void {
    try {
      work()
      viewsError = null
    } catch (error) {
      viewsError = error instanceof Error ? error.message : String(error)
      options.warn('the views could not be written', { error: viewsError })
    }
  }

  function commit(batches: readonly (readonly Draft[])[]): CommitOutcome[] {
    const outcomes = ledger.commit(batches)
    const rows = outcomes.flatMap((outcome) => (outcome.status === 'appended' ? outcome.rows : []))
    inViews(() => projector.fold(rows.map(parseRow)))
    return outcomes
  }

  function finishErasures(): void {
    const seqs = ledger.unfinishedErasures()
    if (seqs.length === 0) return
    while (projector.catchUpLagging(LAGGING_BATCH_EVENTS));
    projector.resetStalled()
    ledger.eraseBodies(seqs)
    const emptied = truncateLog(views) && ledger.truncateLog()
    if (!emptied) options.warn('a write-ahead log could not be emptied: a reader holds it', {})
  }

  inViews(() => {
    projector.catchUp()
    finishErasures()
  })
  return {
    ledger,
    commit,
    erase(erased) {
      // The index must hold what is erased before it can let go of it, so it comes up to the head first.
      while (projector.catchUpLagging(LAGGING_BATCH_EVENTS));
      for (const outcome of commit([erased])) {
        if (outcome.status === 'rejected') throw outcome.error
      }
      if (viewsError !== null)
        throw new LedgerUnavailable('the views cannot be written; the erasure goes on at the next start')
      finishErasures()
    },
    catchUpLagging(maxEvents) {
      let more = false
      inViews(() => {
        more = projector.catchUpLagging(maxEvents)
      })
      return more
    },
    status: () => ({ projections: projector.status(), viewsError }),
    close() {
      views.close()
      ledger.close()
    },
  }
}
