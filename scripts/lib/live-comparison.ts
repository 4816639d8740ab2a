import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createReader, type LedgerReader } from '../../ledger/reader.ts'
import { projections } from '../../projections/all.ts'
import { STANDING } from '../../projections/checkpoints.ts'
import { isSearchIndex } from '../../projections/merge-index.ts'
import type { Projection } from '../../projections/projection.ts'
import type { FoldTrace } from '../../projections/projector.ts'
import { compareViews, type Difference, replay } from '../../src/storage/replay.ts'

export type ProjectionOutcome = {
  readonly name: string
  /** Where the live view stood, which is how far both were compared. */
  readonly seq: number
  readonly rows: number
  /** Null if the live view matches the ledger. */
  readonly flaw: string | null
}

export type ComparisonOutcome = {
  readonly headSeq: number
  readonly foldedEvents: number
  /** Includes tracing. */
  readonly foldMs: number
  readonly projections: readonly ProjectionOutcome[]
}

/** How long an erasure may take to reach the search indexes of a busy service. */
const WAIT_MS = 5_000
const PAUSE_MS = 50

/**
 * Rebuilds the views from a ledger and compares them with the views in use, row by row, at the event where
 * each of these stands. Reads one snapshot of ledger and views, so erasures of a running service wait for it.
 * The rebuilt views are in nameless files that vanish with the process.
 */
export async function compareWithLive(
  ledgerDb: Database.Database,
  /** The views in use; a service may be writing them. */
  live: Database.Database,
  trace: FoldTrace,
): Promise<ComparisonOutcome> {
  const ledger = createReader(ledgerDb)
  const deadlineMs = performance.now() + WAIT_MS
  for (;;) {
    const outcome = inSnapshot(live, ledgerDb, () => {
      const standing = readStanding(live)
      const isBehind = [...standing.values()].some(({ seq }) => seq < ledger.lastErasure())
      return isBehind && performance.now() < deadlineMs ? null : compareAll(ledger, live, standing, trace)
    })
    if (outcome !== null) return outcome
    await sleep(PAUSE_MS)
  }
}

/** Rebuilds the views from a ledger where there are none to compare with. */
export function foldOnly(ledgerDb: Database.Database, trace: FoldTrace): ComparisonOutcome {
  const ledger = createReader(ledgerDb)
  const views = new Database('')
  ledgerDb.exec('BEGIN')
  try {
    const { seq } = ledger.head()
    const foldMs = fold(ledger, views, projections, seq, trace)
    const outcomes = projections.map(({ name, tables }) => {
      const rows = tables.map(
        (table) => views.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0,
      )
      return { name, seq, rows: rows.reduce((sum, each) => sum + each, 0), flaw: null }
    })
    return { headSeq: seq, foldedEvents: seq, foldMs, projections: outcomes }
  } finally {
    ledgerDb.exec('ROLLBACK')
    views.close()
  }
}

/** Folds a ledger into an empty database. Returns how long that took, in milliseconds. */
function fold(
  ledger: LedgerReader,
  views: Database.Database,
  those: readonly Projection[],
  throughSeq: number,
  trace: FoldTrace,
): number {
  const startMs = performance.now()
  // None lags here, so that all go through the ledger in one pass.
  const members = those.map((projection) => ({ ...projection, lagging: false }))
  replay({ ledger, views, projections: members, throughSeq, trace })
  return performance.now() - startMs
}

function compareAll(
  ledger: LedgerReader,
  live: Database.Database,
  standing: Standing,
  trace: FoldTrace,
): ComparisonOutcome {
  const outcomes: ProjectionOutcome[] = []
  let foldedEvents = 0
  let foldMs = 0
  for (const [seq, those] of Map.groupBy(projections, (each) => seqOf(each, standing))) {
    if (seq === null || seq < ledger.lastErasure()) {
      outcomes.push(...those.map(({ name }) => notCompared(name, standing, seq)))
      continue
    }
    const views = new Database('')
    try {
      foldMs += fold(ledger, views, those, seq, trace)
      foldedEvents += seq
      outcomes.push(...those.map((projection) => compareOne(projection, views, live, seq)))
    } finally {
      views.close()
    }
  }
  return { headSeq: ledger.head().seq, foldedEvents, foldMs, projections: outcomes }
}

/** Runs `work` on one state of both. Views first: the ledger, written before them, is never behind. */
function inSnapshot<T>(live: Database.Database, ledgerDb: Database.Database, work: () => T): T {
  live.exec('BEGIN')
  try {
    live.prepare('SELECT count(*) FROM views_folds').get()
    ledgerDb.exec('BEGIN')
    try {
      ledgerDb.prepare('SELECT max(seq) FROM events').get()
      return work()
    } finally {
      ledgerDb.exec('ROLLBACK')
    }
  } finally {
    live.exec('ROLLBACK')
  }
}

type Standing = ReadonlyMap<string, { readonly version: number; readonly seq: number }>

function readStanding(live: Database.Database): Standing {
  const rows = live.prepare<[], { name: string; version: number; seq: number }>(STANDING).all()
  return new Map(rows.map((row) => [row.name, row]))
}

/** Where a live view stands; null if another build wrote it, whose folds would give other rows. */
function seqOf({ name, version }: Projection, standing: Standing): number | null {
  const found = standing.get(name)
  return found?.version === version ? found.seq : null
}

function notCompared(name: string, standing: Standing, seq: number | null): ProjectionOutcome {
  const why =
    seq === null
      ? 'built by another version of Delegate. Start the service to rebuild it'
      : `it stands at event ${seq}, before the last erasure. Start the service to update it`
  return { name, seq: standing.get(name)?.seq ?? 0, rows: 0, flaw: `not compared: ${why}` }
}

function compareOne(
  { name, tables }: Projection,
  rebuilt: Database.Database,
  live: Database.Database,
  seq: number,
): ProjectionOutcome {
  const damaged = tables.map((table) => structureFlaw(live, table)).find((flaw) => flaw !== null)
  if (damaged) return { name, seq, rows: 0, flaw: damaged }
  const { rows, difference } = compareViews(rebuilt, live, tables)
  return { name, seq, rows, flaw: difference && describe(difference) }
}

function structureFlaw(live: Database.Database, table: string): string | null {
  const found = live.pragma(`${isSearchIndex(live, table) ? 'integrity_check' : 'quick_check'}(${table})`, {
    simple: true,
  })
  return found === 'ok' ? null : `${table} is damaged`
}

/** Names columns but never their values, and a row only by its number. */
function describe({ table, expected, actual }: Difference): string {
  const row = toRecord(expected ?? actual)
  const [id] = Object.entries(row).filter(([, value]) => typeof value === 'number')
  const where = `${table}${id ? `, row with ${id[0]} ${id[1]}` : ''}`
  if (actual === undefined) return `${where}: missing in the live views`
  if (expected === undefined) return `${where}: only in the live views`
  const other = toRecord(actual)
  const columns = Object.keys(row).filter(
    (column) => JSON.stringify(row[column]) !== JSON.stringify(other[column]),
  )
  return `${where}: differs in ${columns.join(', ')}`
}

function toRecord(row: unknown): Record<string, unknown> {
  return typeof row === 'object' && row !== null ? { ...row } : {}
}
