import type Database from 'better-sqlite3'
import { type DiskCause, diskCauseOf } from '../../ledger/causes.ts'
import { type Draft, eventOfDraft, toDraft } from '../../ledger/codec.ts'
import { type ErasureReason, erasedFacts } from '../../ledger/erasure.ts'
import { isDamage, isFileFault, messageOf } from '../../ledger/errors.ts'
import { type CommitOutcome, type Ledger, openLedger, truncateLog } from '../../ledger/ledger.ts'
import { projections as allProjections } from '../../projections/all.ts'
import { readWitness } from '../../projections/checkpoints.ts'
import type { Projection } from '../../projections/projection.ts'
import { createProjector, type FoldTrace, type Projector } from '../../projections/projector.ts'
import { openSlack } from '../../projections/slack.ts'
import { emptyViews, openViewsForWriting, removeViews } from '../../projections/views.ts'
import type { ViewsStatus } from './messages.ts'

export type WriterOptions = {
  readonly directory: string
  readonly newId: () => string
  readonly warn: (message: string, fields: Record<string, unknown>) => void
  readonly trace?: FoldTrace | undefined
  readonly onProgress?: ((projection: string, seq: number, headSeq: number) => void) | undefined
  /** Views that had fallen behind have come further: who saw a commit without its fold must look again. */
  readonly onViewsMoved?: (() => void) | undefined
  readonly projections?: readonly Projection[]
}

export type Erasure = {
  readonly seqs: readonly number[]
  readonly reason: ErasureReason
  readonly at: string
}

/**
 * The ledger and its views under one hand: a commit, then its fold. Synchronous; the service runs it in the
 * storage thread, so that neither a slow disk nor a rebuild ever holds up the event loop; scripts run it as is.
 */
export type Writer = {
  readonly ledger: Ledger
  /** Durable on return, and in the views, unless those fail. Throws LedgerUnavailable: then nothing was kept. */
  commit(batches: readonly (readonly Draft[])[]): CommitOutcome[]
  /**
   * Appends the `erased` facts of the events and of all that copies them or was learned from them, which takes
   * their bodies. Once `isSettled`, no byte of them is left in any file; a crash before is made good after the next
   * start. Returns the seqs whose bodies went. Throws LedgerUnavailable.
   */
  erase(erasure: Erasure): number[]
  /**
   * One step of what can wait: views that fell behind, up to `maxEvents` of the lagging ones, and, when all are at
   * the head, what files may still hold of erased words. True while there is more to do at once.
   */
  step(maxEvents: number): boolean
  /** How far the views have come, but for the lagging and those that stalled. */
  viewsSeq(): number
  /** True if no view is behind, lagging ones included, or if views cannot be written now. */
  isCaughtUp(): boolean
  /** Whether the views are at the head, and no file holds what was erased. */
  isSettled(): boolean
  /** Empties the views in place and begins them anew: something found them damaged. */
  remakeViews(reason: string): void
  status(): ViewsStatus
  close(): void
}

/** Events folded in one step into views that fell behind: some ten milliseconds. */
const CATCH_UP_EVENTS = 5000

/** Opens both stores and catches the views up. Throws LedgerDamaged. */
export function openWriter(options: WriterOptions): Writer {
  const { directory, newId, warn } = options
  const projections = options.projections ?? allProjections
  const ledger = openLedger(directory, newId, { readViews: () => readWitness(directory) })
  let { views, projector } = openViews()
  const slack = openSlack(views)
  let viewsError: string | null = null
  let viewsCause: DiskCause | null = null
  // A crash may have come between an erasure and the emptying of the logs, so they are emptied after each start.
  let filesMayHoldErased = true

  function openViews(): { views: Database.Database; projector: Projector } {
    try {
      return tryViews()
    } catch (error) {
      if (isFileFault(error) && !isDamage(error)) throw error
      warn('the views are damaged and are made anew', { error: messageOf(error) })
      removeViews(directory)
      return tryViews()
    }
  }

  function tryViews() {
    const db = openViewsForWriting(directory)
    try {
      return { views: db, projector: projectorOver(db) }
    } catch (error) {
      db.close()
      throw error
    }
  }

  function projectorOver(db: Database.Database): Projector {
    return createProjector({ ...options, db, ledger, projections })
  }

  /** A fact that is on disk is acknowledged even if the views cannot take it now: they are behind, and say so. */
  function inViews<T>(otherwise: T, work: () => T): T {
    try {
      const result = work()
      viewsError = null
      viewsCause = null
      return result
    } catch (error) {
      if (viewsError === null) warn('the views could not be written', { error: messageOf(error) })
      viewsError = messageOf(error)
      viewsCause = diskCauseOf(error, directory)
      if (isDamage(error)) remakeViews(viewsError)
      return otherwise
    }
  }

  function remakeViews(reason: string): void {
    warn('the views are damaged and are made anew', { error: reason })
    try {
      emptyViews(views)
      projector = projectorOver(views)
    } catch (error) {
      // Not even in place; the next start throws the file away.
      viewsError = messageOf(error)
      viewsCause = diskCauseOf(error, directory)
    }
  }

  function commit(batches: readonly (readonly Draft[])[]): CommitOutcome[] {
    const outcomes = ledger.commit(batches)
    const rows = outcomes.flatMap((outcome) => (outcome.status === 'appended' ? outcome.rows : []))
    if (rows.length > 0) inViews(undefined, () => projector.fold(rows.map(eventOfDraft)))
    return outcomes
  }

  function emptyLogs(): boolean {
    try {
      return truncateLog(views) && ledger.truncateLog()
    } catch (error) {
      warn('a write-ahead log could not be emptied', { error: messageOf(error) })
      return false
    }
  }

  function faults() {
    const ledgerFault = ledger.fault()
    return {
      ledgerError: ledgerFault?.message ?? null,
      ledgerCause: ledgerFault?.cause ?? null,
      viewsError,
      viewsCause,
    }
  }

  inViews(false, () => projector.catchUp())
  return {
    ledger,
    commit,
    erase({ seqs, reason, at }) {
      const named = [...new Set(seqs)].filter((seq) => ledger.rowAt(seq) && !ledger.isErased(seq))
      const gone = named.filter((seq) => ledger.rowAt(seq)?.body)
      if (gone.length === 0) return []
      const facts = erasedFacts(named, reason, { actor: 'owner' })
      for (const outcome of commit([facts.map((fact) => toDraft(fact, { newId, newSalt: () => '', at }))]))
        if (outcome.status === 'rejected') throw outcome.error
      filesMayHoldErased = true
      return gone
    },
    step(maxEvents) {
      const before = projector.promptSeq()
      const more = inViews(
        false,
        () => projector.catchUp(CATCH_UP_EVENTS) || projector.catchUpLagging(maxEvents),
      )
      if (projector.promptSeq() > before) options.onViewsMoved?.()
      if (more || viewsError !== null || !filesMayHoldErased) return more
      const cleaning = inViews('held', () => projector.dropErased(slack))
      if (cleaning !== 'done') return cleaning !== 'held'
      filesMayHoldErased = !emptyLogs()
      return !projector.isCaughtUp()
    },
    viewsSeq: () => projector.promptSeq(),
    isCaughtUp: () => viewsError !== null || projector.isCaughtUp(),
    isSettled: () => viewsError === null && !filesMayHoldErased,
    remakeViews,
    status: () => ({ projections: projector.status(), ...faults() }),
    close() {
      views.close()
      slack.close()
      ledger.close()
    },
  }
}
