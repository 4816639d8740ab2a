import { existsSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { findDamageIfSmall } from './damage.ts'
import { LedgerDamaged } from './errors.ts'
import { checkFormat, checkHeader, incomingDirectory, ledgerFile } from './files.ts'
import { scanLog } from './log.ts'
import { probe } from './probe.ts'
import { createReader } from './reader.ts'
import { ledgerSchema } from './schema.ts'
import { verifyChain } from './verify.ts'

/** How far something that was derived from a ledger had followed it. */
export type Witness = { readonly ledgerId: string; readonly seq: number }

/** Links checked at each start; the full walk runs in a worker. */
const LINKS_CHECKED_AT_START = 1000
/**
 * Looks at the ledger of a directory before it is opened for writing, and changes nothing, whatever it finds:
 * header, format, guards, the last links of the chain, and the write-ahead log. Bytes at the end of the log that
 * recovery would drop are the torn tail of a power cut, never acknowledged; but if the views, which are always
 * written after the ledger, have seen more than recovery would keep, then acknowledged facts are damaged. A directory that was to be made from a backup or an export is
 * no place for a new ledger. Returns whether there is a ledger at all. Throws LedgerDamaged.
 */
export function inspectLedger(directory: string, readWitness: () => Witness | null): boolean {
  const file = ledgerFile(directory)
  checkHeader(file)
  const log = scanLog(`${file}-wal`)
  const found = existsSync(file) && statSync(file).size > 0 ? probeLedger(file) : null
  if (found === null && existsSync(incomingDirectory(directory))) {
    throw new LedgerDamaged(
      `a restore or an import into ${directory} was cut short: run it again, or, to begin a new service, empty the directory`,
    )
  }
  const isSuspect = found === null || log.droppedBytes > 0
  const witness = isSuspect ? readWitness() : null
  if (!witness || witness.seq === 0) return found !== null
  if (found === null) {
    throw new LedgerDamaged(
      `${file} is missing or empty, though views.sqlite had followed a ledger to event ${witness.seq}: ` +
        'restore it from a backup, or move views.sqlite away to begin a new one',
      { seq: 1 },
    )
  }
  if (witness.ledgerId === found.id && witness.seq > found.headSeq) {
    throw new LedgerDamaged(
      `${file}-wal is damaged: its first ${log.kept} frames can be recovered, up to event ${found.headSeq}, but ` +
        `the views had followed the ledger to event ${witness.seq}. Nothing was changed. Restore a backup; or, to ` +
        'go on without the lost events, move views.sqlite away',
      { seq: found.headSeq + 1 },
    )
  }
  return true
}

function probeLedger(file: string): { id: string; headSeq: number } | null {
  try {
    return probe(file, (db) => {
      if (isBlank(db)) return null
      checkFormat(db, file)
      checkGuards(db, file)
      const damage = findDamageIfSmall(db)
      if (damage !== null) throw new LedgerDamaged(`${file} is damaged: ${damage}`)
      const reader = createReader(db)
      const head = reader.head()
      verifyChain(reader, Math.max(0, head.seq - LINKS_CHECKED_AT_START))
      return { id: reader.id(), headSeq: head.seq }
    })
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError)) throw cause
    throw new LedgerDamaged(`${file} is damaged: ${cause.message}`, { cause })
  }
}

/** A database without a single table: what a crash in the very making of a ledger leaves behind. */
function isBlank(db: Database.Database): boolean {
  return (
    db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined &&
    db.pragma('application_id', { simple: true }) === 0
  )
}

type Declared = { name: string; sql: string }

/** Whoever owns the file can drop the guards from it; then it is not opened, for what it holds is no longer sure. */
export function checkGuards(db: Database.Database, file: string): void {
  const sql = `SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'trigger') AND name NOT LIKE 'sqlite_%' ORDER BY name`
  const model = new Database(':memory:')
  model.exec(ledgerSchema(Number(db.pragma('user_version', { simple: true }))))
  const expected = model.prepare<[], Declared>(sql).all()
  model.close()
  const actual = db.prepare<[], Declared>(sql).all()
  const differs = ({ name, sql }: Declared, others: readonly Declared[]) =>
    others.every((other) => other.name !== name || other.sql !== sql)
  const wrong =
    expected.find((each) => differs(each, actual)) ?? actual.find((each) => differs(each, expected))
  if (wrong)
    throw new LedgerDamaged(`${file} is damaged: ${wrong.name} is not what this service declared in it`)
}
