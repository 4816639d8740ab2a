import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { closing } from '../../ledger/closing.ts'
import { isKnown } from '../../ledger/codec.ts'
import { isDamage, LedgerDamaged } from '../../ledger/errors.ts'
import { checkHeader, ledgerFile, viewsFile } from '../../ledger/files.ts'
import { DAMAGE_REMEDY, inspectLedger, refusalOf } from '../../ledger/inspect.ts'
import { probe } from '../../ledger/probe.ts'
import { createReader, type LedgerReader } from '../../ledger/reader.ts'
import { APPLICATION_ID, READABLE_FORMATS } from '../../ledger/schema.ts'
import { verifyLink } from '../../ledger/verify.ts'
import { readWitness } from '../../projections/checkpoints.ts'
import { MANIFEST, manifestSchema, writeBackup } from './backup.ts'
import { type Build, lastBuild, nameOf, recordBuild, writesAlike } from './build.ts'
import type { OpeningProgress } from './messages.ts'
import type { StatePlaces } from './postgres/options.ts'
import { lackingMegabytes } from './room.ts'

/** This build cannot use the directory as it is. Nothing was changed. */
export class UpgradeRefused extends Error {
  override readonly name = 'UpgradeRefused'
}

export type UpgradeOptions = {
  readonly directory: string
  readonly build: Build
  readonly places: StatePlaces
  readonly mayBackUp: boolean
  readonly onProgress: (progress: OpeningProgress) => void
  /** Receives a line for the log. */
  readonly notice: (message: string, fields: Record<string, unknown>) => void
}

const backupsOf = (directory: string) => join(directory, 'upgrades')
const KEPT = 2
/** Where to look for new types if this build was the last one here: PostgreSQL may have brought some. */
const NEWEST_EVENTS = 1000
const ALL_EVENTS = Number.POSITIVE_INFINITY

/**
 * Prepares a directory for this build, under the directory's lock and before anything is opened for writing. Makes
 * a verified backup if the last build wrote other things. Throws UpgradeRefused if the directory holds what this
 * build does not know, or if there is no room for the backup.
 */
export async function prepareUpgrade(options: UpgradeOptions): Promise<void> {
  const { directory, build, notice } = options
  const last = lastBuild(directory)
  const isAlike = last !== null && writesAlike(last, build)
  const found = look(options, directory, isAlike ? NEWEST_EVENTS : ALL_EVENTS)
  if (found === null) return
  if (found.damage !== null) throw new LedgerDamaged(`${found.damage}. ${DAMAGE_REMEDY}`)
  if (found.newer !== null) throw new UpgradeRefused(describeNewer(options, last, found.newer))
  // No build has run on a restored or imported directory yet: it is a copy itself.
  const isUnused = last === null && !existsSync(viewsFile(directory))
  if (found.events === 0 || isUnused || (isAlike && nameOf(last) === nameOf(build))) return
  notice('upgrading', { from: last ? nameOf(last) : 'an earlier build', to: nameOf(build) })
  if (isAlike) return
  if (options.mayBackUp) await backUp(options, last, found.events)
  else notice('no backup is made before the upgrade', {})
  recordBuild(directory, build)
}

/**
 * The number of events in a directory, what this build does not know of it, and whether that is damage. Reads types only of the newest
 * events. Null if there is no ledger, or if it is damaged, about which opening it says more.
 */
function look({ build, places }: UpgradeOptions, directory: string, newest: number) {
  const file = ledgerFile(directory)
  if (!existsSync(file) || statSync(file).size === 0) return null
  try {
    checkHeader(file)
    return probe(file, (db) => {
      if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) return null
      const format = Number(db.pragma('user_version', { simple: true }))
      if (format > Math.max(...READABLE_FORMATS))
        return { events: 0, newer: `format ${format} of ledger.sqlite`, damage: null }
      const events = db.prepare<[], number>('SELECT coalesce(max(seq), 0) FROM events').pluck().get() ?? 0
      const event = unknownEvent(db, events - newest)
      const newer = newerSettings(join(directory, places.database), build) ?? event?.name ?? null
      return { events, newer, damage: event && damageOf(createReader(db), event.seq) }
    })
  } catch (error) {
    if (isDamage(error) || error instanceof LedgerDamaged) return null
    throw error
  }
}

function unknownEvent(db: Database.Database, afterSeq: number): { seq: number; name: string } | null {
  const stored = db
    .prepare<[number], { seq: number; type: string; version: number }>(
      'SELECT min(seq) AS seq, type, version FROM events WHERE seq > ? GROUP BY type, version',
    )
    .all(Math.max(0, afterSeq))
  const unknown = stored.find(({ type, version }) => !isKnown(type, version))
  return unknown
    ? { seq: unknown.seq, name: `version ${unknown.version} of the event ${unknown.type}` }
    : null
}

/** Why an event is not what was written; null if it is. A damaged type looks like a new one. */
function damageOf(ledger: LedgerReader, seq: number): string | null {
  try {
    for (const row of ledger.rowsAfter(seq - 1, 1))
      verifyLink({ seq: seq - 1, hash: ledger.hashAt(seq - 1) ?? '' }, row)
    return null
  } catch (error) {
    if (error instanceof LedgerDamaged) return error.message
    throw error
  }
}

function newerSettings(file: string, build: Build): string | null {
  if (!existsSync(file)) return null
  try {
    // In memory, so that the journal of a crash stays as it is.
    using db = closing(new Database(readFileSync(file)))
    const format = Number(db.pragma('user_version', { simple: true }))
    return format > build.settings ? `format ${format} of ${file}` : null
  } catch (error) {
    // Opening the settings says more about it.
    if (error instanceof Database.SqliteError) return null
    throw error
  }
}

function describeNewer(options: UpgradeOptions, last: Build | null, newer: string): string {
  const { directory, build } = options
  const isNamed = last !== null && nameOf(last) !== nameOf(build)
  const backup = backupsIn(directory).findLast(({ path }) => look(options, path, ALL_EVENTS)?.newer === null)
  return (
    `This ledger was last written by ${isNamed ? `Delegate ${nameOf(last)}` : 'a version of Delegate'}, which is newer ` +
    `than this build, ${nameOf(build)}. Start that version or a newer one, or restore ` +
    `${backup ? `the backup in ${backup.path}` : 'an earlier backup'} into an empty directory. ` +
    `What this build does not know: ${newer}.`
  )
}

async function backUp(options: UpgradeOptions, last: Build | null, events: number): Promise<void> {
  const { directory, places, onProgress, notice } = options
  const { loss } = inspectLedger(directory, () => readWitness(directory))
  if (loss) throw refusalOf(loss, ledgerFile(directory))
  // Left by a process that was ended while it made one.
  for (const { path, createdAt } of backupsIn(directory))
    if (createdAt === INCOMPLETE.createdAt) rmSync(path, { recursive: true })
  requireRoom(directory, places)
  onProgress({ step: 'backup', done: 0, total: events })
  const from = last ? [last.version, ...(last.commit ? [last.commit.slice(0, 7)] : [])].join('-') : 'earlier'
  const at = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const destination = join(backupsOf(directory), `${from}-${at}`)
  await writeBackup({
    dataDir: directory,
    destination,
    places,
    nowMs: Date.now,
    forEarlier: last === null,
    onVerified: (seq) => onProgress({ step: 'backup', done: seq, total: events }),
  })
  for (const { path } of backupsIn(directory).slice(0, -KEPT)) rmSync(path, { recursive: true })
  notice('made a backup before the upgrade', { backup: destination, events })
}

function requireRoom(directory: string, { database }: StatePlaces): void {
  const lacking = lackingMegabytes(directory, database, 1)
  if (lacking <= 0) return
  throw new UpgradeRefused(
    `This build upgrades the data, and there is no room for the backup that it makes first. Free ${lacking} MB ` +
      `on the disk of ${directory}, or start once with UPGRADE_WITHOUT_BACKUP=1 after a backup of your own.`,
  )
}

const INCOMPLETE = { events: 0, createdAt: '' }

/** The backups of upgrades, oldest first. */
function backupsIn(directory: string) {
  const folder = backupsOf(directory)
  if (!existsSync(folder)) return []
  const found = readdirSync(folder).map((name) => {
    const path = join(folder, name)
    const file = join(path, MANIFEST)
    const { events, createdAt } = name.startsWith('.') ? INCOMPLETE : (manifestIn(file) ?? INCOMPLETE)
    return { path, events, createdAt }
  })
  return found.toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1))
}

/** Undefined if it is missing or damaged. */
function manifestIn(file: string) {
  try {
    return manifestSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch {
    return undefined
  }
}

/** Removes the backups of upgrades that hold words which were erased later. */
export function removeBackupsBefore(directory: string, lastErasure: number): void {
  for (const { path, events } of backupsIn(directory))
    if (events < lastErasure) rmSync(path, { recursive: true, force: true })
}
