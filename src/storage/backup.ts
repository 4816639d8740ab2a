import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import * as z from 'zod'
import { closing } from '../../ledger/closing.ts'
import { findDamage } from '../../ledger/damage.ts'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { examineLedger } from '../../ledger/examine.ts'
import { ledgerFile, openLedgerReadOnly, syncDirectory, syncFile } from '../../ledger/files.ts'
import { requireWitnessed, type Witness } from '../../ledger/witness.ts'
import { markdownFileNames, markdownFilePattern, readRegularFile } from '../lib/markdown-files.ts'
import type { StatePlaces } from './postgres/options.ts'

export const MANIFEST = 'backup.json'

/** What a backup says of itself. */
export const manifestSchema = z.strictObject({
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
    .array(z.strictObject({ file: z.string().regex(markdownFilePattern), digest: z.string() }))
    .default([]),
})

export type Manifest = z.output<typeof manifestSchema>

/** A copied file, with its SHA-256 digest in hexadecimal. */
export type CopiedFile = { readonly file: string; readonly digest: string }

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

/** Copies a small database and checks the copy; false if there is none, or an empty one. */
export async function copySmall(name: string, fromDirectory: string, toDirectory: string): Promise<boolean> {
  const file = join(fromDirectory, name)
  if (!statSync(file, { throwIfNoEntry: false })?.size) return false
  using source = closing(new Database(file, { readonly: true, fileMustExist: true }))
  await copyDatabase(source, join(toDirectory, name))
  using copy = closing(new Database(join(toDirectory, name), { readonly: true }))
  const damage = findDamage(copy)
  if (damage !== null) throw new LedgerDamaged(`the copy of ${name} is damaged: ${damage}`)
  return true
}

export const digestOf = (file: string): string => hash('sha256', readFileSync(file))

/** Copies a ledger and verifies the copy, reporting each verified seq. Returns its head. Throws LedgerDamaged. */
export async function copyLedger(
  fromDirectory: string,
  toDirectory: string,
  witnesses: readonly Witness[] = [],
  onVerified?: (seq: number) => void,
) {
  using source = closing(openLedgerReadOnly(fromDirectory))
  await copyDatabase(source, ledgerFile(toDirectory))
  using copy = closing(openLedgerReadOnly(toDirectory))
  return examineLedger(copy, ledgerFile(toDirectory), {
    onProgress: onVerified,
    compare: (ledger) => requireWitnessed(ledger, witnesses),
  })
}

/**
 * Copies the owner's markdown files, sorted by name, including those that the service would skip. Leaves out
 * links, directories, other kinds of files, and files deleted meanwhile. Creates no directory if there is
 * nothing to copy.
 */
export async function copyMarkdown(
  name: string,
  fromDirectory: string,
  toDirectory: string,
): Promise<readonly CopiedFile[]> {
  const source = join(fromDirectory, name)
  const target = join(toDirectory, name)
  const copied: CopiedFile[] = []
  for (const file of markdownFileNames(source) ?? []) {
    const bytes = await readRegularFile(join(source, file))
    if (bytes === null) continue
    if (copied.length === 0) mkdirSync(target, { mode: 0o700 })
    writeFileSync(join(target, file), bytes, { flag: 'wx', mode: 0o600, flush: true })
    copied.push({ file, digest: hash('sha256', bytes) })
  }
  if (copied.length > 0) syncDirectory(target)
  return copied
}

export type BackupOptions = {
  readonly dataDir: string
  /** Must be absent or empty. */
  readonly destination: string
  readonly places: StatePlaces
  readonly nowMs: () => number
  /** Where to read the databases, if not in `dataDir`. */
  readonly databases?: string
  /** Where to read settings and adaptation files, if those of `dataDir` are not the newest. */
  readonly state?: string | undefined
  readonly witnesses?: readonly Witness[]
  /** For any build before version 0.2.0. */
  readonly forEarlier?: boolean
  readonly onVerified?: (seq: number) => void
  /** Receives what removes an unfinished copy, in case the process is ended. */
  readonly onBegun?: (discard: () => void) => void
}

/**
 * Backs up a data directory, even while the service runs: ledger, settings and adaptation files, without the
 * key of the secrets and the views. The backup gets its name once it is complete and verified. Throws
 * LedgerDamaged if the copy is damaged.
 */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const { dataDir, destination, places, databases = dataDir, state } = options
  mkdirSync(dirname(destination), { recursive: true, mode: 0o700 })
  const partial = join(dirname(destination), `.${basename(destination)}.partial-${process.pid}`)
  const discard = () => rmSync(partial, { recursive: true, force: true })
  options.onBegun?.(discard)
  mkdirSync(partial, { mode: 0o700 })
  try {
    // The ledger first: newer settings have all that an installation in it needs, older ones might not.
    const head = await copyLedger(databases, partial, options.witnesses, options.onVerified)
    const hasSettings = await copySmall(places.database, state ?? databases, partial)
    const adaptations = await copyMarkdown(places.directory, state ?? dataDir, partial)
    const manifest: Manifest = {
      format: 'delegate-backup',
      version: 1,
      createdAt: new Date(options.nowMs()).toISOString(),
      ledgerId: head.ledgerId,
      events: head.seq,
      headHash: head.hash,
      settings: hasSettings ? digestOf(join(partial, places.database)) : null,
      adaptations: [...adaptations],
    }
    const written = options.forEarlier ? inEarlierForm(manifest) : manifest
    writeFileSync(join(partial, MANIFEST), `${JSON.stringify(written, null, 2)}\n`, { flush: true })
    syncDirectory(partial)
    renameSync(partial, destination)
    syncDirectory(dirname(destination))
    return manifest
  } finally {
    discard()
  }
}

/** Early builds refuse a manifest with a member that they do not know. Without a digest, none is checked. */
function inEarlierForm({ settings: _, adaptations, ...manifest }: Manifest) {
  return adaptations.length > 0 ? { ...manifest, adaptations } : manifest
}
