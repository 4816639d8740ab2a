import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import * as z from 'zod'
import { closing } from '../../ledger/closing.ts'
import { findDamage } from '../../ledger/damage.ts'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { examineLedger } from '../../ledger/examine.ts'
import { checkHeader, ledgerFile, openLedgerReadOnly, syncDirectory } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import type { Witness } from '../../ledger/witness.ts'
import { adaptationFilePattern } from '../../src/adaptations/files.ts'
import { settingsFile } from '../../src/settings/store.ts'
import { copyAdaptationFiles } from './adaptation-files.ts'
import { Refused, undoAtExit } from './command.ts'
import { readableDirectory } from './readable.ts'
import { syncFile } from './staging.ts'
import { readWitnesses, requireWitnessed } from './witnesses.ts'

export const MANIFEST = 'backup.json'

const manifestSchema = z.strictObject({
  format: z.literal('delegate-backup'),
  version: z.literal(1),
  createdAt: z.iso.datetime(),
  ledgerId: z.string().min(1),
  events: z.int().min(0),
  headHash: z.string(),
  /** SHA-256 of settings.sqlite, in hexadecimal; null if there was none, absent in older backups. */
  settings: z.string().nullish(),
  /** The owner's markdown files; older backups have none. */
  adaptations: z
    .array(z.strictObject({ file: z.string().regex(adaptationFilePattern), digest: z.string() }))
    .default([]),
})

export type Manifest = z.output<typeof manifestSchema>

/** Copies all pages in one step. */
const ALL_PAGES = 0x7fffffff

/**
 * Copies one state of a database that others may be writing. The open read transaction keeps their commits
 * from restarting the copy. The copy is a single file, which can be read on a read-only disk.
 */
async function copyDatabase(source: Database.Database, file: string): Promise<void> {
  source.exec('BEGIN')
  try {
    source.prepare('SELECT count(*) FROM sqlite_schema').get()
    await source.backup(file, { progress: () => ALL_PAGES })
  } finally {
    source.exec('ROLLBACK')
  }
  const copy = new Database(file)
  copy.pragma('journal_mode = DELETE')
  copy.close()
  syncFile(file)
}

/** Copies a settings database and checks the copy; false if there is none. */
export async function copySettings(fromDirectory: string, toDirectory: string): Promise<boolean> {
  if (!existsSync(settingsFile(fromDirectory))) return false
  using source = closing(new Database(settingsFile(fromDirectory), { readonly: true, fileMustExist: true }))
  await copyDatabase(source, settingsFile(toDirectory))
  using copy = closing(new Database(settingsFile(toDirectory), { readonly: true }))
  const damage = findDamage(copy)
  if (damage !== null) throw new LedgerDamaged(`the copy of settings.sqlite is damaged: ${damage}`)
  return true
}

/** Throws Refused if the settings of a backup are not those that were backed up. */
export function checkSettings(directory: string, { settings }: Manifest): void {
  if (settings === undefined) return
  const file = settingsFile(directory)
  const found = existsSync(file) ? digestOf(file) : null
  if (found === settings) return
  throw new Refused(
    found === null
      ? 'The backup lacks settings.sqlite.'
      : 'settings.sqlite is not the file that was backed up. Use another backup.',
  )
}

function digestOf(file: string): string {
  return hash('sha256', readFileSync(file))
}

/** Copies a ledger and verifies the copy. Returns its head. Throws LedgerDamaged. */
export async function copyLedger(
  fromDirectory: string,
  toDirectory: string,
  witnesses: readonly Witness[] = [],
) {
  using source = closing(openLedgerReadOnly(fromDirectory))
  await copyDatabase(source, ledgerFile(toDirectory))
  using copy = closing(openLedgerReadOnly(toDirectory))
  const head = examineLedger(copy, ledgerFile(toDirectory))
  requireWitnessed(createReader(copy), witnesses)
  return head
}

/**
 * Backs up a data directory, even while the service runs: ledger, settings and adaptation files, without the
 * key of the secrets and the views. The backup gets its name once it is complete and verified. Throws Refused
 * if the destination is not empty, and LedgerDamaged if the copy is damaged.
 */
export async function makeBackup(
  dataDir: string,
  destination: string,
  nowMs: () => number,
): Promise<Manifest> {
  if (existsSync(destination) && readdirSync(destination).length > 0)
    throw new Refused(`${destination} is not empty. A backup needs an empty directory.`)
  mkdirSync(dirname(destination), { recursive: true, mode: 0o700 })
  const partial = join(dirname(destination), `.${basename(destination)}.partial-${process.pid}`)
  const discard = () => rmSync(partial, { recursive: true, force: true })
  undoAtExit(discard)
  mkdirSync(partial, { mode: 0o700 })
  try {
    // The ledger first: newer settings have all that an installation in it needs, older ones might not.
    const directory = readableDirectory(dataDir)
    const witnesses = readWitnesses(directory)
    const head = await copyLedger(directory, partial, witnesses)
    const hasSettings = await copySettings(directory, partial)
    const adaptations = await copyAdaptationFiles(dataDir, partial)
    const manifest: Manifest = {
      format: 'delegate-backup',
      version: 1,
      createdAt: new Date(nowMs()).toISOString(),
      ledgerId: head.ledgerId,
      events: head.seq,
      headHash: head.hash,
      settings: hasSettings ? digestOf(settingsFile(partial)) : null,
      adaptations: [...adaptations],
    }
    writeFileSync(join(partial, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { flush: true })
    syncDirectory(partial)
    renameSync(partial, destination)
    syncDirectory(dirname(destination))
    return manifest
  } finally {
    discard()
  }
}

/** Reads the manifest of a backup. Throws Refused if it is not a backup. */
export function readManifest(directory: string): Manifest {
  const file = join(directory, MANIFEST)
  if (!existsSync(file)) throw new Refused(`There is no backup in ${directory}: it has no ${MANIFEST}.`)
  if (!existsSync(ledgerFile(directory))) throw new Refused(`The backup in ${directory} lacks ledger.sqlite.`)
  try {
    checkHeader(ledgerFile(directory))
    return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause
    throw new Refused(`${file} does not describe a backup that this build can read.`, { cause })
  }
}
