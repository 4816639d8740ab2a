import { rmSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { type DiskCause, diskCauseOf } from '../../ledger/causes.ts'
import { type Draft, type EventRow, eventOfDraft, toDraft } from '../../ledger/codec.ts'
import { erasedFacts } from '../../ledger/erasure.ts'
import { isDamage, isFileFault, LedgerDamaged, messageOf } from '../../ledger/errors.ts'
import { ledgerFile, replacedLogFile } from '../../ledger/files.ts'
import { foreignTables } from '../../ledger/inspect.ts'
import { type CommitOutcome, type OpenGroup, openLedger, truncateLog } from '../../ledger/ledger.ts'
import { projections as allProjections } from '../../projections/all.ts'
import { readWitness } from '../../projections/checkpoints.ts'
import type { Projection } from '../../projections/projection.ts'
import { createProjector, type FoldTrace, type Projector } from '../../projections/projector.ts'
import { openSlack } from '../../projections/slack.ts'
import { emptyViews, openViewsForWriting, removeViews } from '../../projections/views.ts'
import type { Erasure, OpeningProgress, ViewsStatus } from './messages.ts'
import { removeBackupsBefore } from './upgrade.ts'

export type WriterOptions = {
  readonly directory: string
  readonly newId: () => string
  /** As `openLedger` takes it. The views stay ahead until the ledger has its end again. */
  readonly mayLackEnd?: boolean
  readonly warn: (message: string, fields: Record<string, unknown>) => void
  readonly trace?: FoldTrace | undefined
  /** Called after views that were behind have advanced. */
  readonly onViewsMoved?: (() => void) | undefined
  /** Receives the progress of the views while they are opened, if they are behind. */
  readonly onProgress?: ((progress: OpeningProgress) => void) | undefined
  /** Receives a line for the log. */
  readonly notice?: ((message: string, fields: Record<string, unknown>) => void) | undefined
  readonly projections?: readonly Projection[]
}

/** Events per step into views that are behind: about ten milliseconds. */
const CATCH_UP_EVENTS = 5000

/** Events between two reports of progress. */
const OPENING_EVENTS = 10_000

const VIEWS_DAMAGED = 'the views are damaged; rebuilding them from the ledger'

export type Writer = ReturnType<typeof openWriter>

/**
 * Opens the ledger and the views, and catches up the views. Writes each commit, then its fold. Synchronous;
 * the service runs it in the storage thread, so that a slow disk or a rebuild never blocks the event loop.
 * Throws LedgerDamaged.
 */
export function openWriter(options: WriterOptions) {
  const { directory, newId, warn, mayLackEnd = false } = options
  const projections = options.projections ?? allProjections
  const ledger = openLedger(directory, newId, { readViews: () => readWitness(directory), mayLackEnd })
  const tables = foreignTables(ledger.db)
  if (tables.length > 0) warn('another program keeps tables in ledger.sqlite', { tables })
  let { views, projector } = openViews()
  const slack = openSlack(views)
  let viewsError: string | null = null
  let viewsCause: DiskCause | null = null
  // The last process may have crashed before it cleared the files.
  let filesMayHoldErased = true
  let isOpening = true

  function openViews(): { views: Database.Database; projector: Projector } {
    try {
      return tryViews()
    } catch (error) {
      if (isFileFault(error) && !isDamage(error)) throw error
      warn(VIEWS_DAMAGED, { error: messageOf(error) })
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

  /** Durable facts are acknowledged even if the views cannot be written; their status then says why. */
  function inViews<T>(otherwise: T, work: () => T): T {
    try {
      const result = work()
      viewsError = null
      viewsCause = null
      return result
    } catch (error) {
      if (isOpening && error instanceof LedgerDamaged) throw error
      if (viewsError === null) warn('the views could not be written', { error: messageOf(error) })
      viewsError = messageOf(error)
      viewsCause = diskCauseOf(error, directory)
      if (isDamage(error)) remakeViews(viewsError)
      return otherwise
    }
  }

  function remakeViews(reason: string): void {
    warn(VIEWS_DAMAGED, { error: reason })
    try {
      emptyViews(views)
      projector = projectorOver(views)
    } catch (error) {
      // The next start deletes the file.
      viewsError = messageOf(error)
      viewsCause = diskCauseOf(error, directory)
    }
  }

  function begin(batches: readonly (readonly Draft[])[]): OpenGroup {
    const group = ledger.begin(batches)
    return {
      ...group,
      keep() {
        group.keep()
        const { rows } = group
        if (rows.some(({ type }) => type === 'erased')) filesMayHoldErased = true
        if (rows.length > 0) inViews(undefined, () => projector.fold(rows.map(eventOfDraft)))
      },
    }
  }

  function clearOtherFiles(): boolean {
    try {
      const lastErasure = ledger.lastErasure()
      removeBackupsBefore(directory, lastErasure)
      // Its age is unknown, so any erased word may be in it.
      if (lastErasure > 0) rmSync(replacedLogFile(ledgerFile(directory)), { force: true })
      return truncateLog(views) && ledger.truncateLog()
    } catch (error) {
      warn('a write-ahead log or a backup could not be cleared', { error: messageOf(error) })
      return false
    }
  }

  function catchUpAtStart(): void {
    const total = ledger.head().seq
    const fresh = projector.status().filter(({ seq }) => seq < Math.min(total, 1))
    if (fresh.length > 0)
      options.notice?.('rebuilding views', { views: fresh.map(({ name }) => name), events: total })
    const catchUp = () => inViews(false, () => projector.catchUp(OPENING_EVENTS))
    while (catchUp()) options.onProgress?.({ step: 'views', done: projector.promptSeq(), total })
  }

  catchUpAtStart()
  isOpening = false
  return {
    ledger,
    /** Appends batches. They are folded once they are kept, unless the views fail. Throws LedgerUnavailable. */
    begin,
    /** Appends batches, keeps them, and folds them unless the views fail. Throws LedgerUnavailable. */
    commit(batches: readonly (readonly Draft[])[]): CommitOutcome[] {
      const { outcomes, keep } = begin(batches)
      keep()
      return outcomes
    },
    /** Appends rows that another node has written. `step` folds them. Does not verify the chain. */
    apply(rows: readonly EventRow[]): void {
      ledger.importRows(rows)
      if (rows.some(({ type }) => type === 'erased')) filesMayHoldErased = true
    },
    /**
     * The batch that erases the bodies of events, and those seqs of them that have one. Once it is appended and
     * `isSettled`, no byte of them is left in any file; after a crash, the next start completes this.
     */
    erasure({ seqs, reason, at }: Erasure): {
      readonly batch: readonly Draft[]
      readonly withBody: number[]
    } {
      const named = [...new Set(seqs)].filter((seq) => ledger.rowAt(seq) && !ledger.isErased(seq))
      const withBody = named.filter((seq) => ledger.rowAt(seq)?.body)
      const facts = withBody.length === 0 ? [] : erasedFacts(named, reason, { actor: 'owner' })
      return { batch: facts.map((fact) => toDraft(fact, { newId, newSalt: () => '', at })), withBody }
    },
    /**
     * One step of deferred work: views that are behind, up to `maxEvents` of the lagging ones, then removing
     * erased words from the files. Returns true if more can be done at once.
     */
    step(maxEvents: number): boolean {
      const before = projector.promptSeq()
      const more = inViews(
        false,
        () => projector.catchUp(CATCH_UP_EVENTS) || projector.catchUpLagging(maxEvents),
      )
      if (projector.promptSeq() > before) options.onViewsMoved?.()
      if (more || viewsError !== null || !filesMayHoldErased) return more
      const cleaning = inViews('held', () => projector.dropErased(slack))
      if (cleaning !== 'done') return cleaning !== 'held'
      filesMayHoldErased = !clearOtherFiles()
      return !projector.isCaughtUp()
    },
    /** The seq that all views have reached, except lagging and stalled ones. */
    viewsSeq: () => projector.promptSeq(),
    /** True if no view is behind, lagging ones included, or if views cannot be written now. */
    isCaughtUp: () => viewsError !== null || projector.isCaughtUp(),
    /** Whether the views are at the head and no file contains erased words. */
    isSettled: () => viewsError === null && !filesMayHoldErased,
    /** Empties damaged views in place; `step` then rebuilds them. */
    remakeViews,
    status: (): ViewsStatus => ({
      projections: projector.status(),
      ledgerError: ledger.fault(),
      viewsError,
      viewsCause,
    }),
    close(): void {
      views.close()
      slack.close()
      ledger.close()
    },
  }
}
