/** The child process of `src/backups/job.ts`: makes a backup, or restores one to test it. */
import { mkdirSync, rmSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
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
import { isOutsideService } from '../../src/settings/outside-data.ts'
import { makeBackup, readManifest } from './backup.ts'
import { describe, Refused, undoAtExit } from './command.ts'
import { restoreInto } from './restoring.ts'
import { openSealedBackup, sealBackup } from './sealed-backup.ts'

const LOCK_RETRY_MS = 1_000

process.umask(0o077)
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
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
  const { dataDir } = job
  const scratch = scratchDirectory(dataDir)
  makeDirectory(scratch)
  // A job of a service that was killed may still run for a moment.
  const lock = await lockWhenFree(scratch)
  undoAtExit(() => removeScratch(dataDir))
  try {
    removeScratch(dataDir)
    const work = join(scratch, 'work')
    mkdirSync(work)
    return await (job.kind === 'make' ? make(work) : restore(work))
  } catch (error) {
    return { status: 'failed', reason: sentenceOf(error) }
  } finally {
    removeScratch(dataDir)
    lock.release()
  }
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

async function make(work: string): Promise<BackupResult> {
  const { dataDir, directory, name, passphrase } = job
  // Checked again, because the environment may set it and a link may have changed.
  if (!isOutsideService(directory, dataDir))
    throw new Refused('The backup directory must be outside the data directory and the program.')
  await atTarget(() => mkdirSync(directory, { recursive: true, mode: 0o700 }))
  await atTarget(removePartials)
  const copy = join(work, 'copy')
  const createdAtMs = Date.parse(timeOfBackup(name) ?? '')
  const { ledgerId, events, headHash } = await makeBackup(dataDir, copy, () => createdAtMs)
  const sealed = await atTarget(() => sealBackup(copy, join(directory, name), passphrase))
  return { status: 'done', ledgerId, events, headHash, ...sealed }
}

/** Removes what a killed job left behind. */
async function removePartials(): Promise<void> {
  for (const name of await partialsIn(job.directory)) rmSync(join(job.directory, name))
}

async function restore(work: string): Promise<BackupResult> {
  const opened = join(work, 'opened')
  const restored = join(work, 'restored')
  const sealed = await openSealedBackup(join(job.directory, job.name), opened, job.passphrase)
  mkdirSync(restored)
  await restoreInto(opened, restored)
  const { ledgerId, events, headHash } = readManifest(opened)
  return { status: 'done', ledgerId, events, headHash, ...sealed }
}

/** Reports errors of the file system as faults of the backup directory. */
async function atTarget<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const fault = faultOfDirectory(cause)
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
