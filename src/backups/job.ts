import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { languages } from '../language/languages.ts'
import { english } from '../language/message.ts'

const place = {
  dataDir: z.string(),
  directory: z.string(),
  /** As `backupName` makes it. */
  name: z.string(),
}
const sealed = { ...place, passphrase: z.string() }

/** The request to the child process, as a line of JSON on its standard input. */
export const backupJobSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('make'),
    ...sealed,
    /** Whether to create the directory. One that vanished is a disk that is not connected. */
    isNewDirectory: z.boolean(),
  }),
  /** Restores a backup into a temporary directory. */
  z.strictObject({ kind: z.literal('test'), ...sealed }),
  /** Makes a backup for the browser. */
  z.strictObject({ kind: z.literal('download'), ...sealed }),
  /** Exports everything in open formats. */
  z.strictObject({
    kind: z.literal('export'),
    ...place,
    /** Of the times in readable files. */
    timezone: z.string(),
    /** Of the words around what was said. */
    language: z.enum(languages),
  }),
])

export type BackupJob = z.output<typeof backupJobSchema>

const resultSchema = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('done'),
    ledgerId: z.string(),
    bytes: z.number(),
    digest: z.string(),
    events: z.number(),
    headHash: z.string(),
  }),
  /** A sentence without paths. */
  z.strictObject({ status: z.literal('failed'), reason: z.string() }),
])
export type BackupResult = z.output<typeof resultSchema>

const PROGRAM = fileURLToPath(new URL('../../scripts/lib/backup-job.ts', import.meta.url))
const ENDED: BackupResult = { status: 'failed', reason: english`The program that makes backups was ended.` }

export type RunBackupJob = (job: BackupJob, signal: AbortSignal) => Promise<BackupResult>

/** Where a job unpacks and copies, for as long as it runs; `lock.sqlite` beside it admits one job at a time. */
export const scratchDirectory = (dataDir: string): string => join(dataDir, '.backup')

/** Files for the browser, until they are downloaded. */
export const downloadsDirectory = (dataDir: string): string => join(scratchDirectory(dataDir), 'downloads')

/** Removes what an ended job left behind, which is not encrypted. */
export function removeScratch(dataDir: string): void {
  rmSync(join(scratchDirectory(dataDir), 'work'), { recursive: true, force: true })
}

/**
 * Runs a job in a child process, which ends with this process or with the signal. `workFactor` is log2 of scrypt's
 * cost parameter N. `onError` receives what the child writes to standard error. Throws only if the signal aborts.
 */
export async function runBackupJob(
  job: BackupJob,
  workFactor: number,
  signal: AbortSignal,
  onError: (text: string) => void,
): Promise<BackupResult> {
  const cache = getCompileCacheDir()
  // As in `npm start`: V8's memory protection keys end a process now and then.
  const child = spawn(process.execPath, ['--no-memory-protection-keys', PROGRAM, String(workFactor)], {
    // Nothing else of the environment, which may hold secrets.
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  })
  const failed = new Promise<never>((_resolve, reject) => child.once('error', reject))
  // The input stays open: the child ends when this process does.
  child.stdin.on('error', () => undefined).write(`${JSON.stringify(job)}\n`)
  try {
    const [out, errors] = await Promise.race([Promise.all([text(child.stdout), text(child.stderr)]), failed])
    if (errors !== '') onError(errors)
    if (out === '') onError(`ended with ${child.exitCode ?? child.signalCode}`)
    return out === '' ? ENDED : resultSchema.parse(JSON.parse(out))
  } finally {
    if (signal.aborted) removeScratch(job.dataDir)
  }
}
