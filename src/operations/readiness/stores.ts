import { existsSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import Database from 'better-sqlite3'
import { diskCauseOf, diskRemedies } from '../../../ledger/causes.ts'
import { closing } from '../../../ledger/closing.ts'
import { firstFault } from '../../../ledger/damage.ts'
import { LedgerDamaged, messageOf } from '../../../ledger/errors.ts'
import { ledgerFile, openLedgerReadOnly, viewsFile } from '../../../ledger/files.ts'
import { createReader, type LedgerReader } from '../../../ledger/reader.ts'
import { verifyLink } from '../../../ledger/verify.ts'
import { openViewsReadOnly } from '../../../projections/views.ts'
import { english } from '../../language/message.ts'
import { secretKeyFile } from '../../settings/secrets.ts'
import { settingsFile, WITHOUT_SETTINGS } from '../../settings/store.ts'

/** A file, and its inode when the service opened it. */
export type Place = { readonly file: string; readonly inode: string }

export type StoreName = 'ledger' | 'views' | 'settings'
export type Places = Readonly<Record<StoreName, readonly Place[]>>
/** Why a store cannot be read, with the remedy; null if it can. */
export type StoreReport = Readonly<Record<StoreName, string | null>> & {
  readonly freeBytes: number | null
  /** What to do about secrets that cannot be read; null if there are none. */
  readonly locked: string | null
}

/** Reads the last events, which requests use most, and random samples of the whole ledger. */
const LAST_EVENTS = 64
const SAMPLES = 16
const SAMPLE_EVENTS = 4
const SAMPLE_ROWS = 2

/** No backup is needed for damaged views. */
export const VIEWS_DAMAGED = english`The views are damaged, and are being rebuilt from the ledger. If this does not help, restart Delegate.`

const remedies = { moved: english`Put it back, or restore a backup.`, damaged: diskRemedies.damaged }
const settingsRemedies = {
  ...remedies,
  damaged: english`The settings are damaged. Stop Delegate. ${WITHOUT_SETTINGS}`,
}
const viewRemedies = { moved: english`Restart Delegate, which rebuilds it.`, damaged: VIEWS_DAMAGED }

/** The current files of the data directory. Call it once all stores are open. */
export function placesOf(directory: string): Places {
  const existing = (files: readonly string[]): Place[] =>
    files.flatMap((file) => {
      const inode = inodeOf(file)
      return inode === null ? [] : [{ file, inode }]
    })
  const views = viewsFile(directory)
  return {
    ledger: existing([ledgerFile(directory)]),
    views: existing([views, `${views}-wal`, `${views}-shm`]),
    settings: existing([settingsFile(directory)]),
  }
}

function inodeOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false })
  return found ? `${found.dev}:${found.ino}` : null
}

/** Reads a sample of each store through a new connection, because SQLite caches pages per connection. */
export function checkStores(args: {
  readonly directory: string
  readonly places: Places
  /** Whether secret.key existed since the start. */
  readonly hadKey: boolean
}): StoreReport {
  const { directory, places } = args
  return {
    ledger: faultOf(places.ledger, () => readLedger(directory)),
    views: faultOf(places.views, () => readViews(directory), viewRemedies),
    settings: faultOf(places.settings, () => readSettings(directory, args.hadKey), settingsRemedies),
    locked: lockedSettings(directory, args.hadKey),
    freeBytes: freeBytes(directory),
  }
}

function faultOf(
  places: readonly Place[],
  read: () => void,
  { moved: restore, damaged } = remedies,
): string | null {
  // If its log is gone, SQLite would create a new one when it opens the database.
  const moved = places.find(({ file, inode }) => inodeOf(file) !== inode)
  if (moved) return english`The file ${basename(moved.file)} was deleted, moved or replaced. ${restore}`
  try {
    read()
    return null
  } catch (error) {
    if (error instanceof MissingKey) return error.message
    const cause =
      error instanceof LedgerDamaged
        ? 'damaged'
        : (diskCauseOf(error, dirname(places[0]?.file ?? '.')) ?? 'failing')
    return `${cause === 'damaged' ? damaged : diskRemedies[cause]} (${messageOf(error)})`
  }
}

class MissingKey extends Error {}

function readLedger(directory: string): void {
  using db = closing(openLedgerReadOnly(directory))
  db.transaction(() => {
    const reader = createReader(db)
    const { seq } = reader.head()
    readEvents(reader, Math.max(0, seq - LAST_EVENTS), LAST_EVENTS)
    for (let sample = 0; sample < SAMPLES; sample += 1)
      readEvents(reader, Math.floor(Math.random() * seq), SAMPLE_EVENTS)
  })()
}

/** Checks that each event follows from the one before and is found by its key. Throws LedgerDamaged. */
function readEvents(reader: LedgerReader, afterSeq: number, count: number): void {
  const hash = reader.hashAt(afterSeq)
  if (hash === null) throw new LedgerDamaged(`event ${afterSeq} is missing`, { seq: afterSeq })
  let head = { seq: afterSeq, hash }
  for (const row of reader.rowsAfter(afterSeq, count)) {
    head = verifyLink(head, row)
    if (row.key !== null && reader.rowByKey(row.key)?.seq !== row.seq)
      throw new LedgerDamaged(`event ${row.seq} is not found by its key`, { seq: row.seq })
  }
}

function readViews(directory: string): void {
  using db = closing(openViewsReadOnly(directory))
  readTables(db)
}

function readTables(db: Database.Database): void {
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
    .pluck()
    .all()
  for (const name of names) db.prepare(`SELECT * FROM "${name}" LIMIT ${SAMPLE_ROWS}`).all()
}

function readSettings(directory: string, hadKey: boolean): void {
  const file = settingsFile(directory)
  // Small enough to be checked completely.
  using db = closing(new Database(file, { readonly: true, fileMustExist: true, timeout: 1000 }))
  const found = db.pragma('quick_check(1)', { simple: true })
  if (found !== 'ok') throw new LedgerDamaged(`${file} is damaged: ${firstFault(found)}`)
  readTables(db)
  if (hadKey && !existsSync(secretKeyFile(directory)))
    throw new MissingKey(
      english`secret.key was deleted. Put it back: after a restart, secret settings cannot be read without it.`,
    )
}

/** What to do about secrets that secret.key was missing for at the start; null if there are none. */
function lockedSettings(directory: string, hadKey: boolean): string | null {
  if (hadKey || existsSync(secretKeyFile(directory))) return null
  try {
    using db = closing(new Database(settingsFile(directory), { readonly: true, timeout: 1000 }))
    const sealed = db
      .prepare<[], string>('SELECT key FROM settings WHERE sealed = 1 ORDER BY key')
      .pluck()
      .all()
    return sealed.length === 0
      ? null
      : english`secret.key is missing, so these settings are unset: ${sealed.join(', ')}. Put it back and restart Delegate. If it is lost, remove them in the settings, then enter them again.`
  } catch {
    // The check of the settings says why.
    return null
  }
}

/** Bytes that this user may still write; null if the file system does not tell. */
function freeBytes(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return null
  }
}
