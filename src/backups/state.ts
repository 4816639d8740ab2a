import type { BackupQueries, BackupStep, BackupStepRow } from '../../projections/backups.ts'
import { msg, translatedSentence } from '../language/msg.ts'
import { DAY_MS } from '../lib/time.ts'
import { leftOfWait } from '../lib/waits.ts'
import type { BackupSettings } from './index.ts'
import { lastDue, nextDue } from './retention.ts'

const HOUR_MS = 60 * 60_000
const OVERDUE_MS = 2 * DAY_MS
const TEST_EVERY_MS = 7 * DAY_MS

export type Step = Exclude<BackupStep, 'remove'>
export type Health = { readonly ok: boolean; readonly off?: true; readonly detail: string }

/** What is due, and what is wrong, from the views and the clock. */
export function createBackupState(options: {
  readonly queries: BackupQueries
  readonly settings: () => BackupSettings
  readonly hasCommand: boolean
  /** After a restore, until the owner releases outgoing work. The command could remove newer backups elsewhere. */
  readonly isHeld: () => boolean
  readonly nowMs: () => number
}) {
  const { queries, settings, nowMs } = options
  /** When backups were turned on at the latest, if the environment did it, which is no fact. */
  const startedAt = new Date(nowMs()).toISOString()

  /** The pause after failures in a row: an hour, twice as long after each further one, at most a day. */
  function pauseMs({ failedAt, failures }: BackupStepRow): number {
    if (failedAt === null || failures === 0) return 0
    const longestMs = Math.min(DAY_MS, HOUR_MS * 2 ** (failures - 1))
    return leftOfWait(Date.parse(failedAt) + longestMs, { nowMs: nowMs(), longestMs })
  }

  /** Whether no attempt has met the last request yet. A backup that is older than the request may be adopted after it. */
  function isRequested(): boolean {
    const { doneSeq, failedSeq } = queries.step('make')
    const madeSeq = Math.min(doneSeq, Math.max(0, ...queries.all().map(({ events }) => events)))
    return queries.step('request').doneSeq > Math.max(madeSeq, failedSeq)
  }

  function makeInMs(now = nowMs()): number {
    const { schedule } = settings()
    if (isRequested()) return 0
    const make = queries.step('make')
    const last = queries.newest(now)
    const isMade = last !== undefined && Date.parse(last.createdAt) >= lastDue(now, schedule).getTime()
    return Math.max(pauseMs(make), isMade ? nextDue(now, schedule).getTime() - now : 0)
  }

  /** The last change of the directory. */
  const changedSeq = () => Math.max(queries.step('make').doneSeq, queries.step('remove').doneSeq)

  /** Whether the directory has changed since the command last succeeded. */
  const isCopyBehind = () => options.hasCommand && changedSeq() > queries.step('copy').doneSeq

  /** Milliseconds until the command runs; null if the copy elsewhere is up to date, or must wait for the owner. */
  function copyInMs(): number | null {
    if (!isCopyBehind() || options.isHeld()) return null
    const copy = queries.step('copy')
    // Each change of the directory is a new attempt, so “Back up now” repeats the command at once.
    return changedSeq() > copy.failedSeq ? 0 : pauseMs(copy)
  }

  function testInMs(): number | null {
    if (queries.newest(nowMs()) === undefined) return null
    const test = queries.step('test')
    if (test.failures > 0)
      return leftOfWait(Date.parse(test.failedAt ?? '') + DAY_MS, { nowMs: nowMs(), longestMs: DAY_MS })
    const until = test.doneAt === null ? 0 : Date.parse(test.doneAt) + TEST_EVERY_MS
    return leftOfWait(until, { nowMs: nowMs(), longestMs: TEST_EVERY_MS })
  }

  /** Sentences about what needs the owner's attention. */
  function problems(): string[] {
    const now = settings()
    if (now.state === 'off') {
      if (now.directory === null) return []
      return now.isLocked
        ? [
            msg`Backups are off, because secret.key is missing, and with it their passphrase. Put it back and restart Delegate.`,
          ]
        : [msg`Backups are off, because they have no passphrase. Enter one in the settings.`]
    }
    const last = queries.newest(nowMs())
    const [make, remove, copy, test] = (['make', 'remove', 'copy', 'test'] as const).map(queries.step)
    const sinceAt = last?.createdAt ?? queries.step('request').doneAt ?? startedAt
    const isOverdue = nowMs() - Date.parse(sinceAt) > OVERDUE_MS
    const overdue = last
      ? msg`The last backup is older than two days.`
      : msg`The first backup has been due for two days.`
    const isLatest = (remove?.failedSeq ?? 0) > (make?.doneSeq ?? 0)
    return [
      ...(isOverdue ? [overdue] : []),
      ...(make?.reason ? [msg`The last backup failed: ${translatedSentence(make.reason)}`] : []),
      // Each new backup is a new attempt, which may find nothing to remove.
      ...(isLatest && remove?.reason
        ? [msg`Old backups were not removed: ${translatedSentence(remove.reason)}`]
        : []),
      ...(isCopyBehind() && options.isHeld()
        ? [msg`The backups are not copied until you release outgoing work.`]
        : []),
      ...(options.hasCommand && copy?.reason
        ? [msg`The backups were not copied: ${translatedSentence(copy.reason)}`]
        : []),
      ...(test?.reason ? [msg`The last restore test failed: ${translatedSentence(test.reason)}`] : []),
    ]
  }

  return {
    isRequested,
    /** Milliseconds until each step is due, in order. Leaves out steps that only a fact can make due. */
    steps(): { readonly step: Step; readonly inMs: number; readonly after: string }[] {
      const inMs = { make: makeInMs(), copy: copyInMs(), test: testInMs() }
      return (['make', 'copy', 'test'] as const).flatMap((step) => {
        const { doneSeq, failedSeq } = queries.step(step)
        const due = inMs[step]
        return due === null ? [] : [{ step, inMs: due, after: `${doneSeq}:${failedSeq}` }]
      })
    },
    nextAt(): string {
      const now = nowMs()
      return new Date(now + makeInMs(now)).toISOString()
    },
    problems,
    health(): Health {
      const found = problems()
      if (found.length > 0) return { ok: false, detail: found.join(' ') }
      if (settings().state === 'off')
        return { ok: true, off: true, detail: msg`Off. Choose a directory and a passphrase in the settings.` }
      const last = queries.newest(nowMs())
      return {
        ok: true,
        detail: last ? msg`The last backup is from ${last.createdAt}.` : msg`The first backup is due.`,
      }
    },
  }
}

export type BackupState = ReturnType<typeof createBackupState>
