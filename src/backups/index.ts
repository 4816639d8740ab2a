import pLimit from 'p-limit'
import { createBackupQueries } from '../../projections/backups.ts'
import { createOwnerQueries } from '../../projections/owner.ts'
import { msg } from '../language/msg.ts'
import type { Log } from '../lib/log.ts'
import { resultWithin } from '../lib/waits.ts'
import type { Settings } from '../settings/settings.ts'
import type { Storage } from '../storage/storage.ts'
import { createBackups } from './backups.ts'
import { createDownloads } from './downloads.ts'
import { backupsIn } from './files.ts'
import { type RunBackupJob, runBackupJob } from './job.ts'
import { type Keep, lastExpiry, type Schedule } from './retention.ts'
import { createBackupState } from './state.ts'

type Rule = { readonly keep: Keep; readonly schedule: Schedule }
export type BackupSettings = Rule &
  (
    | { readonly state: 'on'; readonly directory: string; readonly passphrase: string }
    /** `isLocked`: there is a passphrase, but it cannot be read. */
    | { readonly state: 'off'; readonly directory: string | null; readonly isLocked: boolean }
  )
export type Backups = ReturnType<typeof buildBackups>

/** A disk that hangs must not hold up the answer. */
const LOOK_MS = 2_000

/**
 * Wires backups: the reactor that makes, removes, copies and tests them, what clients see of them, and what they
 * download.
 */
export function buildBackups(options: {
  readonly storage: Storage
  readonly settings: Settings
  readonly directory: string
  readonly config: {
    readonly backupCommand: string | null
    readonly backupWorkFactor: number
    readonly copilotEnvironment: Record<string, string>
  }
  readonly isHalted: () => boolean
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: Log
  readonly onFault: (error: unknown) => void
}) {
  const { storage, nowMs, config, log } = options
  const queries = createBackupQueries(storage.views)
  const settings = () => settingsOf(options.settings)
  const { outboundHeld } = createOwnerQueries(storage.views)
  const state = createBackupState({
    queries,
    settings,
    hasCommand: config.backupCommand !== null,
    isHeld: () => outboundHeld() !== undefined,
    nowMs,
  })
  const inTurn = pLimit(1)
  const onJobError = (text: string) =>
    log.warn({ stderr: text.slice(-2_000) }, 'a backup job reported an error')
  const runJob: RunBackupJob = (job, signal) =>
    inTurn(() => {
      signal.throwIfAborted()
      return runBackupJob(job, config.backupWorkFactor, signal, onJobError)
    })
  const dataDir = options.directory
  const timezone = () => options.settings.get('TIMEZONE')
  const downloads = createDownloads({ ...options, runJob, dataDir, timezone })
  const backups = createBackups({
    ...options,
    runJob,
    queries,
    state,
    settings,
    dataDir,
    command: config.backupCommand,
    environment: config.copilotEnvironment,
  })
  const unsubscribe = options.settings.subscribe(backups.wake)

  /** The names of the files that are there; null if the disk does not answer. */
  async function present(): Promise<ReadonlySet<string> | null> {
    const { directory } = settings()
    if (directory === null) return new Set()
    const looking = backupsIn(directory).catch(() => null)
    return resultWithin(LOOK_MS, looking)
  }

  return {
    downloads,
    /** The passphrase of backups; null if none is set. */
    passphrase: () => options.settings.get('BACKUP_PASSPHRASE'),
    start(): void {
      backups.start()
      downloads.start()
    },
    async close(): Promise<void> {
      unsubscribe()
      downloads.close()
      await backups.close()
    },
    health: state.health,
    /** Asks for a backup now. False if backups are off. */
    async request(): Promise<boolean> {
      if (settings().state === 'off') return false
      if (!state.isRequested())
        await storage.append([{ type: 'backup.requested', actor: 'owner', channel: 'system', facts: {} }])
      return true
    },
    /**
     * Counts the backups that are missing from the directory as removed. False if even the newest is missing, as on a
     * disk that is not connected.
     */
    async forgetMissing(): Promise<boolean> {
      const files = await present()
      const newest = queries.newest(nowMs())
      if (newest === undefined || !files?.has(newest.name)) return false
      const names = queries.kept().flatMap(({ name }) => (files.has(name) ? [] : [name]))
      if (names.length > 0)
        await storage.append([
          { type: 'backup.removed', actor: 'owner', channel: 'system', facts: { names } },
        ])
      return true
    },
    async list() {
      const { state: onOrOff, directory } = settings()
      const files = await present()
      const kept = queries.kept().map(({ removedAt: _, ...row }) => ({
        ...row,
        present: files === null ? null : files.has(row.name),
      }))
      const newest = queries.newest(nowMs())?.name
      const last = kept.find(({ name }) => name === newest)
      const isOn = onOrOff === 'on'
      const missing =
        isOn && last?.present === false ? [msg`The newest backup is missing from the backup directory.`] : []
      const unread = isOn && files === null ? [msg`The backup directory cannot be read.`] : []
      const { doneAt, failedAt, reason, name } = queries.step('test')
      const testedAt = reason === null ? doneAt : failedAt
      return {
        state: onOrOff,
        directory,
        running: backups.making() !== null,
        nextAt: isOn ? state.nextAt() : null,
        last: last ?? null,
        lastTest: testedAt === null ? null : { at: testedAt, name: name ?? '', ok: reason === null, reason },
        lastCopyAt: queries.step('copy').doneAt,
        problems: [...unread, ...missing, ...state.problems()],
        backups: kept,
      }
    },
    /**
     * The backups that hold events from `seq` on; null if there are none. The rule removes the last that is in the
     * directory at `until`: null if none is there, or backups are off. `missing` are not there, so the service cannot
     * remove them; absent if the directory does not answer.
     */
    async holding(seq: number) {
      const { state: onOrOff, keep, schedule } = settings()
      const kept = queries.kept()
      const making = backups.making()
      const now = new Date(nowMs()).toISOString()
      // The copy of one in the making may be older than the erasure.
      const all = making === null ? kept : [{ name: making, createdAt: now, events: seq }, ...kept]
      const holders = all.filter(({ events }) => events >= seq)
      if (holders.length === 0) return null
      const files = await present()
      const isHere = ({ name }: { readonly name: string }) => name === making || files?.has(name) === true
      const names = new Set(holders.filter(isHere).map(({ name }) => name))
      const until =
        onOrOff === 'off' || names.size === 0
          ? null
          : lastExpiry(names, all.filter(isHere), { keep, schedule, nowMs: nowMs() })
      const missing = files === null ? 0 : holders.length - names.size
      return { count: holders.length, until, ...(missing > 0 && { missing }) }
    },
  }
}

function settingsOf({ get, isLocked }: Settings): BackupSettings {
  const keep = {
    daily: get('BACKUP_KEEP_DAILY'),
    weekly: get('BACKUP_KEEP_WEEKLY'),
    monthly: get('BACKUP_KEEP_MONTHLY'),
  }
  const schedule = { hour: get('BACKUP_HOUR'), timezone: get('TIMEZONE') }
  const [directory, passphrase] = [get('BACKUP_DIRECTORY'), get('BACKUP_PASSPHRASE')]
  if (directory === null || passphrase === null)
    return { state: 'off', directory, isLocked: isLocked('BACKUP_PASSPHRASE'), keep, schedule }
  return { state: 'on', directory, passphrase, keep, schedule }
}
