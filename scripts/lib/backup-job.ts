/** The child process of `src/backups/job.ts`: makes a backup, or restores one to test it. */
import { accessSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { LedgerLocked } from '../../ledger/errors.ts'
import { timeOfBackup } from '../../ledger/events/backup.ts'
import { makeDirectory } from '../../ledger/files.ts'
import { type DirectoryLock, lockDirectory } from '../../ledger/lock.ts'
import { faultOfDirectory, partialsIn } from '../../src/backups/files.ts'
import {
  type BackupJob,
  type BackupResult,
  backupJobSchema,
  removeScratch,
  scratchDirectory,
} from '../../src/backups/job.ts'
import { english } from '../../src/language/message.ts'
import { inLanguage } from '../../src/language/msg.ts'
import { isOutsideService } from '../../src/settings/outside-data.ts'
import { SETTINGS_FILE } from '../../src/settings/store.ts'
import { lackingMegabytes } from '../../src/storage/room.ts'
import { makeBackup, readManifest } from './backup.ts'
import { describe, Refused, undoAtExit } from './command.ts'
import { writeExport } from './export.ts'
import { restoreInto } from './restoring.ts'
import { openSealedBackup, sealBackup } from './sealed-backup.ts'

const LOCK_RETRY_MS = 1_000

process.umask(0o077)
const job = await readJob()
process.stdout.write(JSON.stringify(await run()), () => process.exit())

/** Reads the first line. The end of the input is the end of the service. */
function readJob(): Promise<BackupJob> {
  return new Promise((resolve) => {
    let line = ''
    process.stdin
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        line += chunk
        if (line.endsWith('\n')) resolve(backupJobSchema.parse(JSON.parse(line)))
      })
      .on('end', () => process.exit(1))
  })
}

async function run(): Promise<BackupResult> {
  try {
    return await runAlone()
  } catch (error) {
    return { status: 'failed', reason: sentenceOf(error) }
  }
}

/** Waits for the lock: a job of a service that was killed may still run for a moment. */
async function runAlone(): Promise<BackupResult> {
  const { dataDir } = job
  const scratch = scratchDirectory(dataDir)
  makeDirectory(scratch)
  const lock = await lockWhenFree(scratch)
  undoAtExit(() => removeScratch(dataDir))
  try {
    removeScratch(dataDir)
    const work = join(scratch, 'work')
    mkdirSync(work)
    switch (job.kind) {
      case 'make':
        return await make(job, work)
      case 'test':
        return await restore(job, work)
      case 'download':
        prepareDownload(2)
        return await seal(job, work)
      case 'export':
        prepareDownload(1)
        return { status: 'done', ...(await exportAll(job)) }
    }
  } finally {
    removeScratch(dataDir)
    lock.release()
  }
}

/** `copies`: how often the job writes what the ledger holds. An export is compressed, but holds its words twice. */
function prepareDownload(copies: number): void {
  const lacking = lackingMegabytes(job.dataDir, SETTINGS_FILE, copies)
  if (lacking > 0)
    throw new Refused(english`The disk is full. Free ${lacking} MB, but do not delete any file in DATA_DIR.`)
  mkdirSync(job.directory, { recursive: true, mode: 0o700 })
}

async function lockWhenFree(directory: string): Promise<DirectoryLock> {
  for (;;) {
    try {
      return lockDirectory(directory)
    } catch (error) {
      if (!(error instanceof LedgerLocked)) throw error
      await pause(LOCK_RETRY_MS)
    }
  }
}

function exportAll(job: Extract<BackupJob, { readonly kind: 'export' }>) {
  return inLanguage(job.language, () => writeExport({ ...job, file: join(job.directory, job.name) }))
}

type SealedJob = Extract<BackupJob, { readonly passphrase: string }>
type MakeJob = Extract<BackupJob, { readonly kind: 'make' }>

async function make(job: MakeJob, work: string): Promise<BackupResult> {
  const { dataDir, directory, isNewDirectory } = job
  // Checked again, because the environment may set it and a link may have changed.
  if (!isOutsideService(directory, dataDir))
    throw new Refused('The backup directory must be outside the data directory and the program.')
  await atTarget(() =>
    isNewDirectory ? mkdirSync(directory, { recursive: true, mode: 0o700 }) : accessSync(directory),
  )
  await atTarget(removePartials)
  return seal(job, work)
}

async function seal(
  { dataDir, directory, name, passphrase }: SealedJob,
  work: string,
): Promise<BackupResult> {
  const copy = join(work, 'copy')
  const createdAtMs = Date.parse(timeOfBackup(name) ?? '')
  const { ledgerId, events, headHash } = await makeBackup(dataDir, copy, () => createdAtMs)
  const sealed = await atTarget(() =>
    sealBackup(copy, join(directory, name), passphrase, Number(process.argv[2])),
  )
  return { status: 'done', ledgerId, events, headHash, ...sealed }
}

/** Removes what a killed job left behind. */
async function removePartials(): Promise<void> {
  for (const name of await partialsIn(job.directory)) rmSync(join(job.directory, name))
}

async function restore(job: SealedJob, work: string): Promise<BackupResult> {
  const opened = join(work, 'opened')
  const restored = join(work, 'restored')
  const sealed = await openSealedBackup(join(job.directory, job.name), opened, job.passphrase)
  mkdirSync(restored)
  await restoreInto(opened, restored)
  const { ledgerId, events, headHash } = readManifest(opened)
  return { status: 'done', ledgerId, events, headHash, ...sealed }
}

/** Reports errors of the file system as faults of the backup directory, which a download does not use. */
async function atTarget<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const fault = job.kind === 'download' ? null : faultOfDirectory(cause)
    throw fault === null ? cause : new Refused(fault, { cause })
  }
}

function sentenceOf(error: unknown): string {
  const [line = ''] = describe(error, job.dataDir).split('\n', 1)
  return line
    .replaceAll(job.directory, 'the backup directory')
    .replaceAll(job.dataDir, 'DATA_DIR')
    .slice(0, 500)
}
