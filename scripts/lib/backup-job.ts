/** The child process of `src/backups/job.ts`: makes a backup, or restores one to test it. */
import { mkdirSync, rmSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { diskCauseOf } from '../../ledger/causes.ts'
import { LedgerLocked } from '../../ledger/errors.ts'
import { makeDirectory } from '../../ledger/files.ts'
import { type DirectoryLock, lockDirectory } from '../../ledger/lock.ts'
import { partialsIn } from '../../src/backups/files.ts'
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

/** What is wrong with the backup directory, by the cause. */
const TARGET = {
  full: 'The disk of the backup directory is full.',
  read_only: 'The backup directory is read-only.',
  forbidden: 'The account of the service may not write to the backup directory.',
  locked: 'The backup directory is in use by another program.',
  damaged: 'The disk of the backup directory is damaged.',
  failing: 'The disk of the backup directory fails, or is not connected.',
}

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
  const { dataDir, directory, name, passphrase, createdAtMs } = job
  // Checked again, because the environment may set it and a link may have changed.
  if (!isOutsideService(directory, dataDir))
    throw new Refused('The backup directory must be outside the data directory and the program.')
  await atTarget(() => mkdirSync(directory, { recursive: true, mode: 0o700 }))
  await atTarget(removePartials)
  const copy = join(work, 'copy')
  const { ledgerId, events, headHash } = await makeBackup(dataDir, copy, () => createdAtMs)
  const sealed = await atTarget(() => sealBackup(copy, join(directory, name), passphrase))
  return { status: 'done', ledgerId, events, headHash, ...sealed }
}

/** What a killed job left. */
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

/** Says of an error that it is the backup directory that cannot be used. */
async function atTarget<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error
    const cause = diskCauseOf(error)
    throw new Refused(
      cause === null ? `The backup directory cannot be used (${error.code}).` : TARGET[cause],
      {
        cause: error,
      },
    )
  }
}

function sentenceOf(error: unknown): string {
  const [line = ''] = describe(error, job.dataDir).split('\n', 1)
  return line
    .replaceAll(job.directory, 'the backup directory')
    .replaceAll(job.dataDir, 'DATA_DIR')
    .slice(0, 500)
}
