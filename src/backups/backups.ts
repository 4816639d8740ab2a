import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { NewEvent } from '../../ledger/event.ts'
import { backupName } from '../../ledger/events/backup.ts'
import type { FactsOf } from '../../ledger/events/catalogue.ts'
import type { BackupQueries } from '../../projections/backups.ts'
import { english } from '../language/message.ts'
import type { Log } from '../lib/log.ts'
import { createReactor } from '../lib/reactor.ts'
import type { Storage } from '../storage/storage.ts'
import { runBackupCommand } from './command.ts'
import { backupsIn, faultOfDirectory } from './files.ts'
import type { BackupSettings } from './index.ts'
import { type BackupResult, type RunBackupJob, removeScratch } from './job.ts'
import { keptOf } from './retention.ts'
import type { BackupState, Step } from './state.ts'

type Work = { readonly step: Step | 'tidy'; readonly inMs: number; readonly after: string }
type On = Extract<BackupSettings, { state: 'on' }>

const SECOND_MS = 1000
/** How many missing backups a sentence names. */
const NAMED = 3
const BY_SERVICE = { actor: 'service', channel: 'system' } as const
const REQUESTED: NewEvent = { type: 'backup.requested', ...BY_SERVICE, facts: {} }

/**
 * Makes a backup when one is due, removes those that the rule no longer keeps, runs the operator's command unless kept
 * backups are missing, and tests the newest one every week, one after the other, in child processes.
 */
export function createBackups(options: {
  readonly storage: Storage
  readonly queries: BackupQueries
  readonly state: BackupState
  readonly settings: () => BackupSettings
  readonly dataDir: string
  /** Null if there is none. */
  readonly command: string | null
  readonly environment: Readonly<Record<string, string>>
  readonly runJob: RunBackupJob
  readonly isHalted: () => boolean
  readonly nowMs: () => number
  readonly log: Log
  readonly onFault: (error: unknown) => void
}) {
  const { queries, state, settings, dataDir, runJob, nowMs, log } = options
  const { append, onHeadMoved, ledger } = options.storage
  /** The directory is compared with the facts at the start, after each backup and when it changes. */
  let tidied: string | null = null
  let tidyings = 0
  let making: string | null = null
  /** Where the last backup was made. */
  let usedDirectory = queries.all().length > 0 ? settings().directory : null
  /** Backups of another ledger. To find that out, each was restored, which takes minutes if it is large. */
  const foreign = new Set<string>()

  const reactor = createReactor<Work>({
    onHeadMoved,
    areas: ['backup', 'delegation', 'outbound'],
    next: () => steps().find(({ inMs }) => inMs <= 0),
    stepOf: ({ step, after }) => `${step}:${after}`,
    run: ({ step }, signal) => {
      const now = settings()
      return now.state === 'off' ? Promise.resolve('held') : runs[step](now, signal)
    },
    dueInMs: () => steps().reduce<number | null>((least, { inMs }) => Math.min(inMs, least ?? inMs), null),
    onFault: options.onFault,
  })

  function steps(): Work[] {
    const { state: onOrOff, directory } = settings()
    if (onOrOff === 'off' || options.isHalted()) return []
    const tidy: Work[] = tidied === directory ? [] : [{ step: 'tidy', inMs: 0, after: String(tidyings) }]
    return [...tidy, ...state.steps()]
  }

  const runs = { make, tidy, copy, test }

  async function make(now: On, signal: AbortSignal): Promise<void> {
    const name = await freeName(now.directory, signal)
    making = name
    try {
      const made = await runJob(
        { kind: 'make', ...jobOf(now, name), isNewDirectory: now.directory !== usedDirectory },
        signal,
      )
      if (made.status === 'failed') await fail('make', made.reason)
      else {
        await append([madeFact(name, made), ...(isUnchanged(now) ? [] : [REQUESTED])])
        usedDirectory = now.directory
      }
      tidied = null
    } finally {
      making = null
    }
  }

  /** A name holds the second. If a backup was made in this one, waits for the next. */
  async function freeName(directory: string, signal: AbortSignal): Promise<string> {
    const taken = await backupsIn(directory).catch(() => null)
    while (taken?.has(backupName(nowMs()))) await setTimeout(SECOND_MS, undefined, { signal })
    return backupName(nowMs())
  }

  /** Otherwise the backup that was made meanwhile is elsewhere, or has another passphrase. */
  function isUnchanged({ directory, passphrase }: On): boolean {
    const now = settings()
    return now.state === 'on' && now.directory === directory && now.passphrase === passphrase
  }

  /**
   * Adopts files of this ledger without a fact: the service was killed in between, or the ledger was restored from an
   * older backup. Then removes what the rule no longer keeps, fact first.
   */
  async function tidy(now: On, signal: AbortSignal): Promise<void> {
    tidyings += 1
    try {
      const found = await backupsIn(now.directory)
      const known = new Map(queries.all().map((row) => [row.name, row]))
      for (const name of [...found].filter((each) => !known.has(each) && !foreign.has(each)).sort()) {
        const opened = await runJob({ kind: 'test', ...jobOf(now, name) }, signal)
        const isDone = opened.status === 'done'
        if (isDone && opened.ledgerId === ledger.id()) {
          await append([madeFact(name, opened)])
          continue
        }
        if (isDone) foreign.add(name)
        const reason = isDone ? english`It belongs to another ledger.` : opened.reason
        log.warn({ name, reason }, 'a file in the backup directory was not adopted')
      }
      const present = queries.kept().filter(({ name }) => found.has(name))
      const kept = keptOf(present, now.keep, now.schedule.timezone)
      const expired = present.flatMap(({ name }) => (kept.has(name) ? [] : [name]))
      const removed = [...found].filter((name) => known.get(name)?.removedAt)
      if (expired.length > 0)
        await append([{ type: 'backup.removed', ...BY_SERVICE, facts: { names: expired } }])
      for (const name of [...removed, ...expired]) await rm(join(now.directory, name), { force: true })
    } catch (error) {
      const fault = faultOfDirectory(error)
      if (fault === null) throw error
      await fail('remove', fault)
    }
    tidied = now.directory
  }

  async function copy({ directory }: On, signal: AbortSignal): Promise<void> {
    if (options.command === null) return
    const found = await backupsIn(directory).catch(() => null)
    const missing = queries.kept().flatMap(({ name }) => (found?.has(name) ? [] : [name]))
    if (missing.length > 0) return void (await fail('copy', wouldRemove(missing)))
    const newest = queries.newest(nowMs())?.name
    const environment = {
      ...options.environment,
      BACKUP_DIRECTORY: directory,
      BACKUP_FILE: newest === undefined ? '' : join(directory, newest),
    }
    const onError = (text: string) => log.warn({ stderr: text }, 'BACKUP_COMMAND failed')
    const failure = await runBackupCommand(options.command, environment, signal, { onError })
    if (failure === null) await append([{ type: 'backup.copied', ...BY_SERVICE, facts: {} }])
    else await fail('copy', failure)
  }

  async function test(now: On, signal: AbortSignal): Promise<void> {
    const newest = queries.newest(nowMs())
    if (newest === undefined) return
    const { name } = newest
    const isThere = (await backupsIn(now.directory).catch(() => null))?.has(name) === true
    const opened: BackupResult = isThere
      ? await runJob({ kind: 'test', ...jobOf(now, name) }, signal)
      : { status: 'failed', reason: english`The newest backup is missing from the backup directory.` }
    const reason = opened.status === 'failed' ? opened.reason : differenceOf(newest, opened)
    const tested = { type: 'backup.tested', ...BY_SERVICE } as const
    if (reason === null) await append([{ ...tested, facts: { name, ok: true } }])
    else await append([{ ...tested, facts: { name, ok: false, reason } }, failedFact('test', reason)])
  }

  const jobOf = ({ directory, passphrase }: On, name: string) => ({ dataDir, directory, name, passphrase })

  const fail = (step: FactsOf<'backup.failed'>['step'], reason: string) => append([failedFact(step, reason)])

  return {
    start(): void {
      removeScratch(dataDir)
      reactor.start()
    },
    wake: reactor.wake,
    /** Ends the step in progress. The next start repeats it. */
    close: () => reactor.close(0),
    /** The name of the backup in progress; null if there is none. */
    making: () => making,
  }
}

function madeFact(name: string, made: Extract<BackupResult, { status: 'done' }>): NewEvent {
  const { bytes, events, headHash, digest } = made
  const facts = { name, bytes, events, headHash, digest }
  return { type: 'backup.made', ...BY_SERVICE, key: `backup-made:${name}`, facts }
}

function failedFact(step: FactsOf<'backup.failed'>['step'], reason: string): NewEvent {
  return { type: 'backup.failed', ...BY_SERVICE, facts: { step, reason } }
}

/** A command like `rclone sync` would take the missing files for removed ones. */
function wouldRemove(missing: readonly string[]): string {
  const names = [...missing.slice(0, NAMED), ...(missing.length > NAMED ? ['…'] : [])].join(', ')
  return english`BACKUP_COMMAND did not run, because it could remove elsewhere what is missing from the backup directory: ${names}. Copy it back and choose “Back up now”, or forget it under Operations → Backups.`
}

/** How a restored backup differs from its fact; null if it does not. */
function differenceOf(
  made: Pick<FactsOf<'backup.made'>, 'digest' | 'events' | 'headHash'>,
  opened: Extract<BackupResult, { status: 'done' }>,
): string | null {
  if (made.digest !== opened.digest) return english`The newest backup is not the file that was made.`
  const isSame = made.events === opened.events && made.headHash === opened.headHash
  return isSame ? null : english`The newest backup does not end with the event that was backed up.`
}
