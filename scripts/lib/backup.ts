import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import * as z from 'zod'
import { findDamage } from '../../ledger/damage.ts'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { examineLedger } from '../../ledger/examine.ts'
import { checkHeader, ledgerFile, openLedgerReadOnly, syncDirectory } from '../../ledger/files.ts'
import { settingsFile } from '../../src/settings/store.ts'
import { adaptationFilePattern, copyAdaptationFiles } from './adaptation-files.ts'
import { Refused, undoAtExit } from './command.ts'
import { syncFile } from './staging.ts'

const MANIFEST = 'backup.json'

const manifestSchema = z.strictObject({
  format: z.literal('delegate-backup'),
  version: z.literal(1),
  createdAt: z.iso.datetime(),
  ledgerId: z.string().min(1),
  events: z.int().min(0),
  headHash: z.string(),
  /** The owner's markdown files; a backup from before they were part of one has none. */
  adaptations: z
    .array(z.strictObject({ file: z.string().regex(adaptationFilePattern), digest: z.string() }))
    .default([]),
})

export type Manifest = z.output<typeof manifestSchema>

/** All pages in one step. */
const ALL_PAGES = 0x7fffffff

/**
 * Copies one state of a database that others may be writing: the open read transaction keeps the copy from starting
 * over with each of their commits. The copy is a single file, readable where nothing can be written.
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
  try {
    copy.pragma('journal_mode = DELETE')
  } finally {
    copy.close()
  }
  syncFile(file)
}

/** Copies a settings database and checks the copy; false where there is none. */
export async function copySettings(fromDirectory: string, toDirectory: string): Promise<boolean> {
  if (!existsSync(settingsFile(fromDirectory))) return false
  const source = new Database(settingsFile(fromDirectory), { readonly: true, fileMustExist: true })
  try {
    await copyDatabase(source, settingsFile(toDirectory))
  } finally {
    source.close()
  }
  const copy = new Database(settingsFile(toDirectory), { readonly: true })
  try {
    const damage = findDamage(copy)
    if (damage !== null) throw new LedgerDamaged(`the copy of settings.sqlite is damaged: ${damage}`)
  } finally {
    copy.close()
  }
  return true
}

/** Copies a ledger, opens the copy and walks it. Returns the head that it reached. Throws LedgerDamaged. */
export async function copyLedger(fromDirectory: string, toDirectory: string) {
  const source = openLedgerReadOnly(fromDirectory)
  try {
    await copyDatabase(source, ledgerFile(toDirectory))
  } finally {
    source.close()
  }
  const copy = openLedgerReadOnly(toDirectory)
  try {
    return examineLedger(copy, ledgerFile(toDirectory))
  } finally {
    copy.close()
  }
}

/**
 * Makes a backup of a data directory, whether or not the service runs there: ledger, settings and adaptation files, neither
 * the key of the secrets nor the views. It appears under its name once it is whole and verified. Throws Refused where the
 * destination holds anything, LedgerDamaged where the copy is not sound.
 */
export async function makeBackup(
  dataDir: string,
  destination: string,
  nowMs: () => number,
): Promise<Manifest> {
  if (existsSync(destination) && readdirSync(destination).length > 0)
    throw new Refused(`${destination} is not empty. A backup overwrites nothing.`)
  mkdirSync(dirname(destination), { recursive: true, mode: 0o700 })
  const partial = join(dirname(destination), `.${basename(destination)}.partial-${process.pid}`)
  const discard = () => rmSync(partial, { recursive: true, force: true })
  const keep = undoAtExit(discard)
  mkdirSync(partial, { mode: 0o700 })
  try {
    // The ledger first: settings that are newer than it hold what an installation in it needs, never less.
    const head = await copyLedger(dataDir, partial)
    await copySettings(dataDir, partial)
    const adaptations = await copyAdaptationFiles(dataDir, partial)
    const manifest: Manifest = {
      format: 'delegate-backup',
      version: 1,
      createdAt: new Date(nowMs()).toISOString(),
      ledgerId: head.ledgerId,
      events: head.seq,
      headHash: head.hash,
      adaptations: [...adaptations],
    }
    writeFileSync(join(partial, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { flush: true })
    syncDirectory(partial)
    renameSync(partial, destination)
    syncDirectory(dirname(destination))
    return manifest
  } finally {
    discard()
    keep()
  }
}

/** Reads what a backup says of itself. Throws Refused where it is none. */
export function readManifest(directory: string): Manifest {
  const file = join(directory, MANIFEST)
  if (!existsSync(file)) throw new Refused(`There is no backup in ${directory}: it has no ${MANIFEST}.`)
  try {
    checkHeader(ledgerFile(directory))
    return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause
    throw new Refused(`${file} is not that of a backup which this build can read.`, { cause })
  }
}
