import type { Database } from 'better-sqlite3'
import { isDamage, isFileFault, LedgerDamaged, messageOf } from '../ledger/errors.ts'
import type { UnknownEvent } from '../ledger/event.ts'
import { DAMAGE_REMEDY } from '../ledger/inspect.ts'
import type { AnyEvent, Head, LedgerReader } from '../ledger/reader.ts'
import { createCheckpoints } from './checkpoints.ts'
import { isSearchIndex, mergeIndex } from './merge-index.ts'
import type { Fold, Projection } from './projection.ts'
import type { Slack } from './slack.ts'

/** One line of `LEDGER_DEBUG=1`: the time that each fold took, without the event's content. */
export type FoldTrace = (event: AnyEvent, microsByProjection: ReadonlyMap<string, number>) => void

export type ProjectorOptions = {
  readonly db: Database
  readonly ledger: LedgerReader
  readonly projections: readonly Projection[]
  readonly warn: (message: string, fields: Record<string, unknown>) => void
  readonly trace?: FoldTrace | undefined
}

export type ProjectionStatus = {
  readonly name: string
  readonly seq: number
  readonly lagging: boolean
  /** Why it stalled; null if it has not. */
  readonly error: string | null
}

type CleaningStep = 'merging' | 'more' | 'held'

type Running = {
  readonly projection: Projection
  readonly fold: Fold
  seq: number
  error: string | null
}

const REBUILD_BATCH_EVENTS = 10_000
/** Few enough to be garbage before the young generation fills up. */
const READ_BATCH_EVENTS = 100

export type Projector = ReturnType<typeof createProjector>

/**
 * Folds the ledger into the views. Synchronous; owns the views' writing connection. Creates missing tables and
 * resets stale ones. Call `catchUp` to fold what is missing.
 */
export function createProjector(options: ProjectorOptions) {
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

  /** Lagging projections are not traced: they fold later what the prompt ones traced. */
  const traceOf = (cohort: readonly Running[]) =>
    cohort.some(({ projection }) => !projection.lagging) ? trace : undefined

  function applyBatch(cohort: readonly Running[], read: () => Iterable<AnyEvent>, head: Head): void {
    const unknown: UnknownEvent[] = []
    const trace = traceOf(cohort)
    let current: Running | undefined
    begin.run()
    try {
      const foldsOf = new Map<string, readonly Running[]>()
      for (const event of read()) {
        const those = foldsOf.get(event.type) ?? cohort.filter(({ fold }) => handles(fold, event.type))
        foldsOf.set(event.type, those)
        const micros = trace && new Map(cohort.map(({ projection }) => [projection.name, 0]))
        for (const each of those) {
          current = each
          const before = micros ? performance.now() : 0
          apply(each.fold, event)
          micros?.set(each.projection.name, (performance.now() - before) * 1000)
        }
        current = undefined
        if (micros) trace?.(event, micros)
        if (event.type === 'unknown') unknown.push(event)
      }
      for (const each of cohort) {
        current = each
        each.fold.flush?.()
      }
      current = undefined
      for (const { originalType, version } of unknown) checkpoints.rememberUnknown(originalType, version)
      checkpoints.save(
        cohort.map(({ projection }) => projection.name),
        head,
      )
      commit.run()
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK')
      for (const each of cohort) each.fold.discard?.()
      checkpoints.discard()
      if (!current || isFileFault(error)) throw error
      stall(current, error)
      applyBatch(
        cohort.filter((each) => each !== current),
        read,
        head,
      )
      return
    }
    for (const each of cohort) each.seq = head.seq
    const [first] = unknown
    if (first)
      warn('skipped events of a type that this build does not know', {
        type: first.originalType,
        events: unknown.length,
      })
  }

  function stall(each: Running, error: unknown): void {
    each.error = messageOf(error)
    warn('a projection stalled', { projection: each.projection.name, seq: each.seq, error: each.error })
  }

  const active = (all: readonly Running[]) => all.filter((each) => each.error === null)

  /** Folds the projections that are furthest behind up to the next ones, then continues with both. */
  function advance(all: readonly Running[], maxEvents: number): boolean {
    let budget = maxEvents
    while (budget > 0) {
      const from = Math.min(...active(all).map((each) => each.seq))
      if (!Number.isFinite(from)) return false
      const headSeq = ledger.head().seq
      const ahead = active(all).flatMap((each) => (each.seq > from ? [each.seq] : []))
      const target = Math.min(headSeq, ...ahead)
      if (from >= headSeq) return false
      const cohort = active(all).filter((each) => each.seq === from)
      const through = Math.min(target, from + Math.min(REBUILD_BATCH_EVENTS, budget))
      const head = { seq: through, hash: fromLedger(() => ledger.hashAt(through)) ?? '' }
      applyBatch(cohort, () => eventsBetween(cohort, from, through), head)
      budget -= through - from
    }
    return true
  }

  /** The events after `from`, up to and including `through`: all of them, or only the types that the cohort folds. */
  function* eventsBetween(cohort: readonly Running[], from: number, through: number): Generator<AnyEvent> {
    const types = typesOf(cohort)
    const isTraced = traceOf(cohort) !== undefined
    for (let seq = from; seq < through; seq += READ_BATCH_EVENTS) {
      const lastSeq = Math.min(seq + READ_BATCH_EVENTS, through)
      yield* fromLedger(() =>
        isTraced || types === null
          ? ledger.readRange(seq + 1, lastSeq)
          : ledger.readOfTypes(types, { firstSeq: seq + 1, lastSeq }),
      )
    }
  }

  function* clean(slack: Slack): Generator<CleaningStep> {
    for (const table of options.projections.flatMap(({ tables }) => tables))
      if (isSearchIndex(db, table)) yield* mergeIndex(db, table)
    yield* slack.clear()
  }

  function emptyStalledBefore(lastErasure: number): void {
    for (const each of running.filter(({ error, seq }) => error !== null && seq > 0 && seq < lastErasure)) {
      checkpoints.reset(each.projection)
      each.fold.discard?.()
      each.seq = 0
    }
  }

  /** The erasure being cleaned up, its last step, and the remaining steps. */
  let cleaning: {
    readonly erasure: number
    readonly step: CleaningStep | null
    readonly steps: Generator<CleaningStep>
  } | null = null

  return {
    /** Folds up to `maxEvents` missing events. Returns true while more are missing. */
    catchUp: (maxEvents = Number.POSITIVE_INFINITY) => advance(prompt, maxEvents),
    /** Folds events that were just committed. A fold that throws stalls only itself; a file fault throws. */
    fold(events: readonly AnyEvent[]): void {
      const [first] = events
      const last = events.at(-1)
      if (!first || !last) return
      const cohort = active(prompt)
      if (cohort.every((each) => each.seq === first.seq - 1)) {
        applyBatch(cohort, () => events, last)
      } else {
        advance(prompt, REBUILD_BATCH_EVENTS)
      }
    },
    /** Like `catchUp`, for lagging projections. Does nothing and returns false while their indexes merge. */
    catchUpLagging(maxEvents: number): boolean {
      // A later erasure must be folded before the next merge.
      const isMerging = cleaning?.step === 'merging' && cleaning.erasure === ledger.lastErasure()
      return !isMerging && advance(lagging, maxEvents)
    },
    /** Whether all lagging projections that have not stalled are at the head. */
    isCaughtUp(): boolean {
      const { seq } = ledger.head()
      return active(lagging).every((each) => each.seq >= seq)
    },
    /** The seq that all projections have reached, except lagging and stalled ones. */
    promptSeq: () => Math.min(...active(prompt).map(({ seq }) => seq)),
    /**
     * One short step of removing erased words from the search indexes, the log and the pages' slack. Call it
     * when all projections are at the head. `merging`: lagging projections wait for the merge. `held`: a reader
     * blocks the log, retry later. Empties a projection that stalled before the last erasure, because it may
     * hold erased words.
     */
    dropErased(slack: Slack): CleaningStep | 'done' {
      const lastErasure = ledger.lastErasure()
      if (lastErasure <= checkpoints.cleanedThrough()) return 'done'
      if (cleaning?.erasure !== lastErasure) {
        emptyStalledBefore(lastErasure)
        cleaning = { erasure: lastErasure, step: null, steps: clean(slack) }
      }
      const { steps } = cleaning
      // If a step throws, the next call starts over.
      cleaning = null
      const { done, value: step } = steps.next()
      if (done) {
        checkpoints.saveCleaned(lastErasure)
        return 'done'
      }
      cleaning = { erasure: lastErasure, step, steps }
      return step
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

/** Damage found by this read is that of the ledger, not of the views. */
function fromLedger<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!isDamage(cause) && !(cause instanceof LedgerDamaged)) throw cause
    throw new LedgerDamaged(`the ledger is damaged: ${messageOf(cause)}. ${DAMAGE_REMEDY}`, { cause })
  }
}

/** The types that they handle; null for all. */
function typesOf(cohort: readonly Running[]): ReadonlySet<string> | null {
  if (cohort.some(({ fold }) => fold.every)) return null
  return new Set(cohort.flatMap(({ fold }) => Object.keys(fold.handlers)))
}

const handles = ({ every, handlers }: Fold, type: string) => every !== undefined || type in handlers

function apply({ every, handlers }: Fold, event: AnyEvent): void {
  every?.(event)
  if (event.type === 'unknown') return
  // The key is the handler's event type, which TypeScript cannot correlate.
  const handler = handlers[event.type] as ((event: AnyEvent) => void) | undefined
  handler?.(event)
}
