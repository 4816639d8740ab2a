import type { Database } from 'better-sqlite3'
import { isFileFault } from '../ledger/errors.ts'
import type { UnknownEvent } from '../ledger/event.ts'
import type { AnyEvent, Head, LedgerReader } from '../ledger/reader.ts'
import { createCheckpoints } from './checkpoints.ts'
import type { Fold, Projection } from './projection.ts'
import type { Slack } from './slack.ts'

/** One line of `LEDGER_DEBUG=1`: which fold took how long over an event; never what it says. */
export type FoldTrace = (event: AnyEvent, microsByProjection: ReadonlyMap<string, number>) => void

export type ProjectorOptions = {
  readonly db: Database
  readonly ledger: LedgerReader
  readonly projections: readonly Projection[]
  readonly warn: (message: string, fields: Record<string, unknown>) => void
  readonly trace?: FoldTrace | undefined
  readonly onProgress?: ((projection: string, seq: number, headSeq: number) => void) | undefined
}

export type ProjectionStatus = {
  readonly name: string
  readonly seq: number
  readonly lagging: boolean
  /** Why it stalled; null while it keeps up. */
  readonly error: string | null
}

/** Keeps the views in step with the ledger. Synchronous; owns the views' writing connection. */
export type Projector = {
  /** Folds up to `maxEvents` of what is missing, after a start or a failure. True while more is waiting. */
  catchUp(maxEvents?: number): boolean
  /** Folds events that were just committed. A fold that throws stalls itself alone; a file that fails throws. */
  fold(events: readonly AnyEvent[]): void
  /** The same as `catchUp`, for the lagging projections. */
  catchUpLagging(maxEvents: number): boolean
  /** How far all but the lagging and the stalled have come. */
  promptSeq(): number
  /**
   * Once all are at the head: lets go of what was erased for good, in the log and in the slack of the pages. A
   * projection that stalled before the last erasure is emptied, for it may hold what is gone. False while a reader
   * holds the log: to be tried again.
   */
  dropErased(slack: Slack): boolean
  status(): ProjectionStatus[]
}

type Running = {
  readonly projection: Projection
  readonly fold: Fold
  seq: number
  error: string | null
}

const REBUILD_BATCH_EVENTS = 5000
const READ_BATCH_EVENTS = 500

/**
 * Opens the projections over the views' database: makes what is missing, drops what is foreign to the ledger or
 * of another version, and leaves the rest where its checkpoint says. `catchUp` then does the work.
 */
export function createProjector(options: ProjectorOptions): Projector {
  const { db, ledger, warn, trace } = options
  const checkpoints = createCheckpoints(db, ledger, options.projections, warn)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const running = options.projections.map(
    (projection): Running => ({
      projection,
      fold: projection.fold(db),
      seq: checkpoints.seqOf(projection.name),
      error: null,
    }),
  )
  const prompt = running.filter((each) => !each.projection.lagging)
  const lagging = running.filter((each) => each.projection.lagging)

  function applyBatch(cohort: readonly Running[], events: readonly AnyEvent[], head: Head): void {
    const last = events.at(-1)
    if (!last) return
    let current: Running | undefined
    begin.run()
    try {
      for (const event of events) {
        const micros = trace ? new Map<string, number>() : null
        for (const each of cohort) {
          current = each
          const before = micros ? performance.now() : 0
          applyEvent(each.fold, event)
          micros?.set(each.projection.name, (performance.now() - before) * 1000)
        }
        current = undefined
        if (micros) trace?.(event, micros)
        if (event.type === 'unknown') checkpoints.rememberUnknown(event.originalType, event.version)
      }
      checkpoints.save(
        cohort.map((each) => each.projection.name),
        head,
      )
      commit.run()
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK')
      for (const each of cohort) each.fold.discard?.()
      if (!current || isFileFault(error)) throw error
      stall(current, error)
      applyBatch(
        cohort.filter((each) => each !== current),
        events,
        head,
      )
      return
    }
    for (const each of cohort) each.seq = head.seq
  }

  function stall(each: Running, error: unknown): void {
    each.error = error instanceof Error ? error.message : String(error)
    warn('a projection stalled', { projection: each.projection.name, seq: each.seq, error: each.error })
  }

  function active(all: readonly Running[]): Running[] {
    return all.filter((each) => each.error === null)
  }

  /** Brings the hindmost up to the next one, then both together, until all are at the head or stalled. */
  function advance(all: readonly Running[], maxEvents: number): boolean {
    let budget = maxEvents
    while (budget > 0) {
      const from = Math.min(...active(all).map((each) => each.seq))
      if (!Number.isFinite(from)) return false
      const headSeq = ledger.head().seq
      const ahead = active(all).flatMap((each) => (each.seq > from ? [each.seq] : []))
      const target = Math.min(headSeq, ...ahead)
      if (from >= headSeq) return false
      const events = readBatch(from, Math.min(target - from, REBUILD_BATCH_EVENTS, budget))
      const last = events.at(-1)
      if (!last) return false
      const cohort = active(all).filter((each) => each.seq === from)
      applyBatch(cohort, events, last)
      warnOfUnknown(events)
      budget -= events.length
      for (const each of cohort) options.onProgress?.(each.projection.name, each.seq, headSeq)
    }
    return true
  }

  function readBatch(from: number, count: number): AnyEvent[] {
    const events: AnyEvent[] = []
    while (events.length < count) {
      const chunk = ledger.readAfter(
        events.at(-1)?.seq ?? from,
        Math.min(READ_BATCH_EVENTS, count - events.length),
      )
      if (chunk.length === 0) break
      events.push(...chunk)
    }
    return events
  }

  function warnOfUnknown(events: readonly AnyEvent[]): void {
    const unknown = events.filter((event): event is UnknownEvent => event.type === 'unknown')
    const [first] = unknown
    if (first)
      warn('events of a type that this build does not know were passed over', {
        type: first.originalType,
        events: unknown.length,
      })
  }

  return {
    catchUp: (maxEvents = Number.POSITIVE_INFINITY) => advance(prompt, maxEvents),
    fold(events) {
      const [first] = events
      const last = events.at(-1)
      if (!first || !last) return
      const cohort = active(prompt)
      if (cohort.every((each) => each.seq === first.seq - 1)) {
        applyBatch(cohort, events, last)
        warnOfUnknown(events)
      } else {
        advance(prompt, REBUILD_BATCH_EVENTS)
      }
    },
    catchUpLagging: (maxEvents) => advance(lagging, maxEvents),
    promptSeq: () => Math.min(...active(prompt).map(({ seq }) => seq)),
    dropErased(slack) {
      const lastErasure = ledger.lastErasure()
      if (lastErasure <= checkpoints.cleanedThrough()) return true
      for (const each of running.filter(({ error, seq }) => error !== null && seq > 0 && seq < lastErasure)) {
        checkpoints.reset(each.projection)
        each.fold.discard?.()
        each.seq = 0
      }
      if (!slack.clear()) return false
      checkpoints.saveCleaned(lastErasure)
      return true
    },
    status: () =>
      running.map(({ projection, seq, error }) => ({
        name: projection.name,
        seq,
        lagging: projection.lagging ?? false,
        error,
      })),
  }
}

function applyEvent(fold: Fold, event: AnyEvent): void {
  fold.every?.(event)
  if (event.type === 'unknown') return
  // The table is keyed by the very type of the event that its handler takes; TypeScript cannot correlate the two.
  const handler = fold.handlers[event.type] as ((event: AnyEvent) => void) | undefined
  handler?.(event)
}
