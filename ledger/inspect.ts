import { existsSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { findDamageIfSmall } from './damage.ts'
import { isRefusedByDisk, LedgerDamaged, messageOf } from './errors.ts'
import { checkFormat, checkHeader, incomingDirectory, ledgerFile } from './files.ts'
import { scanLog } from './log.ts'
import { probe } from './probe.ts'
import { createReader, type LedgerReader } from './reader.ts'
import { ledgerSchema } from './schema.ts'
import { verifyChain } from './verify.ts'
import { describeLoss, findLoss, LOSS_REMEDY, type Loss, readHeadNote, type Witness } from './witness.ts'

/** What to do about a ledger that is refused as damaged. */
export const DAMAGE_REMEDY =
  'Nothing was changed. Run npm run ledger:verify to locate the damage, then restore a backup into another directory, or ' +
  'save what is left with npm run ledger:salvage'

/** Links verified at each start; a worker verifies all of them. */
const LINKS_CHECKED_AT_START = 1000

/**
 * Inspects a ledger before it is opened for writing, without changing anything: header, format, guards, the
 * last links of the chain, and the write-ahead log. Bytes that recovery would drop from the log count as the
 * torn tail of a power cut, unless a witness proves a loss: witnesses are written after the ledger is on disk, or
 * after a copy is committed. Throws
 * LedgerDamaged, also in a directory where a restore or an import was interrupted.
 */
export function inspectLedger(directory: string, readViews: () => Witness | null): Inspection {
  const file = ledgerFile(directory)
  const witnesses = [readHeadNote(directory), readViews()].filter((witness) => witness !== null)
  const found =
    existsSync(file) && statSync(file).size > 0
      ? probeLedger(file, (reader) => ({
          isCopy: reader.meta('engine') === 'commit',
          loss: findLoss(reader, witnesses),
        }))
      : null
  if (found) return { exists: true, ...found }
  if (existsSync(incomingDirectory(directory))) {
    throw new LedgerDamaged(
      `a restore or an import into ${directory} was interrupted: run it again, or empty the directory to start afresh`,
    )
  }
  const witness = witnesses.find(({ seq }) => seq > 0)
  if (witness) {
    throw new LedgerDamaged(
      `${file} is missing or empty, but ${witness.file} recorded event ${witness.seq} at ${witness.at}: put it back, or ` +
        'restore a backup into another directory. To start a new ledger, move views.sqlite and ledger.head away',
      { seq: 1 },
    )
  }
  return { exists: false, isCopy: false, loss: null }
}

export type Inspection = {
  readonly exists: boolean
  /** Whether another database commits first, and so has every event. */
  readonly isCopy: boolean
  /** The events that it lost. */
  readonly loss: Loss | null
}

/** The error that refuses a ledger with a loss. Names a damaged write-ahead log as the cause. */
export function refusalOf(loss: Loss, file: string): LedgerDamaged {
  const log = scanLog(`${file}-wal`)
  const why =
    log.droppedBytes > 0 ? `${file}-wal is damaged: only its first ${log.kept} frames can be read. ` : ''
  return new LedgerDamaged(`${why}${file}: ${describeLoss(loss)}. ${LOSS_REMEDY}`, {
    seq: loss.missing?.firstSeq ?? null,
  })
}

function probeLedger<T>(file: string, look: (reader: LedgerReader) => T): T | null {
  try {
    checkHeader(file)
    return probe(file, (db) => {
      if (isBlank(db)) return null
      checkFormat(db, file)
      checkGuards(db, file)
      const damage = findDamageIfSmall(db)
      if (damage !== null) throw new LedgerDamaged(`${file} is damaged: ${damage}`)
      const reader = createReader(db)
      verifyChain(reader, Math.max(0, reader.head().seq - LINKS_CHECKED_AT_START))
      return look(reader)
    })
  } catch (cause) {
    if (isRefusedByDisk(cause)) throw cause
    const isFound = cause instanceof LedgerDamaged
    const what = isFound ? cause.message : `${file} is damaged: ${messageOf(cause)}`
    throw new LedgerDamaged(`${what}. ${DAMAGE_REMEDY}`, { cause, seq: isFound ? cause.seq : null })
  }
}

/** A database without tables, left by a crash during creation. */
function isBlank(db: Database.Database): boolean {
  return (
    db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined &&
    db.pragma('application_id', { simple: true }) === 0
  )
}

type Declared = { type: string; name: string; sql: string }

/** Tables of other programs, such as Litestream. They do no harm, unlike foreign triggers. */
export function foreignTables(db: Database.Database): string[] {
  return db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .pluck()
    .all()
    .filter((name) => !OWN_TABLES.has(name))
}

const OWN_TABLES = new Set(['events', 'erasures', 'meta'])

/** Throws LedgerDamaged if tables or guards differ from the schema: any program can drop them. */
export function checkGuards(db: Database.Database, file: string): void {
  const sql = `SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'trigger') AND name NOT LIKE 'sqlite_%' ORDER BY name`
  const model = new Database(':memory:')
  model.exec(ledgerSchema(Number(db.pragma('user_version', { simple: true }))))
  const expected = model.prepare<[], Declared>(sql).all()
  model.close()
  const foreign = new Set(foreignTables(db))
  const actual = db
    .prepare<[], Declared>(sql)
    .all()
    .filter(({ type, name }) => type !== 'table' || !foreign.has(name))
  const differs = ({ type, name, sql }: Declared, others: readonly Declared[]) =>
    others.every((other) => other.type !== type || other.name !== name || other.sql !== sql)
  const wrong =
    expected.find((each) => differs(each, actual)) ?? actual.find((each) => differs(each, expected))
  if (wrong) throw new LedgerDamaged(`${file} is damaged: ${wrong.name} differs from its schema`)
}
