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

/** Links checked at each start; the full walk runs in a worker. */
const LINKS_CHECKED_AT_START = 1000
/**
 * Looks at the ledger of a directory before it is opened for writing, and changes nothing, whatever it finds:
 * header, format, guards, the last links of the chain, and the write-ahead log. Bytes at the end of the log that
 * recovery would drop are the torn tail of a power cut, never acknowledged; but where a witness, which is always
 * written after the ledger, knows of an event that the ledger lacks, acknowledged facts are lost. A directory that was
 * to be made from a backup or an export is no place for a new ledger. Throws LedgerDamaged.
 */
export function inspectLedger(directory: string, readViews: () => Witness | null): Inspection {
  const file = ledgerFile(directory)
  checkHeader(file)
  const witnesses = [readHeadNote(directory), readViews()].filter((witness) => witness !== null)
  const found =
    existsSync(file) && statSync(file).size > 0
      ? probeLedger(file, (reader) => ({ loss: findLoss(reader, witnesses) }))
      : null
  if (found) return { exists: true, loss: found.loss }
  if (existsSync(incomingDirectory(directory))) {
    throw new LedgerDamaged(
      `a restore or an import into ${directory} was cut short: run it again, or, to begin a new service, empty the directory`,
    )
  }
  const witness = witnesses.find(({ seq }) => seq > 0)
  if (witness) {
    throw new LedgerDamaged(
      `${file} is missing or empty, though ${witness.file} knew event ${witness.seq} at ${witness.at}: put it back, or ` +
        'restore a backup into another directory. To begin a new ledger, move views.sqlite and ledger.head away',
      { seq: 1 },
    )
  }
  return { exists: false, loss: null }
}

/** Whether there is a ledger at all, and what is lost of it. */
export type Inspection = { readonly exists: boolean; readonly loss: Loss | null }

/** The refusal to go on without what is lost. Names a log that is damaged, for then that is why. */
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
    if (cause instanceof LedgerDamaged || isRefusedByDisk(cause)) throw cause
    throw new LedgerDamaged(`${file} is damaged: ${messageOf(cause)}`, { cause })
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
