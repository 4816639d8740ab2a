import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createReader, type LedgerReader } from '../../ledger/reader.ts'
import { projections } from '../../projections/all.ts'
import { STANDING } from '../../projections/checkpoints.ts'
import { isSearchIndex } from '../../projections/merge-index.ts'
import type { Projection } from '../../projections/projection.ts'
import type { FoldTrace } from '../../projections/projector.ts'
import { compareViews, type Difference, replay } from '../../src/storage/replay.ts'
import { Refused } from './command.ts'

export type ProjectionOutcome = {
  readonly name: string
  /** Where the live view stood, which is how far both were compared. */
  readonly seq: number
  readonly rows: number
  /** Null if the live view matches the ledger. */
  readonly flaw: string | null
}

export type ComparisonOutcome = Awaited<ReturnType<typeof compareWithLive>>

/** Projections whose live views stand at the same event, folded into one database. */
type Group = {
  readonly members: readonly Projection[]
  readonly views: Database.Database
  readonly throughSeq: number
  seq: number
}

const ATTEMPTS = 5
/** How long an erasure may take to reach the search indexes of a busy service. */
const WAIT_MS = 5_000
const PAUSE_MS = 50

/**
 * Rebuilds the views from a ledger and compares them with the views in use, row by row, at the event where
 * each of these stands. The long part takes no lock on a running service. Then it takes one snapshot of
 * ledger and views, folds what happened meanwhile, and compares. The rebuilt views are in nameless files that
 * vanish with the process.
 */
export async function compareWithLive(
  ledgerDb: Database.Database,
  /** The views in use; a service may be writing them. */
  live: Database.Database,
  trace: FoldTrace,
) {
  const ledger = createReader(ledgerDb)
  let foldedEvents = 0
  let foldMs = 0

  function fold(group: Group, throughSeq: number): void {
    const startMs = performance.now()
    const { views, members } = group
    replay({ ledger, views, projections: members, throughSeq, trace })
    foldMs += performance.now() - startMs
    foldedEvents += throughSeq - group.seq
    group.seq = throughSeq
  }

  const outcomeIn = (groups: readonly Group[], isLast: boolean) =>
    inSnapshot(live, ledgerDb, () => {
      const standing = readStanding(live)
      const seqs = groups.map(({ members }) => commonSeq(members, standing))
      if (groups.some(({ seq }, index) => (seqs[index] ?? -1) < seq)) return 'regroup' as const
      const isBehindErasure = seqs.some((seq) => (seq ?? 0) < ledger.lastErasure())
      if (isBehindErasure && !isLast) return 'wait' as const
      const outcomes = groups.flatMap((group, index) => {
        fold(group, seqs[index] ?? group.seq)
        return compareGroup(group, live, ledger)
      })
      const stale = projections.flatMap((projection) => staleOutcome(projection, standing))
      // `foldMs` includes tracing.
      return { headSeq: ledger.head().seq, foldedEvents, foldMs, projections: [...outcomes, ...stale] }
    })

  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const groups = groupByStanding(readStanding(live))
    try {
      for (const group of groups) fold(group, group.throughSeq)
      const deadlineMs = performance.now() + WAIT_MS
      for (;;) {
        const outcome = outcomeIn(groups, performance.now() >= deadlineMs)
        if (outcome === 'regroup') break
        if (outcome !== 'wait') return outcome
        await sleep(PAUSE_MS)
      }
    } finally {
      for (const { views } of groups) views.close()
    }
  }
  throw new Refused('The views are being rebuilt. Try again when the service is ready.')
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

function isComparable({ name, version }: Projection, standing: Standing): boolean {
  return standing.get(name)?.version === version
}

/** A view written by another build, whose folds would give other rows. */
function staleOutcome(projection: Projection, standing: Standing): ProjectionOutcome[] {
  if (isComparable(projection, standing)) return []
  const flaw = 'not compared: built by another version of Delegate. Start the service to rebuild it'
  return [{ name: projection.name, seq: standing.get(projection.name)?.seq ?? 0, rows: 0, flaw }]
}

function groupByStanding(standing: Standing) {
  const comparable = projections.filter((projection) => isComparable(projection, standing))
  const bySeq = Map.groupBy(comparable, ({ name }) => standing.get(name)?.seq ?? 0)
  return [...bySeq].map(([throughSeq, those]): Group => {
    // None lags here, so that all go through the ledger in one pass.
    const members = those.map((projection) => ({ ...projection, lagging: false }))
    return { members, views: new Database(''), throughSeq, seq: 0 }
  })
}

/** The seq where all of them stand; null if they stand apart or another build has rebuilt one. */
function commonSeq(members: readonly Projection[], standing: Standing): number | null {
  if (!members.every((member) => isComparable(member, standing))) return null
  const [seq, ...others] = new Set(members.map(({ name }) => standing.get(name)?.seq ?? 0))
  return seq === undefined || others.length > 0 ? null : seq
}

function compareGroup(group: Group, live: Database.Database, ledger: LedgerReader): ProjectionOutcome[] {
  const isBehindErasure = group.seq < ledger.lastErasure()
  return group.members.map(({ name, tables }): ProjectionOutcome => {
    if (isBehindErasure) {
      const flaw =
        `not compared: it stands at event ${group.seq}, before the last erasure. ` +
        'Start the service to update it'
      return { name, seq: group.seq, rows: 0, flaw }
    }
    const damaged = tables.map((table) => structureFlaw(live, table)).find((flaw) => flaw !== null)
    if (damaged) return { name, seq: group.seq, rows: 0, flaw: damaged }
    const { rows, differences } = compareViews(group.views, live, tables)
    const [difference] = differences
    const flaw = difference ? describe(difference) : null
    return { name, seq: group.seq, rows: rows.reduce((sum, table) => sum + table.rows, 0), flaw }
  })
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
