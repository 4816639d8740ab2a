import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createReader, type LedgerReader } from '../../ledger/reader.ts'
import { STANDING } from '../../projections/checkpoints.ts'
import { isSearchIndex } from '../../projections/merge-index.ts'
import type { Projection } from '../../projections/projection.ts'
import type { FoldTrace } from '../../projections/projector.ts'
import { compareViews, type Difference, replay } from '../../src/storage/replay.ts'
import { Refused } from './command.ts'

export type ComparisonOptions = {
  readonly ledgerDb: Database.Database
  /** The views in use; a service may be writing them. */
  readonly live: Database.Database
  readonly projections: readonly Projection[]
  readonly trace: FoldTrace
  /** How long an erasure that the live views have not seen yet is waited for. */
  readonly waitMs: number
}

export type ProjectionOutcome = {
  readonly name: string
  /** Where the live view stood, and so how far both were compared. */
  readonly seq: number
  readonly rows: number
  /** Null where the live view is what the ledger says. */
  readonly flaw: string | null
}

export type ComparisonOutcome = {
  readonly headSeq: number
  /** Events folded and how long that took, tracing included. */
  readonly foldedEvents: number
  readonly foldMs: number
  readonly projections: readonly ProjectionOutcome[]
}

/** Projections whose live views stand at the same event, folded together into a database of their own. */
type Group = { readonly members: readonly Projection[]; readonly views: Database.Database; seq: number }

const ATTEMPTS = 5
const PAUSE_MS = 50

/**
 * Folds a ledger anew and compares what comes of it with the views in use, row by row, at the event where each of
 * these stands. Beside a service: the long part needs no lock; then, on one state of ledger and views, what happened
 * meanwhile is folded too, and compared. What is folded lives in nameless files that vanish with the process.
 */
export async function compareWithLive(options: ComparisonOptions): Promise<ComparisonOutcome> {
  const { ledgerDb, live, projections, trace } = options
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
    inSnapshot(live, ledgerDb, (): ComparisonOutcome | 'regroup' | 'wait' => {
      const standing = readStanding(live)
      const seqs = groups.map(({ members }) => commonSeq(members, standing))
      if (groups.some(({ seq }, index) => (seqs[index] ?? -1) < seq)) return 'regroup'
      const isBehindErasure = seqs.some((seq) => (seq ?? 0) < ledger.lastErasure())
      if (isBehindErasure && !isLast) return 'wait'
      const outcomes = groups.flatMap((group, index) => {
        fold(group, seqs[index] ?? group.seq)
        return compareGroup(group, live, ledger)
      })
      const stale = projections.flatMap((projection) => staleOutcome(projection, standing))
      return { headSeq: ledger.head().seq, foldedEvents, foldMs, projections: [...outcomes, ...stale] }
    })

  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const groups = groupByStanding(projections, readStanding(live))
    try {
      for (const group of groups.values()) fold(group.group, group.throughSeq)
      const deadlineMs = performance.now() + options.waitMs
      for (;;) {
        const outcome = outcomeIn(
          groups.map(({ group }) => group),
          performance.now() >= deadlineMs,
        )
        if (outcome === 'regroup') break
        if (outcome !== 'wait') return outcome
        await sleep(PAUSE_MS)
      }
    } finally {
      for (const { group } of groups) group.views.close()
    }
  }
  throw new Refused('The views are being made anew. Try again when the service is ready.')
}

/** One state of both. The views first: the ledger, written before them, is then never behind. */
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

/** Another build wrote it, and this one's folds would give other rows. */
function staleOutcome(projection: Projection, standing: Standing): ProjectionOutcome[] {
  if (isComparable(projection, standing)) return []
  const flaw = 'not compared: another version of Delegate made it. Start the service, which makes it anew'
  return [{ name: projection.name, seq: standing.get(projection.name)?.seq ?? 0, rows: 0, flaw }]
}

function groupByStanding(projections: readonly Projection[], standing: Standing) {
  const comparable = projections.filter((projection) => isComparable(projection, standing))
  const bySeq = Map.groupBy(comparable, ({ name }) => standing.get(name)?.seq ?? 0)
  return [...bySeq].map(([throughSeq, those]) => {
    // None lags here: they go through the ledger together, in one pass.
    const members = those.map((projection) => ({ ...projection, lagging: false }))
    const group: Group = { members, views: new Database(''), seq: 0 }
    return { group, throughSeq }
  })
}

/** Where all of them stand; null when they do not stand together, or one was made anew by another build. */
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
        `not compared: it stands at event ${group.seq}, and something was erased since. ` +
        'Start the service, which brings it up'
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

/** Names columns, never what stands in them; a row by its number alone. */
function describe({ table, expected, actual }: Difference): string {
  const row = toRecord(expected ?? actual)
  const [id] = Object.entries(row).filter(([, value]) => typeof value === 'number')
  const where = `${table}${id ? `, row with ${id[0]} ${id[1]}` : ''}`
  if (actual === undefined) return `${where}: is missing in the live views`
  if (expected === undefined) return `${where}: is in the live views alone`
  const other = toRecord(actual)
  const columns = Object.keys(row).filter(
    (column) => JSON.stringify(row[column]) !== JSON.stringify(other[column]),
  )
  return `${where}: differs in ${columns.join(', ')}`
}

function toRecord(row: unknown): Record<string, unknown> {
  return typeof row === 'object' && row !== null ? { ...row } : {}
}
